// SPDX-License-Identifier: Apache-2.0
//
// `morton serve` is a program of its own, morton-serve, because of the libraries that it needs.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "common/commands.hpp"
#include "common/output.hpp"
#include "morton/error.hpp"

namespace morton::cli {
namespace {

/// morton-serve, beside this program as it was built or installed; empty where there is none.
std::string server_program() {
  std::error_code status;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", status).parent_path();
  for (const char* place : {"libexec", "../libexec"}) {
    const auto program = folder / place / "morton" / "morton-serve";
    if (::access(program.c_str(), X_OK) == 0) return program.string();
  }
  return "";
}

constexpr const char* kMissing =
    "morton-serve is not installed; the package morton-serve has it, and a build with Boost 1.81, "
    "OpenSSL, simdjson and prometheus-cpp (docs/serving.md)";

}  // namespace

void add_serve(CLI::App& app) {
  app.add_subcommand("serve", "Answer requests by HTTP and gRPC (KServe's protocol, version 2)");
}

int run_serve(std::vector<std::string> words) {
  const std::string program = server_program();
  if (program.empty()) {
    if (std::ranges::find(words, "--help") == words.end()) {
      throw UnsupportedError(std::string("serve: ") + kMissing);
    }
    emit(std::string("Usage: morton serve [OPTIONS] MODELS...\n\n") + kMissing + ".\n", "");
    return 0;
  }
  words.insert(words.begin(), program);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  throw UsageError("serve: " + program + " cannot be started: " + std::strerror(errno));
}

}  // namespace morton::cli
