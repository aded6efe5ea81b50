// SPDX-License-Identifier: Apache-2.0
#include "source/work_program.hpp"

#include <algorithm>
#include <array>

#include "base/algebra/typed_chain.hpp"
#include "base/error.hpp"
#include "source/accessor.hpp"
#include "source/instance_writer.hpp"
#include "source/memory_order.hpp"
#include "source/work_nodes.hpp"
#include "source/work_registers.hpp"

namespace morton::source {
namespace {

constexpr std::array kWholeCodes{
    "element",         "fill",           "load_single",
    "load_run",        "load_at",        "whole_add",
    "whole_subtract",  "whole_multiply", "whole_divide",
    "whole_remainder", "whole_add_n",    "whole_multiply_n",
    "whole_divide_n",  "whole_min",      "whole_max",
    "whole_equal",     "whole_less",     "whole_less_equal",
    "to_real",         "to_truth",
};
static_assert(kWholeCodes.size() == static_cast<std::size_t>(WorkCode::scalar));

/// Operations that kernels of work programs know. Others are rare in networks, and would only make
/// those kernels longer to compile.
constexpr std::array kKnown{
    ScalarOp::add,         ScalarOp::sub,        ScalarOp::mul,         ScalarOp::div,
    ScalarOp::pow,         ScalarOp::min,        ScalarOp::max,         ScalarOp::neg,
    ScalarOp::abs,         ScalarOp::sign,       ScalarOp::floor,       ScalarOp::ceil,
    ScalarOp::trunc,       ScalarOp::round,      ScalarOp::exp,         ScalarOp::log,
    ScalarOp::sqrt,        ScalarOp::sin,        ScalarOp::cos,         ScalarOp::tanh,
    ScalarOp::erf,         ScalarOp::equal,      ScalarOp::less,        ScalarOp::less_equal,
    ScalarOp::logical_and, ScalarOp::logical_or, ScalarOp::logical_xor, ScalarOp::logical_not,
    ScalarOp::is_nan,      ScalarOp::is_inf,     ScalarOp::select,
};

bool is_truth_or_real(DType type) { return type == DType::f32 || type == DType::boolean; }

/// Writes the program of one instance.
class ProgramWriter {
 public:
  explicit ProgramWriter(const InstanceSpec& spec)
      : spec_(spec), sizes_(argument_values(spec)), dst_(operand("dst")) {}

  std::vector<std::int32_t> write() {
    const bool packs = spec_.problem.family == families::pack;
    if (dst_.view.grouping) {
      find_coordinates();
    } else {
      find_part();
    }
    const WorkNodeId value = packs ? loaded(operand("src"), 0) : chain();
    result_.value = nodes_.select(inside_, value, nodes_.real(0.0));
    return with_registers(nodes_, result_);
  }

 private:
  [[nodiscard]] const InstanceOperand& operand(const std::string& name) const {
    return *std::ranges::find(spec_.operands, name, &InstanceOperand::name);
  }

  /// The coordinates of the problem's elements, row-major, and where each lies in dst.
  void find_part() {
    const auto& dimensions = dst_.view.dimensions;
    result_.elements = 1;
    for (const auto& dimension : dimensions) result_.elements *= sizes_.find(dimension)->second;
    inside_ = nodes_.whole(1);
    WorkNodeId rest = nodes_.element(result_.elements);
    named_.emplace("(e)", rest);
    std::vector<Expression> coordinates;
    for (std::size_t d = dimensions.size(); d-- > 0;) {
      const WorkNodeId extent = nodes_.whole(sizes_.find(dimensions[d])->second);
      named_.emplace(coordinate_name(dimensions[d]), nodes_.remainder(rest, extent));
      rest = nodes_.divide(rest, extent);
    }
    for (const auto& dimension : dimensions) {
      coordinates.push_back(Expression::variable(coordinate_name(dimension)));
    }
    result_.place = nodes_.of(index_of(dst_, coordinates).index, named_, sizes_);
  }

