// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "common/commands.hpp"
#include "common/log.hpp"
#include "common/options.hpp"
#include "morton/architectures.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

constexpr const char* kExamples =
    R"(The weights are random, of He's scheme; the same seed gives the same network. FILE is .onnx, or
.json for R17's network definition, whose matrices then lie beside it (the r17 networks only).

Examples:
  morton new lenet5 -o lenet5.onnx
  morton new r17-digits -o digits.json --seed 7
  morton new r17-256 -o small.json --matrices csv)";

struct NewArguments {
  std::string architecture;
  std::string output;
  std::uint64_t seed = 1;
  std::string matrices = "binary";
};

std::string new_footer() {
  std::string text = "Architectures:\n";
  for (const ArchitectureInfo& architecture : architectures()) {
    text += fmt::format("  {:<17}{}\n", architecture.name, architecture.summary);
  }
  return text + "\n" + kExamples;
}

int write_model(const NewArguments& options) {
  const Model model = new_model(options.architecture, options.seed);
  model.save(options.output, options.matrices == "csv" ? MatrixFormat::csv : MatrixFormat::binary);
  log::info("wrote {} ({} parameters)", options.output, model.summary().parameters);
  return 0;
}

}  // namespace

void add_new(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("new", "Make a model with random weights");
  command->footer(new_footer());
  auto options = std::make_shared<NewArguments>();
  command->add_option("architecture", options->architecture, "An architecture of the list below")
      ->option_text("ARCHITECTURE")
      ->required();
  command->add_option("-o,--output", options->output, "File to write: .onnx or .json")
      ->option_text("FILE")
      ->check(writable_file())
      ->required();
  command->add_option("--seed", options->seed, "Seed of the weights (1)")
      ->option_text("N")
      ->check(whole_number(0));
  command
      ->add_option("--matrices", options->matrices,
                   "Format of the matrices beside a .json: binary, csv")
      ->option_text("TYPE")
      ->check(one_of(std::vector<std::string>{"binary", "csv"}));
  command->callback([options, &chosen] { chosen = [options] { return write_model(*options); }; });
}

}  // namespace morton::cli
