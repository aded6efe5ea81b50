// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/algebra/typed_chain.hpp"
#include "base/rooms.hpp"
#include "source/accessor.hpp"
#include "source/instance.hpp"

namespace morton::source {

/// The number of a work-item's product in a batch.
inline constexpr const char* kBatch = "((int)get_global_id(2))";

/// Whether the operand's elements have the numbers of dst's, so that no coordinates are needed.
[[nodiscard]] bool lies_as(const InstanceOperand& operand, const InstanceOperand& dst);

/// The coordinates of an operand as a macro's body uses them, in parentheses.
[[nodiscard]] std::vector<Expression> parameters_of(const View& view, const Entry& entry);

/// Where the body of a kernel begins whose parameters are its ARGUMENTS.
inline constexpr std::string_view kBeginOfBody = "(ARGUMENTS) {";

/// Stands for the beginning of an instance's key until its text is whole.
inline constexpr std::string_view kMark = "0123mark3210";

/// `with` must not contain `what`.
void replace_all(std::string& text, std::string_view what, std::string_view with);

/// The sizes that an expression names: names in parentheses are macro parameters, and those of
/// coordinates are no sizes.
[[nodiscard]] std::set<std::string> sizes_in(const Expression& expression);

/// Writes an instance's text: collects definitions, remembers what to undefine after the kernel,
/// and which sizes are asked for.
class InstanceWriter {
 public:
  /// With a `caller` for a part of that kernel; for so many `copies` of the launch in one.
  InstanceWriter(const InstanceSpec& spec, std::string caller, int copies = 1)
      : spec_(spec),
        caller_(std::move(caller)),
        copies_(copies),
        any_rank_(spec.problem.family->has_any_rank()) {}

  InstanceSource write();

 private:
  void define(const std::string& name, const std::string& parameters, const std::string& body) {
    head_ << "#define " << name << parameters << " " << body << "\n";
    tail_ << "#undef " << name << "\n";
  }
  void need(const Expression& expression) { sizes_.merge(expression.variables()); }
  void define_constants();
  void define_operand(const InstanceOperand& operand);
  void define_scalar_access(const InstanceOperand& operand);
  bool define_together(const InstanceOperand& operand);
  void define_vector_access(const InstanceOperand& operand, const ElementPlace& place);
  /// The value of an element, OpenCL C.
  [[nodiscard]] std::string load_at(const InstanceOperand& operand, const std::string& array,
                                    const std::string& index) const;
  void define_memory_order(const InstanceOperand& dst);
  void define_part_order(const InstanceOperand& dst);
  /// How a copy takes an element of src and puts it into dst (source/element.hpp).
  void define_moves(const InstanceOperand& dst);
  void define_common_order(const InstanceOperand& dst);
  /// Reads of src0 and the side operands along the loops of dst's memory (source/loop_nest.hpp).
  void define_nest(const InstanceOperand& dst);
  /// Places of all operands along steps through dst's memory (source/walk.hpp). False where they
  /// take divisions; nothing but WALK_dst is defined then.
  bool define_walk(const InstanceOperand& dst);
  [[nodiscard]] bool has_lines(const InstanceOperand& dst) const;
  bool define_walk_of_pack(const InstanceOperand& dst);
  /// Likewise of what index holds, and of src at the place that it names.
  void define_nest_of_gather(const InstanceOperand& dst);
  /// Places in dst along the loops of src's memory.
  void define_nest_of_part(const InstanceOperand& dst);
  /// Whether the kernel asks for it, and all operands have dst's elements under dst's numbers.
  [[nodiscard]] bool lies_alike() const;
  void define_epilogue();
  void define_vector_epilogue(const TypedChain& chain, const std::string& scalar);
  [[nodiscard]] std::string side_vector(const InstanceOperand& side, int lanes,
                                        const std::string& function);
  [[nodiscard]] std::string side_by_lane(const InstanceOperand& side, int lanes,
                                         const std::string& function, bool at_edge);
  [[nodiscard]] std::size_t lane_dimension() const;
  void define_work();
  void define_pooled_map();
  [[nodiscard]] TypedChain typed_epilogue() const;
  [[nodiscard]] std::string inside_dst(const InstanceOperand& dst);
  void need_bounds(const InstanceOperand& operand);
  [[nodiscard]] DType accumulator() const;
  [[nodiscard]] StoredNumber stored_number() const;
  std::vector<InstanceArgument> define_arguments();
  std::vector<InstanceArgument> define_program_arguments();
  /// The operand as a parameter or variable of that name.
  [[nodiscard]] std::string parameter(const InstanceOperand& operand,
                                      const std::string& name) const;
  /// Of a stacked kernel: the operands, which are those of the copy that the work-group belongs to.
  [[nodiscard]] std::string operands_of_copy() const;
  [[nodiscard]] std::string variable_type(const InstanceOperand& operand) const;
  /// The operand's memory as a kernel argument. What a kernel indexes by hand in a batch is, under
  /// the operand's own name, its product's part of that.
  [[nodiscard]] std::string memory_name(const InstanceOperand& operand) const;
  [[nodiscard]] const InstanceOperand* find(const std::string& name) const;
  [[nodiscard]] bool is_part() const { return !caller_.empty(); }
  void define_structure(std::string& text) const;
  void name_by_code(InstanceSource& made) const;
  /// `name` with a mark in place of the part of the key that tells this text from all others of a
  /// program.
  [[nodiscard]] std::string unique(const std::string& name) const {
    return name + "_" + std::string(kMark) + (is_part() ? "_of_" + caller_ : "");
  }
  [[nodiscard]] std::string epilogue_name() const { return unique("epilogue"); }
  void define_place_in_caller();
  [[nodiscard]] std::string text_of_entry() const;
  /// Parameters of a macro that takes an operand's coordinates. In a family of any rank a kernel
  /// cannot name them: it passes COORDINATES, one argument that is ignored, and the body uses the
  /// variables that COORDINATES_OF_dst declared. (OpenCL C has no variadic macros.)
  [[nodiscard]] std::string macro_parameters(const View& view) const;

  const InstanceSpec& spec_;
  std::string caller_;
  int copies_;
  bool any_rank_;
  std::ostringstream head_;
  std::ostringstream tail_;
  std::set<std::string> sizes_;
};

}  // namespace morton::source
