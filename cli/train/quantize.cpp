// SPDX-License-Identifier: Apache-2.0
#include "morton/quantize.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/commands.hpp"
#include "common/data_options.hpp"
#include "common/log.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "morton/dataset.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

constexpr const char* kQuantizeFooter =
    R"(Weights of Conv, Gemm and MatMul become 8 bits with a scale for each channel. Activations become 8
bits over the range of values that they took on examples of the data's training part. The file that
is written is ONNX with QuantizeLinear and DequantizeLinear, which other engines run too.

The table tells what each layer loses by itself, in decibels: 6 are one bit, and below 20 a layer is
worth a look. --keep-worst 2 leaves the two that lose most as they are.

Examples:
  morton quantize lenet5.onnx --data data/mnist -o lenet5-int8.onnx
  morton quantize net.onnx --data pictures --mean 0.485,0.456,0.406 --deviation 0.229,0.224,0.225 -o net-int8.onnx
  morton quantize net.onnx --data pictures --range entropy --keep-worst 2 --format json -o net-int8.onnx)";

/// Below it the noise is a fifth of the signal's amplitude and more.
constexpr double kLowDecibels = 15.0;

struct QuantizeArguments {
  DeviceOptions device;
  std::string model;
  LoadingOptions loading;
  std::string output;
  DataOptions data;
  std::vector<std::string> in_float;
  bool leaves_biases = false;
  QuantizeOptions options;
  Format format = Format::table;
};

std::string decibels_text(double decibels) {
  if (std::isnan(decibels)) return "-";
  return std::isinf(decibels) && decibels > 0.0 ? "exact" : fmt::format("{:.1f}", decibels);
}

Json decibels_json(double decibels) {
  return std::isfinite(decibels) ? Json(decibels) : Json(nullptr);
}

std::string text_of(const QuantizedModel& quantized, Format format) {
  Table table;
  table.columns = {{"layer"},
                   {"operator"},
                   {"bits"},
                   {"dB", Table::Align::right},
                   {"weights, bytes", Table::Align::right},
                   {"before", Table::Align::right}};
  for (const QuantizedLayer& layer : quantized.layers) {
    const bool has_figure = layer.is_quantized || layer.signal_to_noise_db != 0.0;
    table.rows.push_back(
        {layer.node, layer.op, layer.is_quantized ? "8" : fmt::format("32, {}", layer.why_not),
         has_figure ? decibels_text(layer.signal_to_noise_db) : "-",
         std::to_string(layer.weight_bytes_after), std::to_string(layer.weight_bytes_before)});
  }
  const double whole = quantized.output_signal_to_noise_db;
  return to_text(table, format) +
         fmt::format("\nthe first output: {}{} on {} example{}; weights: {} bytes, {} before\n",
                     decibels_text(whole), std::isfinite(whole) ? " dB" : "", quantized.examples,
                     quantized.examples == 1 ? "" : "s", quantized.weight_bytes_after,
                     quantized.weight_bytes_before);
}

Json json_of(const QuantizedModel& quantized, const std::string& output) {
  Json layers = Json::array();
  for (const QuantizedLayer& layer : quantized.layers) {
    layers.push_back({{"node", layer.node},
                      {"op", layer.op},
                      {"quantized", layer.is_quantized},
                      {"why_not", layer.why_not},
                      {"signal_to_noise_db", decibels_json(layer.signal_to_noise_db)},
                      {"weight_bytes", layer.weight_bytes_after},
                      {"weight_bytes_before", layer.weight_bytes_before}});
  }
  return {{"model", output},
          {"examples", quantized.examples},
          {"output_signal_to_noise_db", decibels_json(quantized.output_signal_to_noise_db)},
          {"weight_bytes", quantized.weight_bytes_after},
          {"weight_bytes_before", quantized.weight_bytes_before},
          {"layers", std::move(layers)}};
}

