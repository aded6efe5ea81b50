// SPDX-License-Identifier: Apache-2.0
#include "ops/composed/attention_bias.hpp"

#include <algorithm>
#include <limits>

#include "ops/composed/writing.hpp"
#include "ops/core/made_constant.hpp"

namespace morton::ops {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

bool is_bounded(const KeysSeen& seen) { return seen.left >= 0 || seen.right >= 0; }

/// Of what is known at planning: -infinity where a key is too far from its query.
TensorId known_bias(GraphWriter& writer, const KeysSeen& seen) {
  Tensor bias = made_constant(DType::f32, {seen.queries, seen.keys}, "the mask of an attention");
  for (std::int64_t i = 0; i < seen.queries; ++i) {
    const std::int64_t place = seen.before + i;
    for (std::int64_t j = 0; j < seen.keys; ++j) {
      const bool is_left = seen.left >= 0 && j < place - seen.left;
      const bool is_right = seen.right >= 0 && j > place + seen.right;
      bias.set(i * seen.keys + j, is_left || is_right ? kNever : 0.0);
    }
  }
  return writer.constant(std::move(bias));
}

/// Whether each query sees a key of those that its bounds allow.
bool all_see_one(const KeysSeen& seen) {
  for (std::int64_t i = 0; i < seen.queries; ++i) {
    const std::int64_t place = seen.before + i;
    const std::int64_t first = seen.left < 0 ? 0 : std::max<std::int64_t>(0, place - seen.left);
    const std::int64_t last = seen.right < 0 ? seen.keys - 1 : place + seen.right;
    if (first > std::min(last, seen.keys - 1)) return false;
  }
  return true;
}

/// Bool: the keys of a cache that are no padding and not too far from their query.
TensorId seen_in_cache(GraphWriter& writer, const KeysSeen& seen) {
  const TensorId key = writer.numbered(0, {seen.keys});
  TensorId all = writer.add("Less", {key, seen.lengths});
  if (!is_bounded(seen)) return all;
  const TensorId from_end = writer.numbered(-seen.queries, {seen.queries, 1});
  const TensorId place = writer.add("Add", {seen.lengths, from_end});
  const auto moved = [&](std::int64_t by) {
    return writer.add("Add", {place, writer.scalar(DType::i64, static_cast<double>(by))});
  };
  if (seen.left >= 0) {
    all = writer.add("And", {writer.add("GreaterOrEqual", {key, moved(-seen.left)}), all});
  }
  if (seen.right >= 0) {
    all = writer.add("And", {writer.add("LessOrEqual", {key, moved(seen.right)}), all});
  }
  return all;
}

/// The mask with further columns, which are not seen.
TensorId whole_mask(GraphWriter& writer, TensorId mask, std::int64_t keys) {
  const Shape shape = writer.shape_of(mask);
  if (shape.empty() || shape.back() == keys || shape.back() == 1) return mask;
  Shape behind = shape;
  behind.back() = keys - shape.back();
  Tensor rest = Tensor::allocate(writer.type_of(mask), {});
  rest.set(0, writer.type_of(mask) == DType::boolean ? 0.0 : kNever);
  const TensorId filled = writer.expanded(writer.constant(std::move(rest)), behind);
  return writer.add("Concat", {mask, filled}, {{"axis", std::int64_t{-1}}});
}

}  // namespace

ScoreBias score_bias(GraphWriter& writer, const KeysSeen& seen) {
  ScoreBias bias;
  const TensorId zero = writer.scalar(DType::f32, 0.0);
  const TensorId never = writer.scalar(DType::f32, kNever);
  const auto add = [&](TensorId more) {
    bias.value = bias.value == kNoTensor ? more : writer.add("Add", {bias.value, more});
  };
  if (seen.mask != kNoTensor) {
    TensorId mask = seen.mask;
    if (writer.type_of(mask) != DType::boolean) mask = writer.converted(mask, DType::f32);
    mask = whole_mask(writer, mask, seen.keys);
    const bool is_bool = writer.type_of(mask) == DType::boolean;
    add(is_bool ? writer.add("Where", {mask, zero, never}) : mask);
  }
  if (seen.lengths != kNoTensor) {
    add(writer.add("Where", {seen_in_cache(writer, seen), zero, never}));
  } else if (is_bounded(seen)) {
    add(known_bias(writer, seen));
    if (seen.mask == kNoTensor && all_see_one(seen)) return bias;
  }
  if (bias.value == kNoTensor) return bias;
  const auto last = static_cast<std::int64_t>(writer.shape_of(bias.value).size()) - 1;
  if (last < 0) return bias;
  const TensorId most =
      writer.add("ReduceMax", {bias.value, writer.list({last})}, {{"keepdims", std::int64_t{1}}});
  bias.alive = writer.add("Greater", {most, never});
  bias.value = writer.add("Where", {bias.alive, bias.value, zero});
  return bias;
}

}  // namespace morton::ops
