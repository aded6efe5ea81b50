// SPDX-License-Identifier: Apache-2.0
#include "check/compare_models.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/commands.hpp"
#include "common/inputs.hpp"
#include "common/log.hpp"
#include "common/option_names.hpp"
#include "common/read_model.hpp"
#include "common/sources.hpp"
#include "morton/compare_models.hpp"
#include "morton/error.hpp"
#include "morton/support.hpp"

namespace morton::cli {
namespace {

constexpr std::int64_t kExamplesOfARun = 32;

/// What both models are run with, and what it is in words.
struct SharedInputs {
  InputRuns runs;
  std::string text;
  Sources sources;
  std::optional<Dataset> data;
};

Model read_other(const CompareModelArguments& options) {
  ModelOptions other = options.model;
  other.path = options.against.path;
  return read_model(other);
}

/// Of a data set its test part, or what there is.
void read_data(const CompareModelArguments& options, const std::map<std::string, Shape>& inputs,
               SharedInputs& shared, CompileOptions& compile) {
  const std::string& path = options.against.data.path;
  const Split part = has_split(path, Split::test) ? Split::test : Split::train;
  std::vector<PortInfo> ports;
  for (const auto& [name, shape] : inputs) {
    PortInfo& port = ports.emplace_back();
    port.name = name;
    port.shape = shape;
  }
  shared.data = read_data(options.against.data, part, ports);
  shared.text =
      fmt::format("examples of {} (the {} part)", path, part == Split::test ? "test" : "training");
  if (inputs.size() != 1 || inputs.begin()->second.empty()) return;  // which is refused later
  const auto& [name, stated] = *inputs.begin();
  Shape shape = shape_for(*shared.data, stated);
  if (shape.front() < 0) {
    const std::int64_t most = std::min(options.against.examples, shared.data->size());
    shape.front() = compile.batch > 0 ? compile.batch : std::min(kExamplesOfARun, most);
  }
  compile.shapes.emplace(name, shape);
}

/// Whatever settles the inputs' shapes: files, examples, or what one of the models states.
SharedInputs read_inputs(const CompareModelArguments& options, const Model& model,
                         const Model& other, CompileOptions& compile) {
  const std::map<std::string, Shape> common = common_inputs(model, other);
  SharedInputs shared;
  if (!options.inputs.empty()) {
    shared.text = "the given inputs";
    shared.sources = read_sources(options.inputs, model.inputs(), options.against.data.pictures);
    take_list_shapes(shared.sources, model.inputs(), compile.shapes);
    std::vector<PortInfo> inputs = model.inputs(compile.shapes);
    require_elements(shared.sources, model.inputs(), inputs);
    for (PortInfo& input : inputs) {
      if (common.contains(input.name)) input.shape = common.at(input.name);
    }
    fit_shapes(shared.sources, inputs, compile);
    for (const Model& each : {model, other}) {
      compile.values.merge(planned_values(each.summary().planned_inputs, shared.sources,
                                          settled_inputs(inputs, compile)));
    }
  } else if (!options.against.data.path.empty()) {
    read_data(options, common, shared, compile);
  } else {
    shared.text = fmt::format("random inputs of seed {}", options.seed);
  }
  for (const auto& [name, shape] : common) {
    const bool is_known = std::ranges::all_of(shape, [](std::int64_t n) { return n >= 0; });
    if (is_known && compile.batch == 0) compile.shapes.emplace(name, shape);
  }
  return shared;
}

void make_runs(const CompareModelArguments& options, const CompiledModel& compiled,
               SharedInputs& shared) {
  if (shared.data) {
    const Normalization values = normalization_of(options.against.data);
    shared.runs = example_runs(compiled, *shared.data,
                               {values.mean, values.deviation, options.against.examples});
    shared.text = fmt::format("{} {}", shared.runs.examples, shared.text);
    return;
  }
  const std::vector<NamedTensor> inputs = shared.sources.empty()
                                              ? random_inputs(compiled.inputs(), options.seed)
                                              : assemble(shared.sources, compiled.inputs());
  shared.runs.runs = 1;
  shared.runs.inputs = [inputs](std::int64_t) { return inputs; };
}

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json json_of(const TensorDifference& tensor, const char* kind) {
  const bool has_rows = tensor.rows > 0;
  return {{"name", tensor.name},
          {"kind", kind},
          {"shape", tensor.shape},
          {"elements", tensor.elements},
          {"largest_error", tensor.largest_error},
          {"mean_error", tensor.mean_error},
          {"signal_to_noise_db", finite(tensor.signal_to_noise_db)},
          {"identical", tensor.largest_error == 0.0 && tensor.not_finite == 0},
          {"not_finite", tensor.not_finite},
          {"rows", has_rows ? Json(tensor.rows) : Json(nullptr)},
          {"same_greatest", has_rows ? Json(tensor.rows_alike) : Json(nullptr)}};
}

Json json_of(const ModelDifferences& found, const CompareModelArguments& options,
             const SharedInputs& shared, const Device& device) {
  Json tensors = Json::array();
  for (const TensorDifference& one : found.outputs) tensors.push_back(json_of(one, "output"));
  for (const TensorDifference& one : found.inner) tensors.push_back(json_of(one, "inner"));
  Json others = Json::array();
  for (const Message& one : found.not_compared) others.push_back(with_options(one));
  return {{"model", options.model.path},
          {"against", options.against.path},
          {"inputs", shared.text},
          {"runs", shared.runs.runs},
          {"device", {{"id", device.id()}, {"name", device.name()}}},
          {"not_compared", std::move(others)},
          {"tensors", std::move(tensors)}};
}

std::string decibels(double value) {
  if (std::isnan(value)) return "-";
  return std::isinf(value) && value > 0.0 ? "exact" : fmt::format("{:.1f}", value);
}

std::vector<std::string> cells_of(const TensorDifference& tensor) {
  return {tensor.name, shape_text(tensor.shape), fmt::format("{:.3g}", tensor.largest_error),
          fmt::format("{:.3g}", tensor.mean_error), decibels(tensor.signal_to_noise_db)};
}

std::string same_greatest(const TensorDifference& tensor) {
  if (tensor.rows == 0) return "-";
  const double share =
      100.0 * static_cast<double>(tensor.rows_alike) / static_cast<double>(tensor.rows);
  return fmt::format("{:.2f} % of {}", share, tensor.rows);
}

Table table_of(const std::string& what, const std::vector<TensorDifference>& tensors) {
  using enum Table::Align;
  Table table;
  table.columns = {{what}, {"shape"}, {"max difference", right}, {"mean", right}, {"dB", right}};
  for (const TensorDifference& tensor : tensors) table.rows.push_back(cells_of(tensor));
  return table;
}

Table outputs_table(const std::vector<TensorDifference>& outputs) {
  Table table = table_of("output", outputs);
  table.columns.push_back({"same greatest", Table::Align::right});
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    table.rows[i].push_back(same_greatest(outputs[i]));
  }
  return table;
}

std::string text_of(const ModelDifferences& found, const CompareModelArguments& options,
                    const SharedInputs& shared, const Device& device) {
  const Format format = options.result.format;
  std::string text = fmt::format("{} against {}: {}, on {}\n\n", options.model.path,
                                 options.against.path, shared.text, device.description()) +
                     to_text(outputs_table(found.outputs), format);
  if (!found.inner.empty()) text += "\n" + to_text(table_of("tensor", found.inner), format);
  if (options.layers && found.inner.empty()) text += "\nno inner tensor has one name in both\n";
  for (const Message& one : found.not_compared) {
    text += fmt::format("\nnot compared: {}\n", with_options(one));
  }
  return text;
}

void warn_of_the_infinite(const std::vector<TensorDifference>& tensors) {
  for (const TensorDifference& tensor : tensors) {
    if (tensor.not_finite == 0) continue;
    log::warn("'{}': {} of {} elements are not finite in one of the models; no figure counts them",
              tensor.name, tensor.not_finite, tensor.elements);
  }
}

}  // namespace

