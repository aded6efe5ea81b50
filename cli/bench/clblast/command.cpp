// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/clblast/table.hpp"
#include "common/commands.hpp"
#include "common/log.hpp"
#include "common/options.hpp"
#include "common/stopwatch.hpp"
#include "common/terminal.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

using Routine = ClblastCall::Routine;

constexpr const char* kClblastFooter =
    R"(copy: elements, and the line through the times. im2col: squares for each number of channels, without
padding. gemv: squares times one vector, by xGEMV and by xGEMM. gemm: squares. gemm-batched: squares in each
batch. switch: from which size on xGEMM copies its operands, and both ways around it.

A sample is calls back to back for 20 ms or more with one wait at the end. Small integers must give the
exact result. Without --sizes they are those of R18, sections 4.2.1 to 4.2.5.

Examples:
  morton bench clblast copy
  morton bench clblast im2col --channels 1,64,256 --sizes 32,96,160 --budget 5s
  morton bench clblast gemm-batched --sizes 96,128 --batch 1,2,3,4 --format csv
  morton bench clblast switch)";

struct ClblastArguments {
  std::string routine;
  std::vector<std::int64_t> sizes, channels{1, 4, 16, 64, 256}, batch{1, 2, 3, 4};
  std::int64_t window = 5, samples = 15;
  std::string budget, folder, parameters;
  DeviceOptions device;
  ResultOptions result;
};

std::vector<std::int64_t> steps(std::int64_t first, std::int64_t last, std::int64_t step) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = first; size <= last; size += step) sizes.push_back(size);
  return sizes;
}

/// R18's.
std::vector<std::int64_t> sizes_of_source(const std::string& routine) {
  std::vector<std::int64_t> sizes = steps(128, routine == "gemm" ? 1920 : 1152, 128);
  if (routine == "copy") return steps(1 << 18, 1 << 22, 1 << 18);
  if (routine == "im2col") return {32, 64, 96, 128, 160, 192, 224};
  if (routine == "gemv") return steps(512, 6656, 512);
  sizes.insert(sizes.begin(), 96);
  return sizes;
}

ClblastRow row_for(Routine routine, const std::string& name, std::int64_t size) {
  ClblastRow row;
  row.size = std::to_string(size);
  row.name = name;
  row.call.routine = routine;
  row.call.m = row.call.n = row.call.k = row.call.square = size;
  return row;
}

std::vector<ClblastRow> rows_of(const ClblastArguments& options,
                                const std::vector<std::int64_t>& sizes) {
  std::vector<ClblastRow> rows;
  const auto add = [&](Routine routine, const char* name, std::int64_t size) -> ClblastRow& {
    return rows.emplace_back(row_for(routine, name, size));
  };
  for (const std::int64_t size : sizes) {
    if (options.routine == "copy") add(Routine::copy, "xCOPY", size);
    if (options.routine == "gemm") add(Routine::gemm, "xGEMM", size);
    if (options.routine == "gemv") {
      add(Routine::gemv, "xGEMV", size).call.n = 1;
      add(Routine::gemm, "xGEMM", size).call.n = 1;
    }
    if (options.routine == "gemm-batched") {
      for (const std::int64_t batch : options.batch) {
        ClblastRow& row = add(Routine::gemm_batched, "xGEMMBATCHED", size);
        row.call.batch = batch;
        row.size = fmt::format("{} x {}", batch, size);
      }
    }
  }
  if (options.routine != "im2col") return rows;
  for (const std::int64_t channels : options.channels) {
    for (const std::int64_t size : sizes) {
      ClblastRow& row = add(Routine::im2col, "xIM2COL", size);
      row.call.channels = channels;
      row.call.window = options.window;
      row.size = fmt::format("{} x {}x{}", channels, size, size);
      if (size >= options.window) continue;
      throw UsageError(fmt::format("--sizes {}: no window of {} fits in", size, options.window));
    }
  }
  return rows;
}

