// SPDX-License-Identifier: Apache-2.0
#include "device/open/refused_kernels.hpp"

#include "device/open/quirks.hpp"

namespace morton::device {
namespace {

/// Drivers count some of their own: NVIDIA's 128 bytes of a kernel that takes all there is.
constexpr std::int64_t kOfTheDriver = 1024;

}  // namespace

void require_launchable(const cl::Kernel& kernel, const std::array<std::int64_t, 3>& local,
                        const std::string& function, const OpenClDevice& device) {
  const DeviceInfo& info = device.info();
  const auto refuse = [&](const std::string& why) {
    throw RefusedKernels("kernel " + function + ": " + info.name + " " + why, {function});
  };
  const auto most = static_cast<std::int64_t>(
      kernel.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device.device()));
  const std::int64_t needed = local[0] * local[1] * local[2];
  if (most > 0 && needed > most && !has_effect(info, QuirkEffect::no_group_limit)) {
    refuse("launches work-groups of at most " + std::to_string(most) +
           " work-items of it, and it needs " + std::to_string(needed));
  }
  const auto bytes =
      static_cast<std::int64_t>(kernel.getWorkGroupInfo<CL_KERNEL_LOCAL_MEM_SIZE>(device.device()));
  const std::int64_t limit = local_memory_limit(info);
  if (limit > 0 && bytes > limit + kOfTheDriver) {
    refuse("has " + std::to_string(limit) + " bytes of local memory, and it needs " +
           std::to_string(bytes));
  }
}

}  // namespace morton::device
