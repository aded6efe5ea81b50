// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>

#include "common/commands.hpp"
#include "common/given_model.hpp"
#include "common/inputs.hpp"
#include "common/log.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "morton/error.hpp"
#include "morton/files.hpp"
#include "morton/session.hpp"

namespace morton::cli {
namespace {

constexpr const char* kRunFooter =
    R"(Files: .npy, .npz (arrays by name), .pb (ONNX tensors), IDX, and images (.png, .jpg). Images become
levels / 255 (red, green, blue, or grey for one channel). An image smaller than the input is centred
on zeros. An input that is given several times gets its files stacked along the first dimension.

Examples:
  morton run models/lenet5.onnx -i input:digit.png --top-k 3
  morton run models/lenet5.onnx -i models/lenet5.expected.npz -o answers.npz
  morton run net.onnx -i image:cat.jpg --labels imagenet.txt --top-k 5 --format json)";

struct RunArguments {
  DeviceOptions device;
  ModelOptions model;
  std::vector<std::string> inputs;
  std::string output;
  std::string labels;
  GivenModel::Elsewhere elsewhere = GivenModel::Elsewhere::refuse;
  std::int64_t top_k = 0;
  Format format = Format::table;
  std::set<std::string> by_columns;  ///< outputs [classes, batch]
};

/// Labels, one on each line of a file.
std::vector<std::string> read_labels(const std::string& path) {
  std::vector<std::string> labels;
  if (path.empty()) return labels;
  std::istringstream lines(read_text(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    labels.push_back(line);
  }
  return labels;
}

struct Summary {
  double min = 0.0, max = 0.0, mean = 0.0;
};

Summary summary_of(const Tensor& tensor) {
  Summary summary;
  double sum = 0.0;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const double value = tensor.at(i);
    // NaN, once seen, stays.
    summary.min = i == 0 || !(value >= summary.min) ? value : summary.min;
    summary.max = i == 0 || !(value <= summary.max) ? value : summary.max;
    sum += value;
  }
  if (tensor.size() > 0) summary.mean = sum / static_cast<double>(tensor.size());
  return summary;
}

/// Whether each row of a two-dimensional tensor is a distribution; then its values are called
/// probabilities.
bool holds_probabilities(const Tensor& tensor) {
  const std::int64_t columns = tensor.shape()[1];
  for (std::int64_t row = 0; row < tensor.shape()[0]; ++row) {
    double sum = 0.0;
    for (std::int64_t column = 0; column < columns; ++column) {
      const double value = tensor.at(row * columns + column);
      if (!(value >= 0.0)) return false;
      sum += value;
    }
    if (!(std::abs(sum - 1.0) < 1e-2)) return false;
  }
  return true;
}

/// Columns of the `k` greatest values of a row, greatest first.
std::vector<std::int64_t> top_columns(const Tensor& tensor, std::int64_t row, std::int64_t k) {
  const std::int64_t columns = tensor.shape()[1];
  std::vector<std::int64_t> order(static_cast<std::size_t>(columns));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::int64_t column) {
    const double value = tensor.at(row * columns + column);
    return std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
  });
  order.resize(static_cast<std::size_t>(std::min(k, columns)));
  return order;
}

bool ranked(const RunArguments& options, const Shape& shape) {
  return options.top_k > 0 && shape.size() == 2 && shape[1] > 0;
}

/// An output of two dimensions as [batch, classes].
Tensor by_rows(const NamedTensor& output, const RunArguments& options) {
  const Tensor& tensor = output.tensor;
  if (!options.by_columns.contains(output.name)) return tensor;
  const std::int64_t rows = tensor.shape()[0];
  const std::int64_t columns = tensor.shape()[1];
  Tensor turned = Tensor::allocate(tensor.dtype(), {columns, rows});
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    turned.set(i % columns * rows + i / columns, tensor.at(i));
  }
  return turned;
}

/// Refuses a file that the outputs cannot be written to before anything runs.
void check_output(const std::string& path) {
  if (path.empty() || path.ends_with(".npy") || path.ends_with(".npz")) return;
  throw UsageError(fmt::format("--output {}: tensors are written to .npy and .npz files", path));
}

/// Refuses --top-k and --labels that suit no output before anything runs.
void check_ranking(const RunArguments& options, const std::vector<std::string>& labels,
                   const std::vector<PortInfo>& outputs) {
  if (options.top_k == 0) return;
  bool any = false;
  for (const PortInfo& output : outputs) {
    if (!ranked(options, output.shape)) continue;
    any = true;
    const std::int64_t classes = output.shape[options.by_columns.contains(output.name) ? 0 : 1];
    if (!labels.empty() && static_cast<std::int64_t>(labels.size()) != classes) {
      throw ModelError(fmt::format("{}: has {} labels, but output '{}' has {} classes",
                                   options.labels, labels.size(), output.name, classes));
    }
  }
  if (!any) {
    throw UsageError(
        "--top-k and --labels need an output of two dimensions (batch and classes); this model has "
        "none");
  }
}

std::string label_of(const std::vector<std::string>& labels, std::int64_t column) {
  return labels.empty() ? std::to_string(column) : labels[static_cast<std::size_t>(column)];
}

Table top_table(const Tensor& tensor, const RunArguments& options,
                const std::vector<std::string>& labels) {
  Table table;
  table.columns = {{"row", Table::Align::right},
                   {"rank", Table::Align::right},
                   {"class"},
                   {holds_probabilities(tensor) ? "probability" : "value", Table::Align::right}};
  for (std::int64_t row = 0; row < tensor.shape()[0]; ++row) {
    int rank = 0;
    for (const std::int64_t column : top_columns(tensor, row, options.top_k)) {
      const double value = tensor.at(row * tensor.shape()[1] + column);
      table.rows.push_back({std::to_string(row), std::to_string(++rank), label_of(labels, column),
                            fmt::format("{:.6f}", value)});
    }
  }
  return table;
}