  /// The coordinates of dst's elements in the order of its memory.
  void find_coordinates() {
    result_.elements = elements_of(dst_.arrangement);
    const WorkNodeId element = nodes_.element(result_.elements);
    inside_ = nodes_.whole(1);
    named_.emplace("(e)", element);
    const MemoryOrder order = memory_order(dst_);
    for (const auto& [name, value] : order.coordinates) {
      named_.insert_or_assign(name, nodes_.of(value, named_, sizes_));
    }
    for (const auto& [name, extent] : order.bounds) {
      inside_ =
          nodes_.both(inside_, nodes_.less(named_.at(name), nodes_.of(extent, named_, sizes_)));
    }
  }

  /// An operand's elements that belong to dst's.
  WorkNodeId loaded(const InstanceOperand& from, std::size_t array) {
    if (dst_.view.grouping && lies_as(from, dst_) && !from.view.bounded &&
        from.view.grouping == dst_.view.grouping) {
      return read(from, array, named_.at("(e)"), inside_);  // dst may have more padding
    }
    std::vector<Expression> coordinates;
    for (const auto& dimension : from.view.dimensions) {
      coordinates.push_back(Expression::variable(coordinate_name(dimension)));
    }
    const IndexText text = index_of(from, coordinates);
    const WorkNodeId index = nodes_.of(text.index, named_, sizes_);
    if (!from.view.bounded) return read(from, array, index, inside_);
    WorkNodeId within = inside_;
    const WorkNodeId zero = nodes_.whole(0);
    for (std::size_t t = 0; t < text.tensor_coordinates.size(); ++t) {
      const WorkNodeId at = nodes_.of(text.tensor_coordinates[t], named_, sizes_);
      const WorkNodeId extent = nodes_.whole(from.arrangement.tensor_shape[t]);
      within = nodes_.both(within, nodes_.less_equal(zero, at));
      within = nodes_.both(within, nodes_.less(at, extent));
    }
    return nodes_.select(within, read(from, array, index, within), outside_of(from));
  }

  /// What a view has where its tensor has nothing.
  WorkNodeId outside_of(const InstanceOperand& from) {
    const double outside = from.view.outside;
    const bool is_real = from.arrangement.dtype == DType::f32;
    return is_real ? nodes_.real(outside) : nodes_.whole(static_cast<std::int64_t>(outside));
  }

  /// The element at an index; the first one where the condition does not hold.
  WorkNodeId read(const InstanceOperand& from, std::size_t array, WorkNodeId index,
                  WorkNodeId condition) {
    const std::int64_t elements = elements_of(from.arrangement);
    const WorkNode& node = nodes_.at(index);
    const bool safe = node.least >= 0 && node.most < elements;
    if (!safe) index = nodes_.select(condition, index, nodes_.whole(0));
    return nodes_.load(array, index, elements == 1);
  }

  WorkNodeId side(std::size_t number) {
    const InstanceOperand& from = spec_.sides[number];
    if (lies_as(from, dst_) && follows_dst(from)) {
      return read(from, number + 1, named_.at("(e)"), inside_);
    }
    std::vector<Expression> coordinates;
    for (const auto& dimension : dst_.view.dimensions) {
      coordinates.push_back(Expression::variable(coordinate_name(dimension)));
    }
    const SideIndex index = index_of_side(from, dst_.view, coordinates);
    return read(from, number + 1, nodes_.of(index.start + index.within, named_, sizes_), inside_);
  }

  /// Whether the side's element is that of dst's at the same coordinates.
  [[nodiscard]] bool follows_dst(const InstanceOperand& from) const {
    const auto& coordinates = from.view.coordinates;
    for (std::size_t t = 0; t < coordinates.size(); ++t) {
      if (!(coordinates[t] == Expression::variable("t" + std::to_string(t)))) return false;
    }
    return coordinates.size() == dst_.arrangement.tensor_shape.size();
  }

