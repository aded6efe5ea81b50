// SPDX-License-Identifier: Apache-2.0
//
// Operators of shapes, where an input has a late extent or holds late numbers.
#include <algorithm>
#include <array>

#include "base/shape.hpp"
#include "ops/core/node_view.hpp"
#include "passes/shapes/late_extents.hpp"

namespace morton::passes {
namespace {

bool write_shape(LateTable& table, const Node& node) {
  Splicing& out = table.out();
  const TensorId input = node.inputs[0];
  if (!table.is_late(input)) return false;
  const NodeView view(table.graph(), node);
  const auto rank = static_cast<std::int64_t>(view.input(0).shape.size());
  const auto place = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  std::vector<TensorId> parts;
  LateNumbers numbers;
  for (std::int64_t d = place(view.integer("start", 0)); d < place(view.integer("end", rank));
       ++d) {
    numbers.push_back(table.extent(input, static_cast<std::size_t>(d)));
    parts.push_back(table.tensor_of(numbers.back()));
  }
  out.copy(parts.empty() ? out.list({}) : out.joined(parts, 0), node.outputs[0]);
  if (!numbers.empty()) table.values().define(node.outputs[0], numbers);
  return true;
}

bool write_size(LateTable& table, const Node& node) {
  Splicing& out = table.out();
  const TensorId input = node.inputs[0];
  if (!table.is_late(input)) return false;
  LateNumber size{1, 1};
  std::vector<TensorId> parts;
  for (std::size_t d = 0; d < table.graph().tensor(input).shape.size(); ++d) {
    const LateNumber extent = table.extent(input, d);
    size = {size.low * extent.low, size.high * extent.high};
    parts.push_back(table.tensor_of(extent));
  }
  const TensorId product =
      out.add("ReduceProd", {out.joined(parts, 0), out.list({0})}, {{"keepdims", std::int64_t{0}}});
  out.copy(product, node.outputs[0]);
  table.values().define(node.outputs[0], {size});
  return true;
}

/// An element count of the dimensions from `first` to before `last`, which are fixed.
std::int64_t product_of(const Shape& shape, std::size_t first, std::size_t last) {
  std::int64_t product = 1;
  for (std::size_t d = first; d < last; ++d) product *= shape[d];
  return product;
}

/// What a Reshape asks for: dimensions that are known, and the one that is not.
struct Wanted {
  Shape shape;            ///< the unknown one is 1
  std::size_t place = 0;  ///< of that
};

/// A late extent with what lies before and behind it, row-major.
struct Run {
  std::int64_t outer, inner;
};

class ReshapeWriter {
 public:
  ReshapeWriter(LateTable& table, const Node& node)
      : table_(table), out_(table.out()), node_(node), view_(table.graph(), node) {}

  void write() {
    const Shape shape = view_.input(0).shape;
    const std::size_t late = only_late(node_.inputs[0]);
    const Wanted wanted = wanted_of(shape);
    const Run from{product_of(shape, 0, late), product_of(shape, late + 1, shape.size())};
    const Run to{product_of(wanted.shape, 0, wanted.place),
                 product_of(wanted.shape, wanted.place + 1, wanted.shape.size())};
    LateNumber extent = table_.extent(node_.inputs[0], late);
    TensorId id = table_.whole(node_.inputs[0]);
    if (to.outer <= 0 || to.inner <= 0 || from.outer % to.outer != 0) refuse();
    if (from.outer != to.outer) id = moved_up(id, from, to, extent);
    if (from.inner % to.inner == 0) {
      extent = table_.scaled(node_, extent, from.inner / to.inner);
    } else if (from.inner > 0 && to.inner % from.inner == 0) {
      extent = table_.divided(node_, extent, to.inner / from.inner);
    } else {
      refuse();
    }
    Shape bound = wanted.shape;
    bound[wanted.place] = extent.high;
    if (element_count(bound) != to.outer * extent.high * to.inner) refuse();
    const TensorId cut = trimmed(id, from, to, extent);
    out_.copy(out_.add("Reshape", {cut, out_.list({bound.begin(), bound.end()})}),
              node_.outputs[0]);
    LateCounts counts(bound.size(), kNoTensor);
    counts[wanted.place] = extent.count;
    table_.define(node_.outputs[0], counts);
  }

