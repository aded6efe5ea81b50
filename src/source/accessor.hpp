// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "source/element.hpp"
#include "source/instance.hpp"

namespace morton::source {

/// Text of the index (in elements) of an operand's element, as a function of the operand's
/// coordinates, and the sizes that it needs as arguments.
struct IndexText {
  Expression index;
  /// Condition that the element lies in the tensor; empty when it always does.
  std::string inside;
  /// Where the operand's view is bounded, what must lie in the tensor.
  std::vector<Expression> tensor_coordinates;
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

/// An index in two parts, which a kernel adds to the pointer one after the other: neighbours in a
/// tile differ in `within` alone, which a compiler sees only where no sum hides it.
struct SideIndex {
  Expression start;  ///< of the tile; 0 where the layout's innermost loop is a whole dimension
  Expression within;
};

/// The index of the side operand's element that belongs to dst's element at `coordinates`, those of
/// the view `dst`. Where the side lies in dst's own dimensions it is a product and a sum, so that
/// neighbours of dst find neighbours.
[[nodiscard]] SideIndex index_of_side(const InstanceOperand& side, const View& dst,
                                      const std::vector<Expression>& coordinates);

/// Whether `count` neighbours along the operand's last dimension, the first at a multiple of
/// `count`, follow each other in memory.
[[nodiscard]] bool lie_together(const InstanceOperand& operand, std::int64_t count);

/// Whether each element along the operand's last dimension lies behind the one before, by whatever
/// distance: it is row-major memory, and the dimension joins some of the tensor's in their order (N
/// is n, oh, ow). Four of them then lie together exactly where the last is three behind the first.
[[nodiscard]] bool lies_in_order(const InstanceOperand& operand);

/// Element `index` of the array `array`, both OpenCL C.
struct ElementPlace {
  std::string array, index;
};

/// The place of the element with this index of the operand, whose memory the text `array` points
/// to. `counts_bytes`: see InstanceSpec.
[[nodiscard]] ElementPlace place_of(const InstanceOperand& operand, const std::string& array,
                                    const std::string& index, bool counts_bytes);

/// Four floats that may begin at any float: what Mesa's compilers store at once, unlike vstore4.
inline constexpr std::string_view kFloat4 = "morton_float4";

/// How STORE4_<name> may be written.
struct FourStores {
  bool has_test = false;   ///< the kernel stores four where TOGETHER4_<name> says so
  bool as_a_type = false;  ///< kFloat4 is defined
};

/// Of an operand that is written STORE4_<name> and STORE_VECTOR_<name>, of one that is read
/// LOAD_VECTOR_<name>: neighbours along its last dimension as a vector, in one access where they
/// lie together, else one by one. `place` is that of the first of them, `coordinates` the
/// parameters of the operand's scalar macro, which these call; `lanes` the numbers of a vector, 0
/// of a kernel that has none.
[[nodiscard]] std::vector<MacroText> vector_macros(const InstanceOperand& operand,
                                                   const ElementPlace& place,
                                                   const std::string& coordinates, int lanes,
                                                   FourStores stores);

}  // namespace morton::source
