// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/device/device_info.hpp"
#include "plan/ir/plan.hpp"
#include "source/instance.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// What the plan needs and the device has not, a line each: what plans are verified for
/// (plan/ir/verify.hpp), memory in all, images and their sizes, bytes of arguments.
[[nodiscard]] std::vector<std::string> needs_beyond(const Plan& plan, const DeviceInfo& device);

/// What clang makes of a kernel's text, compiled with the device's extensions and no others.
struct CompiledText {
  std::string errors;            ///< as the compiler prints them; empty where there are none
  std::int64_t local_bytes = 0;  ///< that the text's variables take
  bool has_long = false;         ///< whole numbers of 64 bits occur
};

/// Throws std::runtime_error where there is no clang-14 (has_clang), or where a variable in local
/// memory is of a type whose size is not known here.
[[nodiscard]] CompiledText compiled_text(const InstanceSource& kernel, const DeviceInfo& device);
[[nodiscard]] bool has_clang();

/// What the plan's texts need and the device has not, a line each: extensions, and local memory as
/// clang counts it.
[[nodiscard]] std::vector<std::string> texts_beyond(const Plan& plan, const DeviceInfo& device);
/// Kernels that compute with whole numbers of 64 bits where the device has none. OpenCL leaves them
/// out of its embedded profile.
[[nodiscard]] std::vector<std::string> kernels_with_long(const Plan& plan,
                                                         const DeviceInfo& device);

}  // namespace morton::test
