// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/device/device_info.hpp"
#include "base/for_tools.hpp"
#include "base/rooms.hpp"

namespace morton::device {

/// What a driver bug takes away from a device's facts.
enum class QuirkEffect : std::uint8_t {
  none,                   ///< known and lived with elsewhere; named so that reports can say it
  no_half,                ///< half arithmetic is not to be used, whatever the extensions say
  no_image_from_buffer,   ///< image2d from a buffer is not to be tried
  no_event_times,         ///< events carry no device times; wall time must do
  one_build_at_a_time,    ///< a process builds one program after the other: worker processes build
  binary_compiles_again,  ///< asking for a binary compiles its kernels for any work-group
  no_group_limit,         ///< the most work-items that a kernel allows are not known
};

/// A driver bug as data. A pattern that is empty matches everything; the others must be part of the
/// field, in any case of letters, but for `driver` and `device`, which must begin theirs.
struct Quirk {
  std::string_view name;
  std::string_view platform;        ///< part of DeviceInfo::Driver::platform
  std::string_view driver;          ///< start of DeviceInfo::Driver::version
  std::string_view device_version;  ///< part of DeviceInfo::Driver::device_version
  std::string_view device;          ///< start of DeviceInfo::name
  QuirkEffect effect;
  std::string_view symptom;
};

/// All bugs known.
[[nodiscard]] std::span<const Quirk> quirks();
/// Names of those that the device's platform, driver, version and name match, in the table's order.
[[nodiscard]] std::vector<std::string> quirks_of(const DeviceInfo& info);
/// Whether one of info.quirks has this effect. Names that are not in the table have none.
[[nodiscard]] bool has_effect(const DeviceInfo& info, QuirkEffect effect);
/// Whether `part` occurs in `text`, letters compared without case.
[[nodiscard]] MORTON_FOR_TOOLS bool contains_ignoring_case(std::string_view text,
                                                           std::string_view part);

}  // namespace morton::device