 private:
  [[noreturn]] void refuse() const {
    table_.refuse(node_, "it joins or cuts a late extent as no constant can tell");
  }

  std::size_t only_late(TensorId id) const {
    std::size_t late = 0;
    int count = 0;
    for (std::size_t d = 0; d < table_.graph().tensor(id).shape.size(); ++d) {
      if (table_.count(id, d) == kNoTensor) continue;
      late = d;
      ++count;
    }
    if (count != 1)
      table_.refuse(node_, "its input has " + std::to_string(count) + " late extents");
    return late;
  }

  Wanted wanted_of(const Shape& shape) {
    const bool zero_is_zero = view_.flag("allowzero", 0);
    const LateNumbers numbers = table_.numbers(node_, view_.input_id(1));
    Wanted wanted;
    int late = 0;
    int open = 0;
    for (std::size_t d = 0; d < numbers.size(); ++d) {
      LateNumber number = numbers[d];
      if (number.is_known() && number.low == 0 && !zero_is_zero && d < shape.size()) {
        number = table_.extent(node_.inputs[0], d);
      }
      wanted.shape.push_back(number.is_known() ? number.low : 1);
      if (!number.is_known()) {
        ++late;
        wanted.place = d;
      } else if (number.low == -1) {
        ++open;
        if (late == 0) wanted.place = d;
        wanted.shape.back() = 1;
        open_ = d;
      }
    }
    if (late > 1 || open > 1 || late + open == 0) refuse();
    if (late == 1 && open == 1) settle_open(wanted, numbers, shape);
    return wanted;
  }

  /// Beside the late number stands a -1: what is left once the late extent is taken away.
  void settle_open(Wanted& wanted, const LateNumbers& numbers, const Shape& shape) {
    const std::size_t late = only_late(node_.inputs[0]);
    const LateNumber given = numbers[wanted.place];
    const bool is_same =
        given.count == table_.count(node_.inputs[0], late) || (given.is_known() && given.low == 0);
    if (!is_same) refuse();
    const std::int64_t all = product_of(shape, 0, late) * product_of(shape, late + 1, shape.size());
    const std::int64_t known = element_count(wanted.shape);
    if (known == 0 || all % known != 0) refuse();
    wanted.shape[open_] = all / known;
  }

  /// Several late runs, one behind another, without the void between them.
  TensorId moved_up(TensorId id, const Run& from, const Run& to, LateNumber& extent) {
    const std::int64_t runs = from.outer / to.outer;
    const std::int64_t bound = runs * extent.high;
    const TensorId rows = out_.add("Reshape", {id, out_.list({to.outer, bound, from.inner})});
    const TensorId count = out_.add("Max", {extent.count, out_.list({1})});
    const TensorId at = table_.numbered(bound);
    const TensorId run = out_.add("Div", {at, count});
    const TensorId index = out_.add(
        "Add", {out_.add("Mul", {run, out_.list({extent.high})}), out_.add("Mod", {at, count})});
    extent = table_.scaled(node_, extent, runs);
    return out_.add("Gather", {rows, index}, {{"axis", std::int64_t{1}}});
  }

  /// A bound that does not divide loses its end, which is void.
  TensorId trimmed(TensorId id, const Run& from, const Run& to, const LateNumber& extent) {
    const std::int64_t runs = from.outer / to.outer;
    const std::int64_t given =
        table_.extent(node_.inputs[0], only_late(node_.inputs[0])).high * runs * from.inner;
    const std::int64_t taken = extent.high * to.inner;
    if (given == taken) return id;
    const TensorId flat = out_.add("Reshape", {id, out_.list({to.outer, given})});
    return out_.add("Slice", {flat, out_.list({0}), out_.list({taken}), out_.list({1})});
  }

