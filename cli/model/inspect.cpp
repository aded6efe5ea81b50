// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "check/support.hpp"
#include "common/commands.hpp"
#include "common/inputs.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/read_model.hpp"
#include "common/shape_options.hpp"
#include "morton/error.hpp"
#include "morton/model.hpp"
#include "morton/support.hpp"
#include "morton/tools/passes.hpp"

namespace morton::cli {
namespace {

constexpr const char* kInspectFooter =
    R"(Needs no device. The exit status is 0 for every model that can be read, supported or not. With
--support it is 1 if a node cannot be computed.

Examples:
  morton inspect models/lenet5.onnx
  morton inspect models/lenet5.onnx --format json
  morton inspect models/lenet5.onnx --support
  morton inspect models/lenet5.onnx --dot | dot -Tsvg > lenet5.svg
  morton inspect models/lenet5.onnx --after fuse_epilogues --diff)";

struct InspectArguments {
  ModelOptions model;
  ResultOptions result;
  bool dot = false;
  bool support = false;
  std::string after;  ///< a pass
  bool diff = false;
};

/// Shapes for a look at what follows from them.
struct SomeShapes {
  CompileOptions options;
  std::string
      note;  ///< " (where open extents are 64)"; empty where the model leaves only its batch open
};

/// Whether a model can be trained depends little on the size of its images, so one is as good as
/// another.
SomeShapes some_shapes(const Model& model) {
  constexpr std::int64_t kSide = 64;
  SomeShapes result;
  result.options.batch = 1;
  for (const PortInfo& input : model.inputs()) {
    if (!input.form.is_tensor()) continue;
    Shape shape = input.shape;
    bool open = false;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] >= 0) continue;
      const bool batch = i == batch_dimension(input);
      open = open || !batch;
      shape[i] = batch ? 1 : kSide;
    }
    if (!open) continue;
    result.note = fmt::format(" (where open extents are {})", kSide);
    result.options.shapes[input.name] = shape;
  }
  return result;
}

Json json_of(const std::vector<PortInfo>& ports) {
  Json list = Json::array();
  for (const PortInfo& port : ports) {
    list.push_back({{"name", port.name},
                    {"dtype", name_of(port.dtype)},
                    {"shape", port.shape},
                    {"symbols", port.symbols},
                    {"list", port.form.is_list},
                    {"optional", port.form.is_optional},
                    {"any_shape", port.form.any_shape},
                    {"labels", port.labels}});
  }
  return list;
}

Json json_of(const Model& model) {
  const ModelSummary summary = model.summary();
  Json operators = Json::object();
  for (const auto& [name, count] : summary.operators) operators[name] = count;
  Json unsupported = Json::array();
  for (const auto& [node, reason] : summary.unsupported) {
    unsupported.push_back({{"node", node}, {"reason", with_options(reason)}});
  }
  const std::string obstacle = with_options(training_obstacle(model, some_shapes(model).options));
  return {{"name", summary.name},
          {"opset", summary.opset},
          {"inputs", json_of(model.inputs())},
          {"outputs", json_of(model.outputs())},
          {"operators", operators},
          {"parameters", summary.parameters},
          {"parameter_bytes", summary.parameter_bytes},
          {"supported", summary.unsupported.empty()},
          {"unsupported", unsupported},
          {"trainable", obstacle.empty()},
          {"not_trainable", obstacle},
          {"planned_inputs", summary.planned_inputs},
          {"notes", summary.notes}};
}

std::string ports_text(const char* heading, const std::vector<PortInfo>& ports) {
  std::string text = fmt::format("{}:\n", heading);
  for (const PortInfo& port : ports) {
    text += fmt::format("  {}  {}\n", port.name, type_text(port));
    if (!port.labels.empty()) text += fmt::format("    {}\n", labels_text(port.labels));
  }
  return text;
}

