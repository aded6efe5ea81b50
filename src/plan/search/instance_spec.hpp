// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "plan/search/candidates.hpp"
#include "source/instance.hpp"

namespace morton::plan {

/// A side operand as a kernel finds it.
struct SpecSide {
  Arrangement arrangement;
  bool is_constant = false;  ///< its shape is the model's and does not change with the inputs'
};

/// Where a kernel's operands lie.
struct SpecPlaces {
  std::map<std::string, Arrangement> operands;  ///< by role
  std::vector<SpecSide> sides;
};

/// What kernels call a side operand, the first of which has index 0: "side1".
[[nodiscard]] std::string side_name(std::size_t index);

/// The instance that computes the choice on the device with operands in these places: all of it but
/// `local` and `in_place`.
[[nodiscard]] InstanceSpec instance_spec(const KernelChoice& choice, const SpecPlaces& places,
                                         const DeviceInfo& device);

}  // namespace morton::plan