  WorkNodeId chain() {
    const Chain& chain = spec_.problem.epilogue;
    std::vector<DType> types{operand("src0").arrangement.dtype};
    for (const auto& from : spec_.sides) types.push_back(from.arrangement.dtype);
    const TypedChain typed(chain, std::move(types));
    const WorkNodeId first = loaded(operand("src0"), 0);
    std::vector<WorkNodeId> steps;
    const auto value_of = [&](const ScalarRef& ref, DType type) {
      if (ref.kind == ScalarRef::Kind::step) return steps[ref.place()];
      if (ref.kind == ScalarRef::Kind::input) {
        return ref.index == 0 ? first : side(ref.place() - 1);
      }
      return type == DType::boolean ? nodes_.whole(ref.value != 0.0 ? 1 : 0)
                                    : nodes_.real(ref.value);
    };
    for (std::size_t i = 0; i < chain.steps.size(); ++i) {
      std::vector<WorkNodeId> values;
      for (std::size_t a = 0; a < chain.steps[i].arguments.size(); ++a) {
        values.push_back(value_of(chain.steps[i].arguments[a], typed.argument_type(i, a)));
      }
      steps.push_back(step(chain.steps[i], typed.argument_type(i, 0), std::move(values)));
    }
    return value_of(chain.result, typed.result_type());
  }

  WorkNodeId step(const ScalarStep& step, DType type, std::vector<WorkNodeId> values) {
    if (step.op != ScalarOp::cast) return nodes_.scalar(step.op, std::move(values));
    if (step.target == type) return values[0];
    return nodes_.converted(step.target == DType::boolean ? WorkCode::to_truth : WorkCode::to_real,
                            values[0]);
  }

  const InstanceSpec& spec_;
  Environment sizes_;
  const InstanceOperand& dst_;
  WorkNodes nodes_;
  std::map<std::string, WorkNodeId> named_;  ///< coordinates of dst's elements
  WorkNodeId inside_;                        ///< whether dst has an element there
  WorkResult result_;
};

}  // namespace

std::vector<WorkCodeName> work_code_names() {
  std::vector<WorkCodeName> names;
  std::int32_t code = 0;
  for (const char* name : kWholeCodes) names.push_back({name, code++});
  for (const ScalarOp op : kKnown) {
    const auto place = static_cast<std::int32_t>(op);
    names.push_back({std::string(facts_of(op).name), code + place});
  }
  return names;
}

bool writes_part_by_program(const Entry& entry) {
  return entry.takes_work() && entry.operands.at("dst").padding == PaddingContents::undefined;
}

std::optional<std::string> why_no_program(const Problem& problem, const std::vector<DType>& sides) {
  if (sides.size() >= kWorkArrays) {
    return "it reads " + std::to_string(kWorkArrays - 1) + " side operands, not " +
           std::to_string(sides.size());
  }
  if (problem.family == families::pack) return std::nullopt;
  for (const DType type : sides) {
    if (type != DType::f32) return "its side operands are f32, not " + std::string(name_of(type));
  }
  const Chain& chain = problem.epilogue;
  std::vector<DType> types{problem.types.at("src0")};
  types.insert(types.end(), sides.begin(), sides.end());
  const TypedChain typed(chain, std::move(types));
  for (std::size_t i = 0; i < chain.steps.size(); ++i) {
    const ScalarOp op = chain.steps[i].op;
    const bool known = std::ranges::count(kKnown, op) > 0 || op == ScalarOp::cast;
    if (!known) return "it knows no " + std::string(facts_of(op).name);
    if (!is_truth_or_real(typed.step_type(i)) || !is_truth_or_real(typed.argument_type(i, 0))) {
      return "it computes with f32 and truth values alone";
    }
  }
  const int registers = registers_of(chain);
  if (registers > kWorkRegisters) {
    return "it has " + std::to_string(kWorkRegisters) + " registers, not the " +
           std::to_string(registers) + " that this takes";
  }
  return std::nullopt;
}

std::vector<std::int32_t> work_program(const InstanceSpec& spec) {
  return ProgramWriter(spec).write();
}

}  // namespace morton::source
