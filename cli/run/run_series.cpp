// SPDX-License-Identifier: Apache-2.0
#include "run/run_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/log.hpp"
#include "common/option_names.hpp"
#include "common/stopwatch.hpp"
#include "common/terminal.hpp"
#include "morton/error.hpp"
#include "morton/session.hpp"
#include "run/series_records.hpp"

namespace morton::cli {
namespace {

/// Refuses options that are for one answer, before anything is read.
void check_series(const RunArguments& options, const Ranking& ranking) {
  const auto refuse = [](const char* option) {
    throw UsageError(fmt::format("{} is for one answer, and -i names many files", option));
  };
  if (options.steps.count != 1) refuse("--steps");
  if (!options.steps.feeds.empty()) refuse("--feed");
  const std::string& path = options.output;
  const bool is_records = path.ends_with(".jsonl") || path.ends_with(".csv");
  if (options.picture.is_given) refuse("--picture, of -o FILE.png,");
  if (!path.empty() && !is_records) {
    throw UsageError(
        fmt::format("--output {}: answers of many files are written to .jsonl and .csv", path));
  }
  if (options.resumes && !path.ends_with(".jsonl")) {
    throw UsageError("--resume: goes on with the .jsonl file of -o");
  }
  const bool csv = path.ends_with(".csv") || (path.empty() && options.format == Format::csv);
  if (csv && ranking.top_k == 0) {
    throw UsageError("csv: a record has one class; give --top-k or --labels, or take jsonl");
  }
}

Format format_of(const RunArguments& options) {
  if (options.output.ends_with(".csv")) return Format::csv;
  if (options.output.ends_with(".jsonl")) return Format::jsonl;
  // A list that ends only with the last file is nothing to read on the way.
  return options.format == Format::json ? Format::jsonl : options.format;
}

/// How many files one run takes.
std::int64_t files_of_a_run(const PortInfo& input, std::int64_t batch) {
  constexpr std::size_t kPictures = 4;
  if (input.shape.empty() || batch_dimension(input) != 0) return 1;
  if (input.shape.front() < 0) return std::max<std::int64_t>(batch, 1);
  return input.shape.size() == kPictures ? input.shape.front() : 1;
}

/// Of the files the first that can be read; it settles shapes. Nothing where none can.
std::optional<Source> first_readable(const FileSeries& series, const PortInfo& input,
                                     const PictureOptions& pictures) {
  for (const std::string& file : series.files) {
    try {
      const PictureOptions own = is_image(file) ? pictures : PictureOptions{};
      return read_sources({input.name + ":" + file}, {input}, own).at(input.name).front();
    } catch (const ModelError&) {
      continue;  // it is told in its turn
    } catch (const UnsupportedError&) {
      continue;
    }
  }
  return std::nullopt;
}

Tensor row_of(const NamedTensor& output, std::int64_t row, std::int64_t rows) {
  if (rows == 1) return output.tensor;
  Shape shape = output.tensor.shape();
  if (shape.empty() || shape.front() != rows) {
    throw UsageError(fmt::format("output '{}' is {}, not {} answers in front; give --batch 1",
                                 output.name, shape_text(shape), rows));
  }
  shape.front() = 1;
  Tensor part = Tensor::allocate(output.tensor.dtype(), shape);
  std::memcpy(part.mutable_data(),
              output.tensor.data() + static_cast<std::size_t>(row) * part.bytes(), part.bytes());
  return part;
}

/// The readable items side by side, the last one repeated until the batch is full.
Tensor side_by_side(const std::vector<SeriesItem>& items, std::int64_t rows) {
  std::vector<const Tensor*> good;
  for (const SeriesItem& item : items) {
    if (item.problem.empty()) good.push_back(&item.tensor);
  }
  if (rows == 1) return *good.front();
  Shape shape = good.front()->shape();
  shape.front() = rows;
  Tensor whole = Tensor::allocate(good.front()->dtype(), shape);
  for (std::int64_t row = 0; row < rows; ++row) {
    const Tensor& part = *good[std::min(static_cast<std::size_t>(row), good.size() - 1)];
    std::memcpy(whole.mutable_data() + static_cast<std::size_t>(row) * part.bytes(), part.data(),
                part.bytes());
  }
  return whole;
}

/// The files batch by batch: while the device works on one, the next is read.
class SeriesRun {
 public:
  SeriesRun(Session& session, SeriesReader& reader, SeriesRecords& records, std::int64_t rows)
      : session_(session), reader_(reader), records_(records), rows_(rows) {}