std::string text_of(const Model& model) {
  const ModelSummary summary = model.summary();
  std::string text = fmt::format("model: {} (opset {})\n", summary.name, summary.opset);
  text += ports_text("inputs", model.inputs());
  text += ports_text("outputs", model.outputs());
  for (const std::string& name : summary.planned_inputs) {
    text += fmt::format("shapes follow from the value of: {}\n", name);
  }
  for (const std::string& note : summary.notes) text += fmt::format("note: {}\n", note);
  text += "operators:\n";
  for (const auto& [name, count] : summary.operators)
    text += fmt::format("  {} x {}\n", count, name);
  text +=
      fmt::format("parameters: {} ({})\n", summary.parameters, bytes_text(summary.parameter_bytes));
  text += fmt::format("supported: {}\n", summary.unsupported.empty() ? "yes" : "no");
  for (const auto& [node, reason] : summary.unsupported) {
    text += fmt::format("  {}: {}\n", node, with_options(reason));
  }
  const SomeShapes shapes = some_shapes(model);
  const std::string obstacle = with_options(training_obstacle(model, shapes.options));
  return text + (obstacle.empty() ? fmt::format("trainable: yes{}\n", shapes.note)
                                  : fmt::format("trainable: no{}: {}\n", shapes.note, obstacle));
}

/// The graph after a pass, or what the pass changed.
std::string pass_text(const Model& model, const InspectArguments& options) {
  const PassEffect effect = effect_of_pass(model, options.after, compile_options(options.model));
  if (!for_people(options.result.format)) {
    return to_text(Json{{"pass", options.after},
                        {"changes", effect.changes},
                        {"before", effect.before},
                        {"after", effect.after}},
                   options.result.format);
  }
  if (!options.diff) return effect.after;
  const std::string text = difference(effect);
  return text.empty() ? fmt::format("pass {} changes nothing\n", options.after) : text;
}

void check(const InspectArguments& options) {
  const bool shaped = options.model.batch > 0 || !options.model.shapes.empty();
  if (options.after.empty() && options.diff) {
    throw UsageError("inspect: --diff says what is shown of a pass; give --after PASS");
  }
  if (options.after.empty() && !options.support && shaped) {
    throw UsageError("inspect: --batch and --shape go with --after PASS or --support");
  }
  const int views =
      (options.after.empty() ? 0 : 1) + (options.dot ? 1 : 0) + (options.support ? 1 : 0);
  if (views > 1) {
    throw UsageError("inspect: --after, --dot and --support are different views; give one");
  }
}

std::string inspect_footer() {
  std::string names;
  for (const std::string& name : pass_names()) names += "  " + name + "\n";
  return "Passes, in the order in which they run:\n" + names + "\n" + kInspectFooter;
}

int inspect(const InspectArguments& options) {
  check(options);
  if (options.support) return show_support(options.model, options.result);
  const Model model = read_model(options.model);
  std::string text;
  if (!options.after.empty()) {
    text = pass_text(model, options);
  } else if (options.dot) {
    text = model.dot();
  } else if (for_people(options.result.format)) {
    text = text_of(model);
  } else {
    text = to_text(json_of(model), options.result.format);
  }
  emit(text, options.result.path);
  return 0;
}

}  // namespace

void add_inspect(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand(
      "inspect", "Show a model's inputs, outputs and operators, supported or not");
  command->footer(inspect_footer());
  auto options = std::make_shared<InspectArguments>();
  add_model_file(*command, options->model);
  command->add_flag("--dot", options->dot, "Print the graph in Graphviz's language");
  command->add_flag(
      "--support", options->support,
      "Show where each node is computed, or why it cannot be; status 1 if one cannot be");
  command
      ->add_option("--after", options->after,
                   "Show the graph after this pass (its last run; NAME:N is the N-th)")
      ->option_text("PASS")
      ->check(offers(pass_names()));
  command->add_flag("--diff", options->diff, "Show the changes of that pass, as diff -u does");
  add_shape_options(*command, options->model);
  add_options(*command, options->result, {{"table", Format::table}, {"json", Format::json}});
  command->callback([options, &chosen] { chosen = [options] { return inspect(*options); }; });
}

}  // namespace morton::cli
