// SPDX-License-Identifier: Apache-2.0
#include "source/memory_order.hpp"

#include "base/error.hpp"
#include "source/accessor.hpp"

namespace morton::source {
namespace {

class Decoder {
 public:
  explicit Decoder(const InstanceOperand& operand) : operand_(operand) {
    tensor_.resize(operand.arrangement.tensor_shape.size());
  }

  MemoryOrder run() {
    decode_groups();
    if (*operand_.view.grouping == operand_.arrangement.grouping) {
      // The groups are the operand's own dimensions.
      for (std::size_t d = 0; d < groups_.size(); ++d) {
        declare(coordinate_name(operand_.view.dimensions[d]), groups_[d]);
        require(coordinate_name(operand_.view.dimensions[d]),
                Expression::variable(operand_.view.dimensions[d]));
      }
      return std::move(order_);
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) split(g);
    for (std::size_t d = 0; d < operand_.view.dimensions.size(); ++d) {
      declare(coordinate_name(operand_.view.dimensions[d]), joined((*operand_.view.grouping)[d]));
    }
    return std::move(order_);
  }

 private:
  void declare(const std::string& name, const Expression& value) {
    order_.coordinates.push_back({name, value});
  }

  void require(const std::string& name, const Expression& extent) {
    order_.bounds.push_back({name, extent});
  }

  void decode_groups() {
    std::vector<Expression> padded;
    for (std::size_t g = 0; g < operand_.arrangement.grouping.size(); ++g) {
      padded.push_back(padded_name(operand_.name, g));
    }
    groups_ =
        coordinate_expressions(operand_.arrangement.layout, Expression::variable("(e)"), padded);
  }

  /// Declares the coordinates of the tensor dimensions that group `g` joins. The outermost carries
  /// what lies beyond the tensor, so that its check catches all padding.
  void split(std::size_t g) {
    const std::string whole = "group" + std::to_string(g);
    declare(whole, groups_[g]);
    const auto& members = operand_.arrangement.grouping[g];
    if (members.empty()) require(whole, Expression(1));
    Expression below(1);
    for (std::size_t i = members.size(); i-- > 0;) {
      const auto t = static_cast<std::size_t>(members[i]);
      const Expression extent = tensor_extent_name(operand_.name, t);
      Expression coordinate = Expression::variable(whole) / below;
      if (i > 0) coordinate = coordinate % extent;
      const std::string name = "t" + std::to_string(t);
      declare(name, coordinate);
      tensor_[t] = Expression::variable(name);
      if (i == 0) require(name, extent);
      below = extent * below;
    }
  }

  Expression joined(const JoinedDimensions& members) const {
    Expression result(0);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto t = static_cast<std::size_t>(members[i]);
      result = i == 0 ? tensor_[t] : result * tensor_extent_name(operand_.name, t) + tensor_[t];
    }
    return result;
  }

  const InstanceOperand& operand_;
  std::vector<Expression> groups_;
  std::vector<Expression> tensor_;
  MemoryOrder order_;
};

}  // namespace

MemoryOrder memory_order(const InstanceOperand& operand) {
  if (operand.arrangement.pitch != 0) {
    throw InternalError("source: an arrangement with a pitch has no element order");
  }
  if (!operand.view.grouping) {
    throw InternalError("source: " + operand.view.print() + " gives no order to write in");
  }
  return Decoder(operand).run();
}

MemoryOrderText memory_order_text(const InstanceOperand& operand) {
  const MemoryOrder order = memory_order(operand);
  MemoryOrderText text;
  std::set<std::string> declared;
  for (const auto& [name, value] : order.coordinates) {
    for (const auto& size : value.variables()) {
      // "(e)" is the macro's parameter; names declared before are no sizes either.
      if (size.front() != '(' && !declared.contains(size)) text.sizes.insert(size);
    }
    text.declarations += " const int " + name + " = " + value.to_opencl() + ";";
    declared.insert(name);
  }
  for (const auto& [name, extent] : order.bounds) {
    text.inside += (text.inside.empty() ? "" : " && ") + name + " < " + extent.to_opencl();
    text.sizes.merge(extent.variables());
  }
  return text;
}

PartOrderText part_order(const View& view) {
  PartOrderText text;
  const auto& dimensions = view.dimensions;
  std::string below;
  for (std::size_t d = dimensions.size() - 1; d-- > 0;) {
    const std::string row = below.empty() ? "(row)" : "(row) / (" + below + ")";
    text.declarations += " const int " + coordinate_name(dimensions[d]) + " = " + row +
                         (d > 0 ? " % " + dimensions[d] : "") + ";";
    below += (below.empty() ? "" : " * ") + dimensions[d];
    if (d > 0) text.sizes.insert(dimensions[d]);
  }
  text.column = coordinate_name(dimensions.back());
  return text;
}

}  // namespace morton::source
