// SPDX-License-Identifier: Apache-2.0
#include "source/work_nodes.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"

namespace morton::source {
namespace {

constexpr std::int64_t kLeastWhole = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t kMostWhole = std::numeric_limits<std::int32_t>::max();

/// The node with what it lies between, as far as 32 bits tell.
WorkNode between(WorkNode node, std::int64_t least, std::int64_t most) {
  node.least = std::max(least, kLeastWhole);
  node.most = std::min(most, kMostWhole);
  return node;
}

std::int32_t word_of(float value) { return std::bit_cast<std::int32_t>(value); }

/// n for whole_divide_n: x / divisor is the high word of x * factor, shifted by `shift`, for any x
/// of 31 bits (T. Granlund and P. Montgomery, Division by invariant integers using multiplication,
/// 1994). The divisor is 2 at least.
struct Reciprocal {
  std::uint32_t factor;
  std::int32_t shift;
};

Reciprocal reciprocal(std::int64_t divisor) {
  const auto wide = static_cast<std::uint64_t>(divisor);
  const int bits = static_cast<int>(std::bit_width(wide - 1));
  const std::uint64_t power = std::uint64_t{1} << (31 + bits);
  return {static_cast<std::uint32_t>((power + wide - 1) / wide), bits - 1};
}

}  // namespace

WorkNodeId WorkNodes::make(WorkNode node) {
  const Key key{node.code, node.values, node.numbers};
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  const WorkNodeId id = nodes_.add(std::move(node));
  known_.emplace(key, id);
  return id;
}

bool WorkNodes::is_number(WorkNodeId id, std::int64_t& value) const {
  const WorkNode& node = nodes_[id];
  value = node.numbers[0];
  return node.code == WorkCode::fill && node.least == node.most;
}

WorkNodeId WorkNodes::element(std::int64_t elements) {
  return make(between({WorkCode::element, {}, {}}, 0, elements - 1));
}

WorkNodeId WorkNodes::whole(std::int64_t value) {
  if (value < kLeastWhole || value > kMostWhole) {
    throw UnsupportedError("plan: the number " + std::to_string(value) + " does not fit 32 bits");
  }
  return make(between({WorkCode::fill, {}, {static_cast<std::int32_t>(value), 0}}, value, value));
}

WorkNodeId WorkNodes::real(double value) {
  // The second number tells a real from the whole number of the same bits.
  return make({WorkCode::fill, {}, {word_of(static_cast<float>(value)), 1}});
}

WorkNodeId WorkNodes::load(std::size_t array, WorkNodeId index, bool is_single) {
  const auto from = static_cast<std::int32_t>(array);
  if (is_single) return make({WorkCode::load_single, {}, {from, 0}});
  const WorkNode& node = nodes_[index];
  if (node.code == WorkCode::element) return make({WorkCode::load_run, {}, {from, 0}});
  const bool moved =
      node.code == WorkCode::whole_add_n && nodes_[node.values[0]].code == WorkCode::element;
  if (moved) return make({WorkCode::load_run, {}, {from, node.numbers[0]}});
  return make({WorkCode::load_at, {index}, {from, 0}});
}

WorkNodeId WorkNodes::scalar(ScalarOp op, std::vector<WorkNodeId> values) {
  const auto code = static_cast<std::int32_t>(WorkCode::scalar) + static_cast<std::int32_t>(op);
  WorkNode node{static_cast<WorkCode>(code), std::move(values), {}};
  const ScalarTyping typing = facts_of(op).typing;
  const bool is_truth = typing == ScalarTyping::order || typing == ScalarTyping::same ||
                        typing == ScalarTyping::logic || typing == ScalarTyping::test;
  return make(is_truth ? between(std::move(node), 0, 1) : std::move(node));
}

WorkNodeId WorkNodes::converted(WorkCode code, WorkNodeId value) {
  WorkNode node{code, {value}, {}};
  return make(code == WorkCode::to_truth ? between(std::move(node), 0, 1) : std::move(node));
}

WorkNodeId WorkNodes::add(WorkNodeId a, WorkNodeId b) {
  std::int64_t x = 0;
  std::int64_t y = 0;
  if (is_number(a, x)) std::swap(a, b);
  const WorkNode first = nodes_[a];
  const std::int64_t least = first.least + nodes_[b].least;
  const std::int64_t most = first.most + nodes_[b].most;
  if (!is_number(b, y)) return make(between({WorkCode::whole_add, {a, b}, {}}, least, most));
  if (is_number(a, x)) return whole(x + y);
  if (y == 0) return a;
  if (first.code == WorkCode::whole_add_n) {
    return add(first.values[0], whole(first.numbers[0] + y));
  }
  return make(
      between({WorkCode::whole_add_n, {a}, {static_cast<std::int32_t>(y), 0}}, least, most));
}

WorkNodeId WorkNodes::subtract(WorkNodeId a, WorkNodeId b) {
  std::int64_t y = 0;
  if (is_number(b, y)) return add(a, whole(-y));
  if (a == b) return whole(0);
  return make(between({WorkCode::whole_subtract, {a, b}, {}}, nodes_[a].least - nodes_[b].most,
                      nodes_[a].most - nodes_[b].least));
}

WorkNodeId WorkNodes::multiply(WorkNodeId a, WorkNodeId b) {
  std::int64_t x = 0;
  std::int64_t y = 0;
  if (is_number(a, x)) std::swap(a, b);
  const auto products = {nodes_[a].least * nodes_[b].least, nodes_[a].least * nodes_[b].most,
                         nodes_[a].most * nodes_[b].least, nodes_[a].most * nodes_[b].most};
  const auto [least, most] = std::minmax(products);
  if (!is_number(b, y)) return make(between({WorkCode::whole_multiply, {a, b}, {}}, least, most));
  if (is_number(a, x)) return whole(x * y);
  if (y == 0) return whole(0);
  if (y == 1) return a;
  const WorkNode first = nodes_[a];
  if (first.code == WorkCode::whole_multiply_n) {
    return multiply(first.values[0], whole(first.numbers[0] * y));
  }
  return make(
      between({WorkCode::whole_multiply_n, {a}, {static_cast<std::int32_t>(y), 0}}, least, most));
}

WorkNodeId WorkNodes::divide(WorkNodeId a, WorkNodeId b) {
  std::int64_t x = 0;
  std::int64_t y = 0;
  const bool by_number = is_number(b, y) && y > 0;
  if (!by_number) return make({WorkCode::whole_divide, {a, b}, {}});
  if (is_number(a, x)) return whole(x / y);
  if (y == 1) return a;
  const WorkNode first = nodes_[a];
  if (first.least < 0) {
    return make(between({WorkCode::whole_divide, {a, b}, {}}, first.least / y, first.most / y));
  }
  if (first.most < y) return whole(0);
  // Of a multiple and what is less than the divisor, the multiple is left.
  if (first.code == WorkCode::whole_add) {
    for (const int i : {0, 1}) {
      const WorkNode multiple = nodes_[first.values[static_cast<std::size_t>(i)]];
      const WorkNode rest = nodes_[first.values[static_cast<std::size_t>(1 - i)]];
      const bool splits = multiple.code == WorkCode::whole_multiply_n && multiple.least >= 0 &&
                          multiple.numbers[0] % y == 0 && rest.least >= 0 && rest.most < y;
      if (splits) return multiply(multiple.values[0], whole(multiple.numbers[0] / y));
    }
  }
  const Reciprocal inverse = reciprocal(y);
  return make(between(
      {WorkCode::whole_divide_n, {a}, {std::bit_cast<std::int32_t>(inverse.factor), inverse.shift}},
      first.least / y, first.most / y));
}

WorkNodeId WorkNodes::remainder(WorkNodeId a, WorkNodeId b) {
  std::int64_t y = 0;
  if (!is_number(b, y) || y <= 0) return make({WorkCode::whole_remainder, {a, b}, {}});
  const WorkNode first = nodes_[a];
  if (y == 1) return whole(0);
  if (first.least >= 0 && first.most < y) return a;
  if (first.least < 0) {
    return make(between({WorkCode::whole_remainder, {a, b}, {}}, 1 - y, y - 1));
  }
  const WorkNodeId below = multiply(divide(a, b), b);
  std::int64_t nothing = 0;
  if (is_number(below, nothing) && nothing == 0) return a;
  const WorkNodeId rest = make(between({WorkCode::whole_subtract, {a, below}, {}}, 0, y - 1));
  return rest;
}

WorkNodeId WorkNodes::least(WorkNodeId a, WorkNodeId b) {
  const WorkNode& x = nodes_[a];
  const WorkNode& y = nodes_[b];
  if (x.most <= y.least) return a;
  if (y.most <= x.least) return b;
  return make(between({WorkCode::whole_min, {a, b}, {}}, std::min(x.least, y.least),
                      std::min(x.most, y.most)));
}

WorkNodeId WorkNodes::most(WorkNodeId a, WorkNodeId b) {
  const WorkNode& x = nodes_[a];
  const WorkNode& y = nodes_[b];
  if (x.least >= y.most) return a;
  if (y.least >= x.most) return b;
  return make(between({WorkCode::whole_max, {a, b}, {}}, std::max(x.least, y.least),
                      std::max(x.most, y.most)));
}

WorkNodeId WorkNodes::compare(WorkCode code, WorkNodeId a, WorkNodeId b) {
  return make(between({code, {a, b}, {}}, 0, 1));
}

WorkNodeId WorkNodes::less(WorkNodeId a, WorkNodeId b) {
  if (nodes_[a].most < nodes_[b].least) return whole(1);
  if (nodes_[a].least >= nodes_[b].most) return whole(0);
  return compare(WorkCode::whole_less, a, b);
}

WorkNodeId WorkNodes::less_equal(WorkNodeId a, WorkNodeId b) {
  if (nodes_[a].most <= nodes_[b].least) return whole(1);
  if (nodes_[a].least > nodes_[b].most) return whole(0);
  return compare(WorkCode::whole_less_equal, a, b);
}

WorkNodeId WorkNodes::equal(WorkNodeId a, WorkNodeId b) {
  if (a == b) return whole(1);
  return compare(WorkCode::whole_equal, a, b);
}

WorkNodeId WorkNodes::both(WorkNodeId a, WorkNodeId b) {
  std::int64_t value = 0;
  if (is_number(a, value)) return value != 0 ? b : a;
  if (is_number(b, value)) return value != 0 ? a : b;
  return scalar(ScalarOp::logical_and, {a, b});
}

WorkNodeId WorkNodes::either(WorkNodeId a, WorkNodeId b) {
  std::int64_t value = 0;
  if (is_number(a, value)) return value != 0 ? a : b;
  if (is_number(b, value)) return value != 0 ? b : a;
  return scalar(ScalarOp::logical_or, {a, b});
}

WorkNodeId WorkNodes::negated(WorkNodeId truth) {
  std::int64_t value = 0;
  if (is_number(truth, value)) return whole(value == 0 ? 1 : 0);
  return scalar(ScalarOp::logical_not, {truth});
}

WorkNodeId WorkNodes::select(WorkNodeId condition, WorkNodeId a, WorkNodeId b) {
  std::int64_t value = 0;
  if (is_number(condition, value)) return value != 0 ? a : b;
  return scalar(ScalarOp::select, {condition, a, b});
}

}  // namespace morton::source
