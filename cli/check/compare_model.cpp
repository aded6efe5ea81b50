// SPDX-License-Identifier: Apache-2.0
#include "check/compare_model.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "check/compare_models.hpp"
#include "check/compare_rounding.hpp"
#include "check/compare_subject.hpp"
#include "common/inputs.hpp"
#include "common/log.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/read_model.hpp"
#include "common/unused_options.hpp"
#include "morton/compare.hpp"
#include "morton/error.hpp"
#include "morton/support.hpp"

namespace morton::cli {
namespace {

constexpr const char* kModelFooter =
    R"(Runs a model once and compares every layer that it keeps in memory, each from the values that the
device computed before it. An error in one layer is not carried to the next, so the first wrong layer
is the wrong one. It and its kernels are named, and the status is 1. The reference computes the model's
nodes in double, with a bound on the rounding of each element.

With --against it runs two models on the same inputs, as one of f32 and its form of 8 bits, and says how
their outputs differ. dB is 10 log10 of the sum of squares over that of the differences. `same greatest`
is how often the greatest element of a row is the same, of classifiers the answer.

Examples:
  morton compare models/lenet5.onnx --layers
  morton compare net.onnx -i image:cat.png --use conv2d=conv2d.naive
  morton compare net.onnx --ref activations.npz --rtol 1e-4
  morton compare net.onnx --ref test_data_set_0
  morton compare net.onnx --against net-int8.onnx --data pictures --layers
  morton compare gemm --m 1000 --n 1000 --k 1000)";

Json json_of(const LayerReport& report, const Subject& subject, const Device& device) {
  Json layers = Json::array();
  std::int64_t wrong = 0;
  for (const LayerComparison& layer : report.layers) {
    wrong += layer.wrong > 0 ? 1 : 0;
    layers.push_back({{"name", layer.name},
                      {"nodes", layer.nodes},
                      {"kernels", layer.kernels},
                      {"dtype", name_of(layer.dtype)},
                      {"shape", layer.shape},
                      {"elements", layer.elements},
                      {"checked", layer.checked},
                      {"wrong", layer.wrong},
                      {"deviation", layer.deviation},
                      {"largest_error", layer.largest_error},
                      {"largest_share_of_bound", layer.largest_share},
                      {"first_wrong", layer.first_wrong}});
  }
  return {{"reference", subject.text},
          {"device", {{"id", device.id()}, {"name", device.name()}}},
          {"wrong_layers", wrong},
          {"not_kept", report.not_kept},
          {"layers", layers}};
}

std::string joined(const std::vector<std::string>& texts) {
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string verdict(const LayerComparison& layer) {
  return layer.wrong == 0 ? "ok" : fmt::format("{} wrong", layer.wrong);
}

Table table_of(const LayerReport& report, const CompareModelArguments& options) {
  using enum Table::Align;
  Table table;
  table.columns = {{"layer"},           {"shape"},
                   {"kernels"},         {"deviation", right},
                   {"checked", right},  {"max error", right},
                   {"of bound", right}, {"verdict"}};
  for (const LayerComparison& layer : report.layers) {
    if (!options.layers && layer.wrong == 0) continue;
    const bool all = layer.checked == layer.elements;
    table.rows.push_back({layer.name, shape_text(layer.shape), joined(layer.kernels),
                          fmt::format("{:.3g}", layer.deviation),
                          all ? "all" : fmt::format("{} of {}", layer.checked, layer.elements),
                          fmt::format("{:.3g}", layer.largest_error),
                          fmt::format("{:.2g}", layer.largest_share), verdict(layer)});
  }
  return table;
}

/// What the first wrong layer is and what computed it; nothing where none is.
std::string first_wrong_text(const LayerReport& report) {
  const auto first = std::ranges::find_if(
      report.layers, [](const LayerComparison& layer) { return layer.wrong > 0; });
  if (first == report.layers.end()) return "";
  std::string text = fmt::format("the first wrong layer is '{}', computed by {}", first->name,
                                 joined(first->kernels));
  if (!first->nodes.empty()) text += fmt::format(" for {}", joined(first->nodes));
  return text + ": " + first->first_wrong;
}

std::string text_of(const LayerReport& report, const Subject& subject,
                    const CompareModelArguments& options, const Device& device) {
  std::string text =
      fmt::format("{} against {}, on {}\n", options.model.path, subject.text, device.description());
  const Table table = table_of(report, options);
  if (!table.rows.empty()) text += "\n" + to_text(table, options.result.format) + "\n";
  std::int64_t wrong = 0;
  std::int64_t sampled = 0;
  double share = 0.0;
  for (const LayerComparison& layer : report.layers) {
    wrong += layer.wrong > 0 ? 1 : 0;
    sampled += layer.checked < layer.elements ? 1 : 0;
    share = std::max(share, layer.largest_share);
  }
  const std::size_t count = report.layers.size();
  text += fmt::format("{} layer{}, {} wrong; the largest error takes {:.2g} of its bound\n", count,
                      count == 1 ? "" : "s", wrong, share);
  if (sampled > 0) {
    text += fmt::format(
        "{} layer{} checked in some output channels, drawn with seed {} (--sample 0: all)\n",
        sampled, sampled == 1 ? " was" : "s were", options.seed);
  }
  if (!report.not_kept.empty()) {
    text += fmt::format("not compared, since they are computed within a step: {}\n",
                        joined(report.not_kept));
  }
  return text;
}

Subject subject_of(const CompareModelArguments& options, const Model& model,
                   CompileOptions& compile) {
  Subject subject;
  if (options.reference != "reference") {
    return read_subject(options.reference, model, compile);
  }
  subject.text = "the reference in double";
  if (compile.precision.operands != DType::f32) {
    subject.text += fmt::format(" of operands in {}", name_of(compile.precision.operands));
  }
  if (compile.precision.sums != DType::f32) {
    throw UsageError(
        "compare: the bounds of the reference are those of sums in f32; leave out --sums");
  }
  return subject;
}

/// Inputs that the reference's files do not bring: from -i, or random.
void complete_inputs(const CompareModelArguments& options, const Sources& sources,
                     const CompiledModel& compiled, Subject& subject) {
  if (!options.inputs.empty()) {
    if (!subject.inputs.empty()) {
      throw UsageError("--ref " + options.reference + ": brings inputs; leave out -i");
    }
    subject.inputs = assemble(sources, compiled.inputs());
  } else if (subject.inputs.empty()) {
    if (!subject.expected.empty()) {
      throw UsageError("--ref " + options.reference +
                       ": brings no inputs; give those that it was computed from with -i");
    }
    subject.inputs = random_inputs(compiled.inputs(), options.seed);
  } else if (subject.inputs.size() != compiled.inputs().size()) {
    throw UsageError(fmt::format("--ref {}: brings {} of the model's {} inputs; give all with -i",
                                 options.reference, subject.inputs.size(),
                                 compiled.inputs().size()));
  }
}

/// The values that shapes follow from, of -i or of the reference's files.
void add_planned_values(const Model& model, const Sources& sources, const Subject& subject,
                        CompileOptions& compile) {
  const std::vector<std::string> names = model.summary().planned_inputs;
  if (!sources.empty()) {
    compile.values =
        planned_values(names, sources, settled_inputs(model.inputs(compile.shapes), compile));
  }
  for (const NamedTensor& input : subject.inputs) {
    if (is_among(names, input.name)) compile.values[input.name] = input.tensor;
  }
}

int compare_model(const CompareModelArguments& options) {
  const Model model = read_model(options.model);
  require_supported(model);
  require_one_device(options.device);
  CompileOptions compile = compile_options(options.model);
  // What is wrong is to be seen.
  compile.self_test = CompileOptions::SelfTest::off;
  Subject subject = subject_of(options, model, compile);
  Sources sources;
  if (!options.inputs.empty()) {
    sources = read_sources(options.inputs, model.inputs(), options.against.data.pictures);
    take_list_shapes(sources, model.inputs(), compile.shapes);
    const std::vector<PortInfo> inputs = model.inputs(compile.shapes);
    require_elements(sources, model.inputs(), inputs);
    fit_shapes(sources, inputs, compile);
  }
  add_planned_values(model, sources, subject, compile);
  const CompiledModel compiled = compile_model(model, open_device(options.device), compile);
  complete_inputs(options, sources, compiled, subject);
  const LayerReport report =
      subject.expected.empty()
          ? compare_layers(compiled, subject.inputs, {options.sample << 20, options.seed})
          : compare_with(compiled, subject.inputs, subject.expected, options.tolerance);
  const auto rounding = rounding_of(compiled, model, compile, subject);
  if (for_people(options.result.format)) {
    const std::string text = text_of(report, subject, options, compiled.device());
    emit(text + text_of(rounding), options.result.path);
  } else {
    Json json = json_of(report, subject, compiled.device());
    json["rounding"] = json_of(rounding);
    const Format format = options.result.format;
    emit(to_text(format == Format::csv ? json["layers"] : json, format), options.result.path);
  }
  const std::string wrong = first_wrong_text(report);
  if (!wrong.empty()) {
    log::error("{}", wrong);
    return kCheckFailed;
  }
  if (report.layers.empty()) {
    log::error("there was nothing to compare: no layer is computed that the reference has");
    return kCheckFailed;
  }
  return 0;
}

}  // namespace

void add_compare_model(CLI::App& command, Action& chosen) {
  command.footer(kModelFooter);
  auto options = std::make_shared<CompareModelArguments>();
  add_model_file(command, options->model).required(false);
  add_options(command, options->against);
  command
      .add_option("--ref", options->reference,
                  "Expected results of the layers: reference (in double), an .npz by the names of "
                  "tensors, or a folder of ONNX's test data")
      ->option_text("reference|FILE|FOLDER");
  command
      .add_option("-i,--input", options->inputs,
                  "Input as NAME:FILE, or FILE; repeatable (default: random numbers)")
      ->option_text("NAME:FILE")
      ->allow_extra_args(false);
  command.add_flag(
      "--layers", options->layers,
      "Show every layer, not only wrong ones; with --against also inner tensors of one name");
  command
      .add_option("--sample", options->sample,
                  "Check only some output channels of products of more than N million "
                  "multiplications (50; 0: all)")
      ->option_text("N")
      ->check(whole_number(0));
  command
      .add_option("--seed", options->seed, "Seed of random inputs and of the channels to check (1)")
      ->option_text("N")
      ->check(whole_number(0));
  command
      .add_option("--rtol", options->tolerance.relative,
                  "Relative tolerance of an element, for --ref with files (1e-3)")
      ->option_text("X")
      ->check(CLI::NonNegativeNumber);
  command
      .add_option("--atol", options->tolerance.absolute,
                  "Absolute tolerance, for --ref with files (1e-5)")
      ->option_text("X")
      ->check(CLI::NonNegativeNumber);
  add_options(command, options->model);
  add_strict(command, options->model);
  add_options(command, options->device);
  add_options(
      command, options->result,
      {{"table", Format::table}, {"md", Format::md}, {"json", Format::json}, {"csv", Format::csv}});
  command.callback([&command, options, &chosen] {
    for (const CLI::App* problem : command.get_subcommands()) {
      refuse_unread(command, {}, "compare " + problem->get_name());
      return;  // it has set its own action
    }
    if (options->model.path.empty()) throw CLI::RequiredError("MODEL or gemm");
    const bool tolerates = command.count("--rtol") + command.count("--atol") > 0;
    chosen = [&command, options, tolerates] {
      refuse_unread_of(command, options->against);
      options->against.data.pictures.limits = load_limits(options->model.loading);
      if (!options->against.path.empty()) return compare_models(*options);
      if (tolerates && options->reference == CompareModelArguments().reference) {
        throw UsageError(
            "compare: --rtol and --atol are tolerances for what --ref brings; without it each "
            "element has a bound of its own (docs/numerics.md)");
      }
      return compare_model(*options);
    };
  });
}

}  // namespace morton::cli
