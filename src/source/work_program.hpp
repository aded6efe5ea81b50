// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/for_tools.hpp"
#include "base/rooms.hpp"
#include "source/instance.hpp"

namespace morton::source {

/// Instructions of a work program. A kernel's text knows each by its name, as CODE_<name>
/// (src/kernels/elementwise/program.cl).
///
/// A register holds a chunk of 32-bit words: reals, whole numbers, or truth values 0 and 1. "n" is
/// a number in the instruction.
enum class WorkCode : std::int32_t {
  element,      ///< the elements' numbers in dst's memory; those beyond it count as the last
  fill,         ///< the word n
  load_single,  ///< the first element of array n
  load_run,     ///< of array n, the elements with dst's numbers + n
  load_at,      ///< of array n, the elements whose numbers stand in a register
  whole_add,
  whole_subtract,
  whole_multiply,
  whole_divide,     ///< towards zero
  whole_remainder,  ///< what whole_divide leaves
  whole_add_n,
  whole_multiply_n,
  whole_divide_n,  ///< of what is not negative, by multiplication with n and a shift by n
  whole_min,
  whole_max,
  whole_equal,
  whole_less,
  whole_less_equal,
  to_real,   ///< of a truth value
  to_truth,  ///< of a real: whether it is not zero
  scalar,    ///< the first of the chain's operations, in the order of ScalarOp
};

/// Arrays that a work program can read: the operand, and side operands.
inline constexpr std::size_t kWorkArrays = 4;
/// Registers that a kernel has for one.
inline constexpr int kWorkRegisters = 24;

/// A constant that a kernel's text is given: the number of an instruction.
struct WorkCodeName {
  std::string name;
  std::int32_t code = 0;
};
/// Those of all instructions.
[[nodiscard]] std::vector<WorkCodeName> work_code_names();

/// Whether an entry that takes its work (Entry::takes_work) writes the elements of its problem,
/// which may be a part of dst, in place of all of dst's memory: it promises nothing of padding.
[[nodiscard]] bool writes_part_by_program(const Entry& entry);

/// Why no work program computes the problem, wherever its operands lie; nothing where one does.
[[nodiscard]] std::optional<std::string> why_no_program(const Problem& problem,
                                                        const std::vector<DType>& sides);

/// The words that tell a kernel of `spec`, which takes a program, what to compute: how many
/// elements; how many instructions run once, and how many for each chunk; the registers of the
/// result and of its places in dst, -1 where those are the elements' numbers; then the
/// instructions, five words each (code, result, and three registers or numbers). Throws
/// UnsupportedError where they need more registers than there are.
[[nodiscard]] MORTON_FOR_TOOLS std::vector<std::int32_t> work_program(const InstanceSpec& spec);

}  // namespace morton::source
