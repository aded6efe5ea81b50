// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "common/commands.hpp"
#include "common/output.hpp"
#include "morton/compiled_file.hpp"

namespace morton::cli {
namespace {

constexpr const char* kKeysFooter =
    R"(NAME.key is secret: it signs, and its owner alone may read it. NAME.pub goes to those who verify. A file
of public keys may hold several, one a line. --sign signs a compiled file again, so that the key need not
lie on the machine that compiles.

Examples:
  morton keys fleet
  morton compile net.onnx -o net.morton --sign fleet.key
  morton keys fleet.key --sign net.morton
  morton run net.morton -i image:cat.jpg --verify fleet.pub)";

struct KeysArguments {
  std::string name;  ///< of the pair, or the secret key's file
  std::string sign;  ///< compiled file; empty: a pair is made
};

int keys(const KeysArguments& arguments) {
  if (!arguments.sign.empty()) {
    sign_compiled(arguments.sign, arguments.name);
    emit(fmt::format("signed {}\n", arguments.sign), "");
    return 0;
  }
  make_signing_keys(arguments.name);
  emit(fmt::format("wrote {0}.key (secret) and {0}.pub\n", arguments.name), "");
  return 0;
}

}  // namespace

void add_keys(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("keys", "Make keys that sign compiled files");
  command->footer(kKeysFooter);
  auto arguments = std::make_shared<KeysArguments>();
  command->add_option("name", arguments->name, "Name of the pair; with --sign the secret key")
      ->option_text("NAME")
      ->required();
  command->add_option("--sign", arguments->sign, "Sign this compiled file instead")
      ->option_text("FILE");
  command->callback([arguments, &chosen] { chosen = [arguments] { return keys(*arguments); }; });
}

}  // namespace morton::cli
