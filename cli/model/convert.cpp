// SPDX-License-Identifier: Apache-2.0
#include "morton/convert.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/commands.hpp"
#include "common/log.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/read_model.hpp"
#include "common/shape_options.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

constexpr const char* kConvertFooter =
    R"(The file that is written is ONNX, which other engines run too. Names of inputs and outputs, open
extents, and the file's metadata stay. What halves do not hold, and what the file had that is not written,
is said as a warning.

Nodes that ONNX has no halves for stay in f32, between Casts. The table names them. So do those that
compute shapes, layers between codes of 8 bits, and control flow.

Examples:
  morton convert net.onnx --precision f16 -o net-f16.onnx
  morton convert net.onnx --precision bf16 --opset 22 --io bf16 -o net-bf16.onnx
  morton convert net.onnx --shape image:1x3x224x224 -o net-fixed.onnx
  morton convert old.onnx --opset 21 -o new.onnx
  morton convert digits.json -o digits.onnx)";

struct ConvertArguments {
  ModelOptions model;
  std::string output, precision, io;
  std::vector<std::string> in_float;
  std::int64_t opset = 0;
  bool leaves_constants = false;
  Format format = Format::table;
};

ConvertOptions convert_options(const ConvertArguments& arguments) {
  const CompileOptions shapes = compile_options(arguments.model);
  ConvertOptions options;
  options.batch = shapes.batch;
  options.shapes = shapes.shapes;
  if (!arguments.precision.empty()) options.precision = parse_dtype(arguments.precision);
  if (!arguments.io.empty() && arguments.io != "f32") {
    if (arguments.io != arguments.precision) {
      throw UsageError(
          fmt::format("--io {}: expected f32, or what --precision says", arguments.io));
    }
    options.ports = ConvertOptions::Ports::convert;
  }
  options.in_float.insert(arguments.in_float.begin(), arguments.in_float.end());
  if (arguments.opset > 0) options.opset = arguments.opset;
  if (arguments.leaves_constants) options.constants = ConvertOptions::Constants::leave;
  return options;
}

std::string totals(const ConvertedModel& converted) {
  return fmt::format("opset {}; {} nodes, {} before; constants: {} bytes, {} before\n",
                     converted.model.summary().opset, converted.nodes_after, converted.nodes_before,
                     converted.parameter_bytes_after, converted.parameter_bytes_before);
}

std::string text_of(const ConvertedModel& converted, Format format) {
  if (converted.in_float.empty()) return totals(converted);
  Table table;
  table.columns = {{"in f32"}, {"operator"}, {"because"}};
  for (const FloatNode& node : converted.in_float) {
    table.rows.push_back({node.node, node.op, node.why});
  }
  return to_text(table, format) + "\n" + totals(converted);
}

Json json_of(const ConvertedModel& converted, const std::string& output) {
  Json nodes = Json::array();
  for (const FloatNode& node : converted.in_float) {
    nodes.push_back({{"node", node.node}, {"op", node.op}, {"why", node.why}});
  }
  Json notes = Json::array();
  for (const Message& note : converted.notes) notes.push_back(with_options(note));
  return {{"model", output},
          {"opset", converted.model.summary().opset},
          {"nodes", converted.nodes_after},
          {"nodes_before", converted.nodes_before},
          {"constant_bytes", converted.parameter_bytes_after},
          {"constant_bytes_before", converted.parameter_bytes_before},
          {"in_float", std::move(nodes)},
          {"notes", std::move(notes)}};
}

int convert_model(const ConvertArguments& arguments) {
  if (std::filesystem::path(arguments.output).extension() != ".onnx") {
    throw UsageError(fmt::format("--output {}: a converted model is written to an .onnx file",
                                 arguments.output));
  }
  const ConvertOptions options = convert_options(arguments);
  const ConvertedModel converted = convert(read_model(arguments.model), options);
  converted.model.save(arguments.output);
  log::info("wrote {}", arguments.output);
  for (const Message& note : converted.notes) log::warn("{}", with_options(note));
  emit(for_people(arguments.format)
           ? text_of(converted, arguments.format)
           : to_text(json_of(converted, arguments.output), arguments.format),
       "");
  return 0;
}

}  // namespace

void add_convert(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand(
      "convert", "Write a model as ONNX: in halves, at fixed shapes, in a later opset");
  command->footer(kConvertFooter);
  auto arguments = std::make_shared<ConvertArguments>();
  add_model_file(*command, arguments->model);
  command->add_option("-o,--output", arguments->output, "File to write: .onnx")
      ->option_text("FILE")
      ->check(writable_file())
      ->required();
  command
      ->add_option("--precision", arguments->precision,
                   "What weights and activations of f32 become: f16 or bf16")
      ->option_text("TYPE")
      ->check(CLI::IsMember({"f16", "bf16"}));
  command
      ->add_option("--io", arguments->io,
                   "What inputs and outputs of f32 are: f32, or what --precision says (f32)")
      ->option_text("TYPE")
      ->check(CLI::IsMember({"f32", "f16", "bf16"}));
  command->add_option("--keep", arguments->in_float, "Nodes that stay in f32, by their names")
      ->option_text("NAME,...")
      ->delimiter(',')
      ->check(a_name());
  command
      ->add_option("--opset", arguments->opset,
                   "Version of ONNX's operator set, the model's or a later one (the model's)")
      ->option_text("N")
      ->check(whole_number(1));
  command->add_flag("--leave-constants", arguments->leaves_constants,
                    "Do not compute nodes of constants, and leave batch normalisations");
  add_shape_options(*command, arguments->model);
  add_format(*command, arguments->format,
             {{"table", Format::table}, {"md", Format::md}, {"json", Format::json}});
  command->callback(
      [arguments, &chosen] { chosen = [arguments] { return convert_model(*arguments); }; });
}

}  // namespace morton::cli