/// Measures rows one after the other, each within the budget.
class Measuring {
 public:
  Measuring(const ClblastArguments& options, ClblastRoutines& routines, std::int64_t allocation)
      : routines_(routines),
        wanted_(options.samples),
        allocation_(allocation),
        budget_text_(options.budget) {
    if (!options.budget.empty()) budget_ms_ = parse_duration_ms(options.budget);
  }

  void measure(ClblastRow& row) {
    const std::optional<std::int64_t> bytes = row.call.largest_bytes();
    if (!bytes || *bytes > allocation_) {
      row.verdict = "beyond";
      row.why = fmt::format("its operand of {} is beyond the device's largest allocation, {}",
                            bytes ? bytes_text(*bytes) : "8 EiB or more", bytes_text(allocation_));
      return;
    }
    const Stopwatch watch;
    routines_.prepare(row.call);
    run(1);  // builds kernels
    row.why = routines_.complaint();
    if (!row.why.empty()) {
      row.verdict = "wrong";
      return;
    }
    take_samples(row, watch);
  }

 private:
  static constexpr double kSampleLength = 20.0;

  /// Milliseconds of one of so many calls.
  double run(std::int64_t calls) {
    const Stopwatch watch;
    for (std::int64_t i = 0; i < calls; ++i) routines_.enqueue();
    routines_.finish();
    return watch.milliseconds() / static_cast<double>(calls);
  }

  void take_samples(ClblastRow& row, const Stopwatch& watch) {
    const double warm = run(1);
    const auto calls =
        static_cast<std::int64_t>(std::clamp(std::ceil(kSampleLength / warm), 1.0, 1e5));
    std::vector<double> samples;
    const double length = warm * static_cast<double>(calls);
    while (static_cast<std::int64_t>(samples.size()) < wanted_) {
      const bool over = budget_ms_ > 0.0 && watch.milliseconds() + length > budget_ms_;
      if (over && !samples.empty()) break;
      samples.push_back(run(calls));
    }
    row.ms = statistics_of(samples);
    if (static_cast<std::int64_t>(samples.size()) == wanted_) return;
    row.verdict = "cut";
    row.why = fmt::format("{} of {} samples within {}", samples.size(), wanted_, budget_text_);
  }

  ClblastRoutines& routines_;
  std::int64_t wanted_, allocation_;
  std::string budget_text_;
  double budget_ms_ = 0.0;  ///< 0: none
};

/// Both ways at the sizes, or around the switch.
void measure_switch(const ClblastArguments& options, ClblastRoutines& routines,
                    Measuring& measuring, ClblastTable& table) {
  const std::int64_t found = *table.least_indirect;
  std::vector<std::int64_t> sizes = options.sizes;
  for (const std::int64_t quarters : {2, 3, 4, 5, 6, 8}) {
    if (options.sizes.empty()) sizes.push_back(std::max<std::int64_t>(found * quarters / 4, 1));
  }
  // Squares of that size are beyond every device.
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() - 1;
  const std::int64_t largest = std::min(*std::ranges::max_element(sizes), kMost);
  for (const bool direct : {true, false}) {
    routines.set_least_indirect(direct ? largest + 1 : 1);
    for (const std::int64_t size : sizes) {
      ClblastRow row = row_for(Routine::gemm, "xGEMM", size);
      row.way = direct ? "direct" : "with copies";
      if ((size < found) == direct) row.way += ", CLBlast's choice";
      measuring.measure(row);
      table.rows.push_back(row);
    }
  }
  std::ranges::stable_sort(table.rows, {}, [](const ClblastRow& row) { return row.call.m; });
}

/// Throws CLI::ValidationError for an option that another routine reads.
void refuse_options_of_others(const CLI::App& command, const std::string& routine) {
  const std::pair<const char*, const char*> kReaders[] = {
      {"--channels", "im2col"}, {"--kernel", "im2col"}, {"--batch", "gemm-batched"}};
  for (const auto& [option, reader] : kReaders) {
    if (command.get_option(option)->count() == 0 || routine == reader) continue;
    throw CLI::ValidationError(
        option, fmt::format("`bench clblast {}` does not read it; {} does", routine, reader));
  }
}

