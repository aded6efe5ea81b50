// SPDX-License-Identifier: Apache-2.0
#include "passes/shapes/late_table.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "ops/core/node_view.hpp"

namespace morton::passes {
namespace {

/// A bound that is larger is none: memory would be taken for what is never there.
constexpr std::int64_t kMostBound = 1'000'000;

}  // namespace

bool LateTable::is_late(TensorId id) const {
  const auto found = counts_.find(id);
  return found != counts_.end() &&
         std::ranges::any_of(found->second, [](TensorId count) { return count != kNoTensor; });
}

TensorId LateTable::count(TensorId id, std::size_t d) const {
  const auto found = counts_.find(id);
  return found == counts_.end() || d >= found->second.size() ? kNoTensor : found->second[d];
}

LateCounts LateTable::counts(TensorId id) const {
  const auto found = counts_.find(id);
  if (found != counts_.end() && !found->second.empty()) return found->second;
  return LateCounts(graph_.tensor(id).shape.size(), kNoTensor);
}

void LateTable::define(TensorId id, LateCounts counts) { counts_[id] = std::move(counts); }

void LateTable::require_bound(const Node& node, std::int64_t bound) const {
  if (bound <= kMostBound) return;
  refuse(node, "its result has up to " + std::to_string(bound) +
                   " elements along an extent that follows from data, at most " +
                   std::to_string(kMostBound) + " are allowed");
}

void LateTable::define_count(const Node& node, TensorId count, std::int64_t bound) {
  require_bound(node, bound);
  values_.define(count, {{0, bound, count}});
}

void LateTable::refuse(const Node& node, const std::string& why) const {
  NodeView(graph_, node).wait(why);
}

LateNumbers LateTable::numbers(const Node& node, TensorId id) {
  auto found = values_.numbers(id);
  if (!found) {
    refuse(node, "its extents follow from '" + graph_.tensor(id).name + "', which is data");
  }
  for (std::size_t e = 0; e < found->size(); ++e) {
    LateNumber& number = (*found)[e];
    if (number.is_known() || number.count != kNoTensor) continue;
    const TensorId flat = out_.add("Reshape", {id, out_.list({-1})});
    const TensorId one = out_.add("Gather", {flat, out_.list({static_cast<std::int64_t>(e)})});
    number.count = out_.add("Cast", {one}, {{"to", std::int64_t{7}}});
    values_.define(number.count, {number});
  }
  if (values_.is_late(id)) values_.define(id, *found);
  return *found;
}

LateNumber LateTable::extent(TensorId id, std::size_t d) const {
  const std::int64_t bound = graph_.tensor(id).shape[d];
  const TensorId count = this->count(id, d);
  return {count == kNoTensor ? bound : 0, bound, count};
}

TensorId LateTable::tensor_of(const LateNumber& number) {
  return number.count != kNoTensor ? number.count : out_.list({number.low});
}

LateNumber LateTable::computed(const Node& node, TensorId count, std::int64_t low,
                               std::int64_t high) {
  define_count(node, count, high);
  const LateNumber number{low, high, count};
  values_.define(count, {number});
  return number;
}

TensorId LateTable::joined(std::string_view op, const LateNumber& a, const LateNumber& b) {
  const auto name = [](const LateNumber& number) {
    return number.count == kNoTensor ? "=" + std::to_string(number.low)
                                     : std::to_string(number.count.index());
  };
  return once(std::string(op) + " " + name(a) + " " + name(b), [&] {
    const TensorId made = out_.add(op, {tensor_of(a), tensor_of(b)});
    return op == "Sub" ? out_.add("Max", {made, out_.list({0})}) : made;
  });
}

void LateTable::define_growing(TensorId count, std::int64_t capacity, std::int64_t step) {
  growing_[count] = step;
  values_.define(count, {{0, capacity, count}});
}

LateNumber LateTable::least(const Node& node, const LateNumber& a, const LateNumber& b) {
  if (a.high <= b.low) return a;
  if (b.high <= a.low) return b;
  return computed(node, joined("Min", a, b), std::min(a.low, b.low), std::min(a.high, b.high));
}

LateNumber LateTable::sum(const Node& node, const LateNumber& a, const LateNumber& b) {
  const LateNumber both{a.low + b.low, a.high + b.high};
  if (both.is_known()) return both;
  if (a.is_known() && a.low == 0) return b;
  if (b.is_known() && b.low == 0) return a;
  return computed(node, joined("Add", a, b), both.low, both.high);
}

LateNumber LateTable::rest(const Node& node, const LateNumber& a, const LateNumber& b) {
  const LateNumber both{std::max<std::int64_t>(a.low - b.high, 0),
                        std::max<std::int64_t>(a.high - b.low, 0)};
  if (both.is_known()) return both;
  if (b.is_known() && b.low == 0 && a.low >= 0) return a;
  return computed(node, joined("Sub", a, b), both.low, both.high);
}

LateNumber LateTable::scaled(const Node& node, const LateNumber& number, std::int64_t factor) {
  if (factor == 1) return number;
  LateNumber result{number.low * factor, number.high * factor};
  if (result.is_known()) return result;
  TensorId base = number.count;
  if (const auto made = factors_.find(base); made != factors_.end()) {
    base = made->second.first;
    factor *= made->second.second;
  }
  const TensorId product =
      once("Mul " + std::to_string(base.index()) + " " + std::to_string(factor), [&] {
        return out_.add("Mul", {base, out_.list({factor})});
      });
  factors_[product] = {base, factor};
  return computed(node, product, result.low, result.high);
}

LateNumber LateTable::divided(const Node& node, const LateNumber& number, std::int64_t divisor) {
  if (divisor == 1) return number;
  const LateNumber result{number.low / divisor, number.high / divisor};
  if (result.is_known()) return result;
  const auto made = factors_.find(number.count);
  if (made != factors_.end() && made->second.second % divisor == 0) {
    const auto [base, factor] = made->second;
    const LateNumbers one = *values_.numbers(base);
    return scaled(node, one[0], factor / divisor);
  }
  return computed(node, out_.add("Div", {number.count, out_.list({divisor})}), result.low,
                  result.high);
}

TensorId LateTable::alike(TensorId made, TensorId id, LateCounts counts) {
  graph_.tensor(made).dtype = graph_.tensor(id).dtype;
  graph_.tensor(made).shape = graph_.tensor(id).shape;
  define(made, std::move(counts));
  return made;
}

TensorId LateTable::whole(TensorId id, std::size_t d) {
  if (count(id, d) == kNoTensor) return id;
  LateCounts counts = this->counts(id);
  counts[d] = kNoTensor;
  return alike(out_.add("Identity", {id}), id, std::move(counts));
}

TensorId LateTable::whole(TensorId id) {
  if (!is_late(id)) return id;
  const LateCounts none(graph_.tensor(id).shape.size(), kNoTensor);
  return alike(out_.add("Identity", {id}), id, none);
}

TensorId LateTable::numbered(std::int64_t bound) {
  return once("numbered " + std::to_string(bound), [&] {
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(bound));
    std::iota(numbers.begin(), numbers.end(), std::int64_t{0});
    return out_.list(numbers);
  });
}

TensorId LateTable::truths(TensorId count, std::int64_t bound) {
  return once("truths " + std::to_string(count.index()) + " " + std::to_string(bound), [&] {
    return out_.add("Less", {numbered(bound), count});
  });
}

TensorId LateTable::masked(TensorId id, std::size_t d, double otherwise) {
  const TensorId counter = count(id, d);
  if (counter == kNoTensor) return id;
  if (otherwise == 0.0 && zero_void_.contains({id, d})) return whole(id, d);
  const Shape shape = graph_.tensor(id).shape;
  std::vector<std::int64_t> along(shape.size() - d, 1);
  along[0] = shape[d];
  const TensorId mask = out_.add("Reshape", {truths(counter, shape[d]), out_.list(along)});
  Tensor value = Tensor::allocate(graph_.tensor(id).dtype, {});
  value.set(0, value.dtype() == DType::boolean ? std::max(otherwise, 0.0) : otherwise);
  LateCounts counts = this->counts(id);
  counts[d] = kNoTensor;
  const TensorId other = out_.constant(std::move(value));
  return alike(out_.add("Where", {mask, whole(id), other}), id, std::move(counts));
}

}  // namespace morton::passes
