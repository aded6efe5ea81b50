// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "layout/arrangement.hpp"
#include "problems/problem.hpp"

namespace morton::source {

/// One operand (or side operand) of a kernel instance: where its tensor lies, and how the operand's
/// coordinates lead there.
struct InstanceOperand {
  std::string name;  ///< the role ("lhs"), or "side1", "side2", ...
  Arrangement arrangement;
  View view;
  enum class Access : std::uint8_t {
    by_hand,    ///< the kernel indexes the memory itself, in the layout that its entry states
    generated,  ///< through LOAD_<name> and STORE_<name>
  } access = Access::generated;
  enum class Direction : std::uint8_t { read, write } direction = Direction::read;
};

/// Everything that the text of a kernel depends on. Extents do not: they are arguments, as is the
/// structure that the entry lists among its arguments.
struct InstanceSpec {
  const Entry* entry = nullptr;
  Environment tunables;
  Problem problem;
  std::vector<InstanceOperand> operands;  ///< in the family's order
  std::vector<InstanceOperand> sides;     ///< `view` is of dst's tensor coordinates t0, t1, ...
  std::vector<std::int64_t> local;        ///< work-group size
  bool in_place = false;                  ///< dst is the memory of an operand or side operand
  /// Accessors count in bytes of 32 bits where the operand has fewer than 4 GiB. GPUs have
  /// addresses of 64 bits and no instruction that makes one of an index: it takes a Mali five of
  /// its slowest unit, and one of bytes. Compilers for CPUs know more of indices.
  bool has_byte_addresses = false;
};

/// An argument of the generated kernel, in order.
struct InstanceArgument {
  enum class Kind : std::uint8_t { operand, integer } kind = Kind::integer;
  std::string name;  ///< of the operand or side, or of the size
  std::string type;  ///< as a variable has it: "__global const float*", "int"
  int member = 0;    ///< of a joined or stacked kernel (source/joined.hpp): whose argument it is
};

/// A kernel's text, ready to be joined with others into a program.
struct InstanceSource {
  std::string function;  ///< unique for each instance, so that several share a program
  std::string text;
  std::string key;  ///< digest of all that the text depends on
  std::vector<InstanceArgument> arguments;
};

/// Writes an instance's OpenCL C: the definitions that docs/how_to/add_a_kernel.md lists, then the
/// entry's own text. A pure function. Throws ModelError when the entry's text asks for what it did
/// not declare.
[[nodiscard]] InstanceSource generate(const InstanceSpec& spec);

/// The same as a function that the kernel `caller` of the same program calls for each of its
/// work-groups. Behind the arguments it takes the work-group's place in the first two dimensions
/// and how many there are, four integers.
[[nodiscard]] InstanceSource generate_part(const InstanceSpec& spec, const std::string& caller);

/// The same for `copies` launches in one, whose work-groups have the copy's number in the third
/// dimension: the launches are of the same size, and their integer arguments are the same. Operands
/// come once for each copy, with `member` its number, behind each other. The entry is one that
/// can_stack (source/joined.hpp).
[[nodiscard]] InstanceSource generate_stacked(const InstanceSpec& spec, int copies);

/// The value of every integer argument that `generate` may ask for: the problem's extents, padded
/// extents ("M_pad"), sizes of the operands' memory, and "elements_dst".
[[nodiscard]] MORTON_FOR_TOOLS Environment argument_values(const InstanceSpec& spec);

/// Of a problem of a family of any rank: "part_columns", the extent of its last dimension, and
/// "part_rows", the product of those before it. Of others nothing.
void add_part_sizes(const Problem& problem, Environment& values);

/// `values` of the dimensions that the entry aligns or tiles, as "M_pad" -> padded extent.
[[nodiscard]] Environment padded_extents(const Entry& entry, const Problem& problem,
                                         const Environment& tunables);

}  // namespace morton::source
