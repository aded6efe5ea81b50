// SPDX-License-Identifier: Apache-2.0
#include "device/open/quirks.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace morton::device {
namespace {

constexpr std::string_view kPocl = "Portable Computing Language";

constexpr std::array<Quirk, 13> kQuirks{{
    {"pocl-armhf-fp16", kPocl, "", "gnueabihf", "", QuirkEffect::no_half,
     "cl_khr_fp16 is advertised, but fma and dot on half do not build and fmax, exp and select on "
     "half abort the process"},
    {"pocl-image2d-from-buffer", kPocl, "3.", "", "", QuirkEffect::no_image_from_buffer,
     "clCreateImage with a buffer returns CL_INVALID_OPERATION (-59) for 2-D images"},
    {"pocl-damaged-binary", kPocl, "", "", "", QuirkEffect::none,
     "a truncated program binary crashes the process, flipped bytes are accepted: only checked "
     "binaries may reach it"},
    {"pocl-one-build-at-a-time", kPocl, "", "", "", QuirkEffect::one_build_at_a_time,
     "a process compiles one kernel at a time, under a lock: worker processes compile instead"},
    {"pocl-binary-compiles-again", kPocl, "3.1", "", "", QuirkEffect::binary_compiles_again,
     "asking for a program's binary compiles each kernel a second time, for any work-group: the "
     "object of its launch is linked in that place first"},
    {"rusticl22-zero-event-times", "rusticl", "22.", "", "", QuirkEffect::no_event_times,
     "every profiling time of an event is 0"},
    {"rusticl-v3d-queue-profiling", "rusticl", "", "", "V3D ", QuirkEffect::no_event_times,
     "queues that profile are said to be there, and asking for one ends in "
     "CL_INVALID_QUEUE_PROPERTIES (26.0.3)"},
    {"rusticl-llvmpipe-program-memory", "rusticl", "", "", "llvmpipe", QuirkEffect::none,
     "the compiler takes over 20 GB for a switch over loops of vectors (25.0.7): no plan takes "
     "elementwise.program, pack.program and pack.program_part; their twins for work-items serve"},
    {"rusticl-llvmpipe-strides", "rusticl", "", "", "llvmpipe", QuirkEffect::none,
     "the compiler ends the process over some chains of elementwise.strides (25.0.7, LLVM 19): no "
     "plan takes it"},
    {"nvidia-context-death", "NVIDIA CUDA", "", "", "", QuirkEffect::none,
     "one misaligned or out-of-range access kills the context (-9999 at the wait); every later "
     "build in the process fails with an empty log"},
    {"nvidia-work-group-query", "NVIDIA CUDA", "", "", "", QuirkEffect::no_group_limit,
     "CL_KERNEL_WORK_GROUP_SIZE is 256, also of kernels compiled for work-groups of 512 and 1024, "
     "which are launched all the same (580.159.04)"},
    {kOverlappingSubBuffers, "NVIDIA CUDA", "", "", "", QuirkEffect::none,
     "releasing sub-buffers that overlap crashes the driver (580.159.04) once kernels used them, "
     "unless they are one and the same stretch; plans for such a device recycle whole places only"},
    {"intel-cpu-private-reads", "Intel(R) OpenCL", "2026.", "(Build 0)", "", QuirkEffect::none,
     "of a branch that no work-item takes, private memory is read all the same, at whatever index "
     "(2026.22.10): no plan takes elementwise.program_items, pack.program_items and "
     "pack.program_part_items, which end the process"},
}};

bool matches(const Quirk& quirk, const DeviceInfo& info) {
  return contains_ignoring_case(info.driver.platform, quirk.platform) &&
         info.driver.version.starts_with(quirk.driver) &&
         contains_ignoring_case(info.driver.device_version, quirk.device_version) &&
         info.name.starts_with(quirk.device);
}

}  // namespace

std::span<const Quirk> quirks() { return kQuirks; }

std::vector<std::string> quirks_of(const DeviceInfo& info) {
  std::vector<std::string> names;
  for (const Quirk& quirk : kQuirks) {
    if (matches(quirk, info)) names.emplace_back(quirk.name);
  }
  return names;
}

bool has_effect(const DeviceInfo& info, QuirkEffect effect) {
  return std::any_of(kQuirks.begin(), kQuirks.end(), [&](const Quirk& quirk) {
    return quirk.effect == effect &&
           std::find(info.quirks.begin(), info.quirks.end(), quirk.name) != info.quirks.end();
  });
}

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [&](char a, char b) { return lower(a) == lower(b); }) != text.end() ||
         part.empty();
}

}  // namespace morton::device