Json top_json(const Tensor& tensor, const RunArguments& options,
              const std::vector<std::string>& labels) {
  const std::string key = holds_probabilities(tensor) ? "probability" : "value";
  Json rows = Json::array();
  for (std::int64_t row = 0; row < tensor.shape()[0]; ++row) {
    Json list = Json::array();
    for (const std::int64_t column : top_columns(tensor, row, options.top_k)) {
      list.push_back({{"index", column},
                      {"label", label_of(labels, column)},
                      {key, tensor.at(row * tensor.shape()[1] + column)}});
    }
    rows.push_back(list);
  }
  return rows;
}

std::string text_of(const std::vector<NamedTensor>& outputs, const RunArguments& options,
                    const std::vector<std::string>& labels) {
  std::string text;
  for (const NamedTensor& output : outputs) {
    const Summary summary = summary_of(output.tensor);
    text += fmt::format("{}  {}  {}  min {:.6g}  max {:.6g}  mean {:.6g}\n", output.name,
                        name_of(output.tensor.dtype()), shape_text(output.tensor.shape()),
                        summary.min, summary.max, summary.mean);
    if (!ranked(options, output.tensor.shape())) continue;
    text += to_text(top_table(by_rows(output, options), options, labels), options.format);
  }
  return text;
}

Json json_of(const std::vector<NamedTensor>& outputs, const RunArguments& options,
             const std::vector<std::string>& labels) {
  Json list = Json::array();
  for (const NamedTensor& output : outputs) {
    const Summary summary = summary_of(output.tensor);
    Json item = {{"name", output.name},
                 {"dtype", name_of(output.tensor.dtype())},
                 {"shape", output.tensor.shape()},
                 {"min", summary.min},
                 {"max", summary.max},
                 {"mean", summary.mean}};
    if (ranked(options, output.tensor.shape())) {
      item["top"] = top_json(by_rows(output, options), options, labels);
    }
    list.push_back(item);
  }
  return list;
}

/// Whether what the model states of an output tells how many classes it has, if any.
bool has_known_classes(const PortInfo& port) {
  return !port.shape.empty() && (port.shape.size() != 2 || port.shape[1] >= 0);
}

int run_model(RunArguments options) {
  if (!options.labels.empty() && options.top_k == 0) options.top_k = 5;
  CompileOptions compile = compile_options(options.model);
  const std::vector<std::string> labels = read_labels(options.labels);
  const GivenModel model(options.model, options.elsewhere);
  for (const PortInfo& output : model.outputs()) {
    if (batch_dimension(output) == 1) options.by_columns.insert(output.name);
  }
  const Sources sources = read_sources(options.inputs, model.inputs());
  fit_shapes(sources, model.inputs(), compile);

  // What can be refused before anything is built is refused there.
  const std::vector<PortInfo> settled = settled_inputs(model.inputs(), compile);
  compile.values = planned_values(model.planned_inputs(), sources, settled);
  const bool all_settled = std::ranges::all_of(settled, is_settled);
  std::vector<NamedTensor> inputs;
  if (all_settled) inputs = assemble(sources, settled);
  const std::vector<PortInfo> declared = model.outputs();
  if (std::ranges::all_of(declared, has_known_classes)) check_ranking(options, labels, declared);

  check_output(options.output);
  compile.weights = weights_of(options.device);
  const CompiledModel compiled = model.compile(open_devices(options.device), compile);
  const Device& device = compiled.device();
  log::info("{}", model.kernels_line(compiled.report()));
  check_ranking(options, labels, compiled.outputs());
  if (!all_settled) inputs = assemble(sources, compiled.inputs());
  Session session(compiled);
  const std::vector<NamedTensor> outputs = session.run(inputs);

  if (!options.output.empty()) {
    write_tensors(options.output, outputs);
    log::info("wrote {}", options.output);
  }
  if (for_people(options.format)) {
    emit(text_of(outputs, options, labels), "");
    return 0;
  }
  const CompileReport& report = compiled.report();
  const Json value = {{"device", Json::parse(device.json())},
                      {"kernels",
                       {{"from_cache", report.kernels.from_memory + report.kernels.from_disk},
                        {"compiled_ahead", model.is_compiled()},
                        {"built", report.kernels.built}}},
                      {"outputs", json_of(outputs, options, labels)}};
  emit(to_text(value, options.format), "");
  return 0;
}

}  // namespace

void add_run(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("run", "Run a model once on real input");
  command->footer(kRunFooter);
  auto options = std::make_shared<RunArguments>();
  add_given_model(*command, options->model, options->elsewhere, Need::required);
  command
      ->add_option("-i,--input", options->inputs,
                   "An input; NAME may be left out if the model has only one; repeatable")
      ->option_text("NAME:FILE")
      ->allow_extra_args(false);
  command
      ->add_option("--top-k", options->top_k,
                   "Show the K greatest values of outputs [batch, classes]")
      ->option_text("K")
      ->check(whole_number(1));
  command->add_option("--labels", options->labels, "Names of the classes, one on each line")
      ->option_text("FILE");
  add_options(*command, options->device);
  add_options(*command, options->model);
  add_trust_options(*command, options->model);
  add_format(*command, options->format,
             {{"table", Format::table}, {"md", Format::md}, {"json", Format::json}});
  command->add_option("-o,--output", options->output, "Write the outputs to this .npz or .npy file")
      ->option_text("FILE");
  command->callback([options, &chosen] { chosen = [options] { return run_model(*options); }; });
}

}  // namespace morton::cli
