// SPDX-License-Identifier: Apache-2.0
#include "common/machine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "common/log.hpp"

namespace morton::cli {
namespace {

/// PoCL asks hwloc for cores and memory and aborts the process when it learns nothing, as in a root
/// without /sys. Then the system's own figures are handed to it.
void describe_machine() {
  if (std::filesystem::exists("/sys/devices/system/cpu")) return;
  for (const char* name : {"HWLOC_SYNTHETIC", "HWLOC_XMLFILE", "HWLOC_FSROOT"}) {
    if (std::getenv(name) != nullptr) return;
  }
  const std::int64_t bytes =
      static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  const std::string machine = fmt::format("numa:1(memory={}) core:{} pu:1", bytes,
                                          std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  setenv("HWLOC_SYNTHETIC", machine.c_str(), 0);
  log::info("/sys is not mounted; PoCL is told of the machine as {}", machine);
}

}  // namespace

void prepare_drivers() {
  // PoCL's threads stay on their cores: without that, kernels that follow a pause run at half
  // speed. And it installs no handler for integer division by zero, which our kernels do not do:
  // with it, PoCL 3.1 leaves an empty file in its cache at every start.
  setenv("POCL_AFFINITY", "1", 0);
  setenv("POCL_SIGFPE_HANDLER", "0", 0);
  describe_machine();
}

}  // namespace morton::cli
