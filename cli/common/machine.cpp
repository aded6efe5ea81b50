// SPDX-License-Identifier: Apache-2.0
#include "common/machine.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

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
  // speed. Where there are fewer threads than processors, those of several processes would all be
  // on the first ones. And it installs no handler for integer division by zero, which our kernels
  // do not do: with it, PoCL 3.1 leaves an empty file in its cache at every start.
  if (std::getenv("POCL_MAX_PTHREAD_COUNT") == nullptr) setenv("POCL_AFFINITY", "1", 0);
  setenv("POCL_SIGFPE_HANDLER", "0", 0);
  describe_machine();
}

std::string shipped_file(const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code problem;
  const fs::path program = fs::read_symlink("/proc/self/exe", problem);
  if (problem) return name;
  const fs::path above = program.parent_path().parent_path();
  for (const fs::path& folder : {above / "share" / "morton", above}) {
    if (!fs::exists(folder / name, problem)) continue;
    // People see the name in commands that are printed: the short one, where it is the same.
    return fs::equivalent(folder / name, name, problem) ? name : (folder / name).string();
  }
  return name;
}

}  // namespace morton::cli
