// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "source/instance.hpp"

namespace morton {

/// Text of the index (in elements) of an operand's element, as a function of the operand's
/// coordinates, and the sizes that it needs as arguments.
struct IndexText {
  Expression index;
  /// Condition that the element lies in the tensor; empty when it always does.
  std::string inside;
};

/// Names of the sizes of an operand's memory, as kernel arguments.
[[nodiscard]] Expression padded_name(const std::string& operand, std::size_t dimension);
[[nodiscard]] Expression tensor_extent_name(const std::string& operand, std::size_t dimension);
[[nodiscard]] Expression pitch_name(const std::string& operand);
/// Elements from one product's operand to the next in a batch.
[[nodiscard]] Expression batch_stride_name(const std::string& operand);

/// The index of the element whose tensor coordinates are given.
[[nodiscard]] Expression index_of_tensor_element(const InstanceOperand& operand,
                                                 const std::vector<Expression>& tensor_coordinates);

/// The index of the element at the operand's coordinates `coordinates` (texts of macro parameters
/// or variables, one for each dimension of the view).
[[nodiscard]] IndexText index_of(const InstanceOperand& operand,
                                 const std::vector<Expression>& coordinates);

/// Whether four neighbours along the operand's last dimension, the first at a multiple of four,
/// follow each other in memory.
[[nodiscard]] bool quads_lie_together(const InstanceOperand& operand);

/// Describes what the operand's access depends on, for the instance's key: never extents.
[[nodiscard]] std::string describe_access(const InstanceOperand& operand);

}  // namespace morton