void add_options(CLI::App& command, OtherModel& against) {
  command
      .add_option("--against", against.path,
                  "Another model on the same inputs, such as the file of `morton quantize`")
      ->option_text("MODEL");
  add_options(command, against.data);
  command.get_option("--data")->required(false);
  command
      .add_option("--examples", against.examples,
                  "With --data: how many examples, spread over its test part (512)")
      ->option_text("N")
      ->check(whole_number(1));
}

void refuse_unread_of(const CLI::App& command, const OtherModel& against) {
  for (const std::string& name : picture_option_names()) {
    if (command.count(name) == 0 || command.count("--input") > 0) continue;
    if (!against.path.empty() && !against.data.path.empty()) continue;
    throw UsageError(
        fmt::format("compare: {} is for pictures of -i, and for the examples of --data", name));
  }
  if (against.path.empty()) {
    for (const char* name : {"--data", "--examples"}) {
      if (command.count(name) == 0) continue;
      throw UsageError(
          fmt::format("compare: {} is for two models; --against names the other", name));
    }
    return;
  }
  for (const char* name : {"--ref", "--sample", "--rtol", "--atol"}) {
    if (command.count(name) == 0) continue;
    throw UsageError(fmt::format(
        "compare: --against compares two models, which reads no {}; leave it out", name));
  }
  if (command.count("--examples") > 0 && against.data.path.empty()) {
    throw UsageError("compare: --examples is for the examples of --data");
  }
  if (!against.data.path.empty() && command.count("--input") > 0) {
    throw UsageError("compare: -i and --data both bring inputs; leave one out");
  }
}

int compare_models(const CompareModelArguments& options) {
  const Model model = read_model(options.model);
  const Model other = read_other(options);
  require_supported(model);
  require_supported(other);
  require_one_device(options.device);
  CompileOptions compile = compile_options(options.model);
  SharedInputs shared = read_inputs(options, model, other, compile);
  const Device device = open_device(options.device);
  const CompiledModel first = compile_model(model, device, compile);
  for (const PortInfo& input : first.inputs()) compile.shapes[input.name] = input.shape;
  compile.batch = 0;
  const CompiledModel second = compile_model(other, device, compile);
  make_runs(options, first, shared);
  const ModelDifferences found = compare_models(
      first, second, shared.runs, options.layers ? ComparedTensors::all : ComparedTensors::outputs);
  warn_of_the_infinite(found.outputs);
  warn_of_the_infinite(found.inner);
  const Format format = options.result.format;
  if (for_people(format)) {
    emit(text_of(found, options, shared, device), options.result.path);
  } else {
    const Json json = json_of(found, options, shared, device);
    emit(to_text(format == Format::csv ? json["tensors"] : json, format), options.result.path);
  }
  if (!found.outputs.empty()) return 0;
  log::error("there was nothing to compare: no output has one shape in both");
  return kCheckFailed;
}

}  // namespace morton::cli