  LateTable& table_;
  Splicing& out_;
  const Node& node_;
  NodeView view_;
  std::size_t open_ = 0;
};

/// Where the dimensions stay apart the proof of the problem's views will do.
bool keeps_dimensions(LateTable& table, const Node& node) {
  const auto shape = table.values().numbers(node.inputs[1]);
  if (!shape || table.values().is_late(node.inputs[1])) return false;
  try {
    (void)proved_counts(table, node);
    return true;
  } catch (const UnsupportedError&) {
    return false;
  }
}

bool write_reshape(LateTable& table, const Node& node) {
  if (node.inputs.size() < 2) return false;
  if (!table.is_late(node.inputs[0])) {
    if (!table.values().is_late(node.inputs[1])) return false;
    // A late number for what is fixed: the extent is the number.
    table.refuse(node, "its shape follows from data and its input has no late extent");
  }
  if (keeps_dimensions(table, node)) return false;
  ReshapeWriter(table, node).write();
  return true;
}

bool write_expand(LateTable& table, const Node& node) {
  if (!table.values().is_late(node.inputs[1])) return false;
  Splicing& out = table.out();
  const TensorId input = node.inputs[0];
  const Shape shape = table.graph().tensor(input).shape;
  const LateNumbers numbers = table.numbers(node, node.inputs[1]);
  const std::size_t rank = std::max(shape.size(), numbers.size());
  std::vector<std::int64_t> bound;
  LateCounts counts;
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t lacking = rank - shape.size();
    const std::size_t absent = rank - numbers.size();
    const LateNumber own = d < lacking ? LateNumber{1, 1} : table.extent(input, d - lacking);
    const LateNumber wish = d < absent ? LateNumber{1, 1} : numbers[d - absent];
    const bool takes_wish = own.is_known() && own.low == 1;
    const bool is_same = own.count == wish.count || (wish.is_known() && wish.low == 1);
    if (!takes_wish && !is_same) table.refuse(node, "it would make one late extent of another");
    if (takes_wish && !wish.is_known()) table.require_bound(node, wish.high);
    if (takes_wish && wish.low < 0) table.refuse(node, "its shape may be negative");
    bound.push_back(takes_wish ? wish.high : own.high);
    counts.push_back(takes_wish ? wish.count : own.count);
  }
  out.copy(out.add("Expand", {table.whole(input), out.list(bound)}), node.outputs[0]);
  table.define(node.outputs[0], counts);
  return true;
}

bool write_range(LateTable& table, const Node& node) {
  Splicing& out = table.out();
  const NodeView view(table.graph(), node);
  const DType type = view.input(0).dtype;
  const auto start = table.numbers(node, node.inputs[0]);
  const auto limit = table.numbers(node, node.inputs[1]);
  const auto delta = table.numbers(node, node.inputs[2]);
  const bool is_simple = start.at(0).is_known() && delta.at(0).is_known() && delta[0].low == 1;
  if (!is_simple) table.refuse(node, "it begins or steps by what follows from data");
  const LateNumber count = table.rest(node, limit.at(0), start[0]);
  table.require_bound(node, count.high);
  Tensor numbers = Tensor::allocate(type, {count.high});
  for (std::int64_t i = 0; i < count.high; ++i) {
    numbers.set(i, static_cast<double>(start[0].low + i));
  }
  out.copy(out.constant(std::move(numbers)), node.outputs[0]);
  table.define(node.outputs[0], {count.count});
  return true;
}

bool write_constant_of_shape(LateTable& table, const Node& node) {
  Splicing& out = table.out();
  const LateNumbers numbers = table.numbers(node, node.inputs[0]);
  std::vector<std::int64_t> bound;
  LateCounts counts;
  for (LateNumber number : numbers) {
    if (number.low < 0) number = table.rest(node, number, {0, 0});
    if (!number.is_known()) table.require_bound(node, number.high);
    bound.push_back(number.high);
    counts.push_back(number.count);
  }
  out.again(node, {out.list(bound)});
  table.define(node.outputs[0], counts);
  return true;
}

constexpr std::array kShapes{
    LateRule{"Shape", write_shape},     LateRule{"Size", write_size},
    LateRule{"Reshape", write_reshape}, LateRule{"Expand", write_expand},
    LateRule{"Range", write_range},     LateRule{"ConstantOfShape", write_constant_of_shape},
};

}  // namespace

std::span<const LateRule> late_shapes() { return kShapes; }

}  // namespace morton::passes