/// Before any work is done.
void require_onnx(const std::string& path) {
  if (std::filesystem::path(path).extension() == ".onnx") return;
  throw UsageError(fmt::format("--output {}: a model of 8 bits is written to an .onnx file", path));
}

void warn_of_much_noise(const QuantizedModel& quantized) {
  const double whole = quantized.output_signal_to_noise_db;
  if (std::isnan(whole) || whole >= kLowDecibels) return;
  log::warn(
      "the first output keeps {} dB, below {:.0f}: check the answers with `morton eval`. Another "
      "--range or --keep-worst may help; `morton compare --against` with --layers shows where it "
      "is "
      "lost",
      decibels_text(whole), kLowDecibels);
}

int quantize_model(QuantizeArguments& arguments) {
  require_onnx(arguments.output);
  const Model model = Model::load(arguments.model, load_options(arguments.loading));
  const Dataset data = read_data(arguments.data, Split::train, model.inputs());
  QuantizeOptions& options = arguments.options;
  const Normalization normalization = normalization_of(arguments.data);
  options.mean = normalization.mean;
  options.deviation = normalization.deviation;
  options.in_float.insert(arguments.in_float.begin(), arguments.in_float.end());
  if (arguments.leaves_biases) options.biases = QuantizeOptions::Biases::leave;
  Progress progress("quantising");
  options.progress = [&](double share) { progress.update(share); };
  const QuantizedModel quantized = quantize(model, open_device(arguments.device), data, options);
  quantized.model.save(arguments.output);
  log::info("wrote {}", arguments.output);
  warn_of_much_noise(quantized);
  emit(for_people(arguments.format)
           ? text_of(quantized, arguments.format)
           : to_text(json_of(quantized, arguments.output), arguments.format),
       "");
  return 0;
}

}  // namespace

void add_quantize(CLI::App& app, Action& chosen) {
  CLI::App* command =
      app.add_subcommand("quantize", "Make a model of 8 bits from one of 32, after training");
  command->footer(kQuantizeFooter);
  auto arguments = std::make_shared<QuantizeArguments>();
  QuantizeOptions& options = arguments->options;
  command->add_option("model", arguments->model, "The model's file, of f32")
      ->option_text("MODEL")
      ->required();
  add_options(*command, arguments->loading);
  command->add_option("-o,--output", arguments->output, "File to write: .onnx")
      ->option_text("FILE")
      ->check(writable_file())
      ->required();
  add_options(*command, arguments->data);
  command
      ->add_option("--examples", options.examples,
                   "How many examples show the ranges of activations (512)")
      ->option_text("N")
      ->check(whole_number(1));
  const std::vector<std::pair<std::string, QuantizeOptions::Range>> ranges{
      {"min-max", QuantizeOptions::Range::min_max},
      {"percentile", QuantizeOptions::Range::percentile},
      {"entropy", QuantizeOptions::Range::entropy}};
  command
      ->add_option("--range", options.range,
                   "Which values the 256 steps cover: min-max, percentile or entropy (min-max)")
      ->option_text("HOW")
      ->transform(one_of(numbered(ranges)));
  command
      ->add_option("--percentile", options.percentile,
                   "Percent of the values inside, for --range percentile (99.99)")
      ->option_text("P");
  command->add_option("--keep", arguments->in_float, "Layers that stay in f32, by the nodes' names")
      ->option_text("NAME,...")
      ->delimiter(',')
      ->check(a_name());
  command
      ->add_option("--keep-worst", options.worst_in_float,
                   "How many layers stay in f32 because they lose most (0)")
      ->option_text("N")
      ->check(whole_number(0));
  command->add_flag("--leave-biases", arguments->leaves_biases,
                    "Do not let biases make up for the mean error of rounded weights");
  add_options(*command, arguments->device);
  add_format(*command, arguments->format,
             {{"table", Format::table}, {"md", Format::md}, {"json", Format::json}});
  command->callback(
      [arguments, &chosen] { chosen = [arguments] { return quantize_model(*arguments); }; });
}

}  // namespace morton::cli
