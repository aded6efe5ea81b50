// SPDX-License-Identifier: Apache-2.0
#include "base/environment_variables.hpp"

#include <array>
#include <cstdlib>

#include "base/error.hpp"

namespace morton {
namespace {

constexpr std::array<EnvironmentVariable, 14> kVariables{{
    {"MORTON_DEVICE", "device to use when none is named: P:D, cpu, gpu, auto, a name", "0:0"},
    {"MORTON_CACHE_DIR", "folder of the program cache, instead of $XDG_CACHE_HOME/morton",
     "/var/cache/morton"},
    {"MORTON_KERNEL_DIR", "folder to read kernels and entries from, instead of those built in",
     "src/kernels"},
    {"MORTON_CLBLAST_PARAMETERS",
     "file of CLBlast's parameters, as bench/clblast_tune.py writes it, for plans that call it",
     "clblast.json"},
    {"MORTON_BACKGROUND",
     "on (the default) or off: whether a process behind an answer at once builds kernels for later "
     "starts",
     "off"},
    {"MORTON_MODEL_MEMORY",
     "MiB that what describes a model's graph may take while it is read, instead of 8 times its "
     "file",
     "4096"},
    {"MORTON_ANSWER_LIMIT",
     "seconds that the host waits for a device before it gives a session up with an error; without "
     "it, for ever",
     "30"},
    {"MORTON_VERIFY_KEY",
     "file of public keys, one of which must have signed each compiled file that is loaded",
     "/etc/morton/fleet.pub"},
    {"MORTON_MEMORY_LIMIT",
     "bytes that device memory of the process may take, on all devices together", "67108864"},
    {"MORTON_SLOW_WRITES",
     "milliseconds to wait before each piece of a file that is written, for tests", "5"},
    {"XDG_CACHE_HOME", "folder of user caches, for the program cache", "$HOME/.cache"},
    {"HOME", "home folder, for the program cache where XDG_CACHE_HOME is unset", "~"},
    {"OMPI_COMM_WORLD_SIZE",
     "set by Open MPI's mpirun: how many processes it started, which a training takes for ranks",
     "4"},
    {"NO_COLOR", "set to anything: no colours on the terminal", "1"},
}};

}  // namespace

std::span<const EnvironmentVariable> environment_variables() { return kVariables; }

std::optional<std::string> environment_variable(std::string_view name) {
  for (const auto& entry : kVariables) {
    if (entry.name != name) continue;
    const char* value = std::getenv(std::string(name).c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  }
  throw InternalError("environment_variables: '" + std::string(name) + "' is not in the table");
}

}  // namespace morton
