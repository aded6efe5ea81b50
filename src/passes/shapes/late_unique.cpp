// SPDX-License-Identifier: Apache-2.0
//
// Unique: what is sought is sorted, the first of each run of equals is kept.
#include "base/shape.hpp"
#include "ops/core/node_view.hpp"
#include "passes/shapes/late_found.hpp"

namespace morton::passes {
namespace {

/// Rows are compared pair by pair.
constexpr std::int64_t kMostCompared = std::int64_t{1} << 24;

/// Elements or rows of a tensor, in order.
struct Sorted {
  TensorId items;  ///< along dimension 0
  TensorId order;  ///< of each the place where it was, i64
  TensorId first;  ///< of each whether it differs from the one before
};

class UniqueWriter {
 public:
  UniqueWriter(LateTable& table, const Node& node)
      : table_(table), out_(table.out()), node_(node), view_(table.graph(), node) {}

  void write() {
    const TensorType data = view_.input(0);
    if (table_.is_late(node_.inputs[0])) {
      table_.refuse(node_, "its input has a late extent itself; that is not done yet");
    }
    Shape rest;
    std::size_t axis = 0;
    const bool of_rows = node_.attributes.contains("axis");
    count_ = element_count(data.shape);
    if (of_rows) {
      axis = view_.axis_attribute();
      rest = data.shape;
      count_ = rest[axis];
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
    }
    if (count_ == 0 || element_count(rest) == 0) {
      table_.refuse(node_, "its input has no elements");
    }
    table_.require_bound(node_, count_);
    Sorted sorted = of_rows ? sorted_rows(axis, data, element_count(rest)) : sorted_elements();
    results_ = results_of(sorted);
    if (!view_.flag("sorted", 1)) order_by_place();
    give(0, of_rows ? turned_back(results_.items, axis, rest) : results_.items, of_rows ? axis : 0,
         rest.size() + 1);
    give(1, results_.firsts, 0, 1);
    if (wants(2)) out_.copy(results_.inverse, node_.outputs[2]);
    give(3, results_.numbers, 0, 1);
  }

 private:
  struct Results {
    TensorId items, firsts, inverse, numbers, count;
  };

  [[nodiscard]] bool wants(std::size_t i) const {
    return i < node_.outputs.size() && node_.outputs[i] != kNoTensor;
  }

  void give(std::size_t i, TensorId value, std::size_t late, std::size_t rank) {
    if (!wants(i)) return;
    out_.copy(value, node_.outputs[i]);
    LateCounts counts(rank, kNoTensor);
    counts[late] = results_.count;
    table_.define(node_.outputs[i], counts);
  }

  TensorId different(TensorId a, TensorId b) {
    return out_.add("Not", {out_.add("Equal", {a, b})});
  }

  TensorId as_numbers(TensorId truths, std::int64_t type = 6) {
    return out_.add("Cast", {truths}, {{"to", type}});
  }

  TensorId zeros() { return out_.constant(Tensor::allocate(DType::i64, {count_})); }

  /// Whether each of `count_` items differs from the one before, of which `differs` says so for all
  /// but the first.
  TensorId with_first(TensorId differs) {
    const TensorId first = out_.add("Reshape", {out_.truth(true), out_.list({1})});
    return count_ == 1 ? first : out_.joined({first, differs}, 0);
  }

  TensorId part(TensorId items, std::int64_t from, std::int64_t to) {
    return out_.add("Slice", {items, out_.list({from}), out_.list({to}), out_.list({0})});
  }

  Sorted sorted_elements() {
    const TensorId flat = out_.add("Reshape", {node_.inputs[0], out_.list({-1})});
    const auto found =
        out_.add_several("TopK", {flat, out_.list({count_})}, 2, {{"largest", std::int64_t{0}}});
    Sorted sorted{found[0], found[1], kNoTensor};
    sorted.first = with_first(
        count_ == 1 ? kNoTensor
                    : different(part(found[0], 1, count_), part(found[0], 0, count_ - 1)));
    return sorted;
  }

  /// Dimension `axis` first, the others in a row.
  TensorId rows_of(std::size_t axis, std::size_t rank, std::int64_t length) {
    std::vector<std::int64_t> order{static_cast<std::int64_t>(axis)};
    for (std::size_t d = 0; d < rank; ++d) {
      if (d != axis) order.push_back(static_cast<std::int64_t>(d));
    }
    const TensorId turned = out_.add("Transpose", {node_.inputs[0]}, {{"perm", order}});
    return out_.add("Reshape", {turned, out_.list({count_, length})});
  }

