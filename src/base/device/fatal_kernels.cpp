// SPDX-License-Identifier: Apache-2.0
#include "base/device/fatal_kernels.hpp"

#include <algorithm>
#include <array>

namespace morton {
namespace {

struct FatalKernel {
  std::string_view quirk, kernel;
};

constexpr std::array<FatalKernel, 7> kFatalKernels{{
    {"intel-cpu-private-reads", "elementwise.program_items"},
    {"intel-cpu-private-reads", "pack.program_items"},
    {"intel-cpu-private-reads", "pack.program_part_items"},
    {"rusticl-llvmpipe-program-memory", "elementwise.program"},
    {"rusticl-llvmpipe-program-memory", "pack.program"},
    {"rusticl-llvmpipe-program-memory", "pack.program_part"},
    {"rusticl-llvmpipe-strides", "elementwise.strides"},
}};

}  // namespace

std::string_view fatal_quirk(const DeviceInfo& info, const std::string& kernel) {
  for (const FatalKernel& fatal : kFatalKernels) {
    if (fatal.kernel == kernel && std::ranges::count(info.quirks, fatal.quirk) != 0) {
      return fatal.quirk;
    }
  }
  return {};
}

}  // namespace morton