int bench_clblast(const ClblastArguments& options) {
  const Device device = open_device(options.device);
  ClblastRoutines routines(device, options.folder, options.parameters);
  const std::int64_t allocation =
      Json::parse(device.json()).value("max_allocation_bytes", std::int64_t{0});
  ClblastTable table{options.routine, routines.path(), options.budget, device, allocation};
  if (!options.parameters.empty()) table.library += ", tuned: " + options.parameters;
  Measuring measuring(options, routines, allocation);
  if (options.routine == "gemm" || options.routine == "switch") {
    table.least_indirect = routines.least_indirect();
  }
  if (options.routine == "switch") {
    measure_switch(options, routines, measuring, table);
  } else {
    table.rows =
        rows_of(options, options.sizes.empty() ? sizes_of_source(options.routine) : options.sizes);
    Progress progress("measuring");
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      progress.update(static_cast<double>(i) / static_cast<double>(table.rows.size()));
      ClblastRow& row = table.rows[i];
      measuring.measure(row);
      if (options.routine == "gemm") {
        row.way = row.call.m < *table.least_indirect ? "direct" : "with copies";
      }
    }
  }
  if (options.routine == "copy") table.fit = fit_of(table.rows);
  emit(report_of(table, options.result.format), options.result.path);
  bool wrong = false;
  for (const ClblastRow& row : table.rows) {
    if (row.verdict != "wrong") continue;
    wrong = true;
    log::error("{} {}: {}", row.name, row.size, row.why);
  }
  return wrong ? kCheckFailed : 0;
}

}  // namespace

void add_bench_clblast(CLI::App& bench_command, Action& chosen) {
  CLI::App* command =
      bench_command.add_subcommand("clblast", "Measure routines of CLBlast alone, over sizes");
  command->footer(kClblastFooter);
  auto options = std::make_shared<ClblastArguments>();
  command->add_option("ROUTINE", options->routine, "copy, im2col, gemv, gemm, gemm-batched, switch")
      ->option_text(" ")
      ->required()
      ->check(one_of(
          std::vector<std::string>{"copy", "im2col", "gemv", "gemm", "gemm-batched", "switch"}));
  const auto add_list = [&](const char* name, std::vector<std::int64_t>& list, const char* what) {
    command->add_option(name, list, what)
        ->option_text("N,...")
        ->allow_extra_args(false)
        ->delimiter(',')
        ->check(whole_number(1));
  };
  add_list("--sizes", options->sizes, "Elements of a copy, or sides of squares (R18's)");
  add_list("--channels", options->channels, "Channels of im2col (1,4,16,64,256)");
  add_list("--batch", options->batch, "Products at once of gemm-batched (1,2,3,4)");
  command->add_option("--kernel", options->window, "Side of the window of im2col (5)")
      ->option_text("N")
      ->check(whole_number(1));
  command->add_option("-n,--iterations", options->samples, "Samples of each row (15)")
      ->option_text("N")
      ->check(whole_number(1));
  command->add_option("--budget", options->budget, "Most time for each row")->option_text("TIME");
  command
      ->add_option("--peer-folder", options->folder,
                   "Folder of the library, instead of the loader's path")
      ->option_text("FOLDER");
  command
      ->add_option("--clblast-parameters", options->parameters,
                   "Tuned parameters, as bench/clblast_tune.py writes them")
      ->option_text("FILE");
  add_options(*command, options->device);
  add_options(*command, options->result, every_format());
  command->callback([command, options, &chosen] {
    refuse_options_of_others(*command, options->routine);
    chosen = [options] { return bench_clblast(*options); };
  });
}

}  // namespace morton::cli