  /// Returns how many files could not be read. `inputs` are those that stay the same.
  std::int64_t run(const std::vector<std::string>& files, const std::string& input,
                   std::vector<NamedTensor> inputs, const Ranking& ranking) {
    Progress progress("running");
    Stopwatch whole;
    const auto part = [&](std::size_t at) {
      const std::size_t end = std::min(at + static_cast<std::size_t>(rows_), files.size());
      return std::vector<std::string>(files.begin() + static_cast<std::ptrdiff_t>(at),
                                      files.begin() + static_cast<std::ptrdiff_t>(end));
    };
    inputs.push_back({input, {}});
    reader_.begin(part(0));
    for (std::size_t at = 0; at < files.size();) {
      const std::vector<SeriesItem> items = reader_.take();
      at += items.size();
      if (at < files.size()) reader_.begin(part(at));
      answer(items, inputs, ranking);
      const double rate = static_cast<double>(at) / std::max(whole.milliseconds(), 1e-3) * 1e3;
      progress.relabel(fmt::format("running, {:.1f} files/s", rate));
      progress.update(static_cast<double>(at) / static_cast<double>(files.size()));
    }
    const double seconds = whole.milliseconds() / 1e3;
    log::info("{} files in {:.1f} s, {:.1f} a second", files.size(), seconds,
              static_cast<double>(files.size()) / std::max(seconds, 1e-6));
    return problems_;
  }

 private:
  void answer(const std::vector<SeriesItem>& items, std::vector<NamedTensor>& inputs,
              const Ranking& ranking) {
    const bool any = std::ranges::any_of(items, &std::string::empty, &SeriesItem::problem);
    std::vector<NamedTensor> outputs;
    if (any) {
      inputs.back().tensor = side_by_side(items, rows_);
      outputs = session_.run(inputs);
    }
    std::int64_t row = 0;
    for (const SeriesItem& item : items) {
      if (!item.problem.empty()) {
        ++problems_;
        log::error("{}", item.problem);
        records_.add_problem(item.file, item.problem);
        continue;
      }
      std::vector<NamedTensor> own;
      for (const NamedTensor& output : outputs) {
        own.push_back({output.name, row_of(output, row, rows_)});
      }
      records_.add(item.file, own, ranking);
      ++row;
    }
  }

  Session& session_;
  SeriesReader& reader_;
  SeriesRecords& records_;
  std::int64_t rows_;
  std::int64_t problems_ = 0;
};

[[noreturn]] void fail_files(std::int64_t problems, std::size_t all) {
  throw ModelError(fmt::format("{} of {} files could not be read", problems, all));
}

}  // namespace

int run_series(const RunArguments& options, const FileSeries& series, const GivenModel& model,
               Ranking ranking) {
  check_series(options, ranking);
  CompileOptions compile = compile_options(options.model);
  const std::vector<PortInfo> declared = model.inputs();
  const PortInfo input = *std::ranges::find(declared, series.input, &PortInfo::name);
  Sources sources = read_sources(series.others, declared, {}, {series.input});
  const std::optional<Source> first = first_readable(series, input, options.pictures);
  if (!first) {
    throw ModelError(fmt::format("{} and the {} files behind it: none can be read",
                                 series.files.front(), series.files.size() - 1));
  }
  const std::int64_t rows = files_of_a_run(input, compile.batch);
  sources[series.input] = std::vector<Source>(static_cast<std::size_t>(rows), *first);
  std::vector<PortInfo> settled = settle(sources, model, compile);
  if (!std::ranges::all_of(settled, is_settled)) {
    throw UsageError("-i with many files: the model leaves extents open; give --shape");
  }
  const auto start = options.resumes ? SeriesRecords::Start::resume : SeriesRecords::Start::anew;
  compile.weights = weights_of(options.device);
  const CompiledModel compiled = model.compile(open_devices(options.device), compile);
  log::info("{}", model.kernels_line(compiled.report()));
  check_ranking(options.classes.labels, ranking, compiled.outputs());
  for (const PortInfo& output : compiled.outputs()) {
    if (!output.labels.empty()) ranking.of_model[output.name] = output.labels;
  }
  SeriesRecords records(options.output, format_of(options), start);
  std::vector<std::string> files = series.files;
  std::erase_if(files, [&](const std::string& file) { return records.done().contains(file); });
  if (files.size() < series.files.size()) {
    log::info("{}: {} files are done already", options.output, series.files.size() - files.size());
  }
  if (files.empty()) return 0;

  const auto port = std::ranges::find(settled, series.input, &PortInfo::name);
  PortInfo one = *port;
  if (rows > 1) one.shape.front() = 1;
  std::erase_if(settled, [&](const PortInfo& each) { return each.name == series.input; });
  std::vector<NamedTensor> others = assemble(sources, settled);
  Session session(compiled);
  SeriesReader reader(series, one, options.pictures);
  SeriesRun run(session, reader, records, rows);
  const std::int64_t problems = run.run(files, series.input, std::move(others), ranking);
  if (problems > 0) fail_files(problems, files.size());
  return 0;
}

}  // namespace morton::cli