  Sorted sorted_rows(std::size_t axis, const TensorType& data, std::int64_t length) {
    if (count_ > kMostCompared / count_ / length) {
      table_.refuse(node_, "it would compare " + std::to_string(count_) + " rows of " +
                               std::to_string(length) + " with each other, which is too much");
    }
    const TensorId rows = rows_of(axis, data.shape.size(), length);
    const TensorId down = out_.add("Reshape", {rows, out_.list({count_, 1, length})});
    const TensorId across = out_.add("Reshape", {rows, out_.list({1, count_, length})});
    const TensorId differ = as_numbers(different(down, across));
    const TensorId where = out_.add("ArgMax", {differ}, {{"axis", std::int64_t{2}}});
    const TensorId less = as_numbers(out_.add("Less", {down, across}));
    const TensorId is_less = out_.add("GatherElements", {less, where}, {{"axis", std::int64_t{2}}});
    const TensorId equal =
        out_.add("Sub", {out_.constant(one()), out_.add("ReduceMax", {differ, out_.list({2})})});
    const TensorId before = as_numbers(out_.add(
        "Less", {out_.add("Reshape", {table_.numbered(count_), out_.list({count_, 1, 1})}),
                 out_.add("Reshape", {table_.numbered(count_), out_.list({1, count_, 1})})}));
    const TensorId ahead = out_.add("Add", {is_less, out_.add("Mul", {equal, before})});
    const TensorId ranks = as_numbers(
        out_.add("ReduceSum", {ahead, out_.list({0, 2})}, {{"keepdims", std::int64_t{0}}}), 7);
    Sorted sorted;
    sorted.order = out_.add("ScatterElements", {zeros(), ranks, table_.numbered(count_)});
    sorted.items = out_.add("Gather", {rows, sorted.order});
    TensorId differs = kNoTensor;
    if (count_ > 1) {
      const TensorId steps =
          as_numbers(different(part(sorted.items, 1, count_), part(sorted.items, 0, count_ - 1)));
      differs = as_numbers(
          out_.add("ReduceMax", {steps, out_.list({1})}, {{"keepdims", std::int64_t{0}}}), 9);
    }
    sorted.first = with_first(differs);
    return sorted;
  }

  static Tensor one() {
    Tensor tensor = Tensor::allocate(DType::i32, {});
    tensor.set(0, 1);
    return tensor;
  }

  Results results_of(const Sorted& sorted) {
    const Found found = find_true(table_, sorted.first, count_);
    const TensorId places = table_.whole(found.places);
    Results results;
    results.count = found.count;
    results.items = out_.add("Gather", {sorted.items, places});
    results.firsts = out_.add("Gather", {sorted.order, places});
    results.inverse = out_.add("ScatterElements", {zeros(), sorted.order, found.before});
    std::vector<std::int64_t> ones(static_cast<std::size_t>(count_), 1);
    results.numbers = out_.add("ScatterElements", {zeros(), found.before, out_.list(ones)},
                               {{"reduction", std::string("add")}});
    return results;
  }

  /// What is kept in the order in which it was first seen.
  void order_by_place() {
    const TensorId there = table_.truths(results_.count, count_);
    const TensorId keys = out_.add("Where", {there, results_.firsts, out_.list({count_})});
    const TensorId order =
        out_.add_several("TopK", {keys, out_.list({count_})}, 2, {{"largest", std::int64_t{0}}})[1];
    for (TensorId* id : {&results_.items, &results_.firsts, &results_.numbers}) {
      *id = out_.add("Gather", {*id, order});
    }
    const TensorId ranks = out_.add("ScatterElements", {zeros(), order, table_.numbered(count_)});
    results_.inverse = out_.add("Gather", {ranks, results_.inverse});
  }

  /// Rows in their own shape, along dimension `axis`.
  TensorId turned_back(TensorId rows, std::size_t axis, const Shape& rest) {
    std::vector<std::int64_t> shape{count_};
    shape.insert(shape.end(), rest.begin(), rest.end());
    std::vector<std::int64_t> order;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const std::size_t from = d < axis ? d + 1 : d == axis ? 0 : d;
      order.push_back(static_cast<std::int64_t>(from));
    }
    const TensorId shaped = out_.add("Reshape", {rows, out_.list(shape)});
    return out_.add("Transpose", {shaped}, {{"perm", order}});
  }

  LateTable& table_;
  Splicing& out_;
  const Node& node_;
  NodeView view_;
  std::int64_t count_ = 0;  ///< of elements or rows
  Results results_{};
};

}  // namespace

bool write_unique(LateTable& table, const Node& node) {
  UniqueWriter(table, node).write();
  return true;
}

}  // namespace morton::passes
