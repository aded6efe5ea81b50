// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/join_parts.hpp"

#include <algorithm>
#include <optional>

#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "plan/ir/lifetimes.hpp"
#include "plan/ir/memory_range.hpp"
#include "plan/lower/memory.hpp"

namespace morton::plan {
namespace {

/// A stretch of a dense tensor's elements, row-major.
struct Stretch {
  std::int64_t start = 0, count = 0;
  std::vector<std::size_t> dimensions;  ///< of the tensor, along which it has several elements
};

/// What one coordinate of a view gives: `first` and the following, one for each value of an operand
/// dimension, or `first` alone.
struct Steps {
  std::int64_t first = 0, count = 1;
  int dimension = -1;  ///< of the operand
};

std::optional<Steps> steps_of(const Expression& coordinate, const View& view,
                              const Environment& names) {
  Steps steps;
  const auto used = coordinate.variables();
  for (std::size_t d = 0; d < view.dimensions.size(); ++d) {
    if (!used.contains(coordinate_name(view.dimensions[d]))) continue;
    if (steps.dimension >= 0) return std::nullopt;
    steps.dimension = static_cast<int>(d);
  }
  Environment at = names;
  std::int64_t* variable = nullptr;
  if (steps.dimension >= 0) {
    const std::string& dimension = view.dimensions[static_cast<std::size_t>(steps.dimension)];
    steps.count = names.find(dimension)->second;
    variable = &at[coordinate_name(dimension)];
    *variable = 0;
  }
  steps.first = coordinate.evaluate(at);
  if (steps.count == 1) return steps;
  const auto follows = [&](std::int64_t i) {
    *variable = i;
    return coordinate.evaluate(at) == steps.first + i;
  };
  if (!follows(1) || !follows(steps.count - 1)) return std::nullopt;
  if (coordinate.is_linear_in(
          coordinate_name(view.dimensions[static_cast<std::size_t>(steps.dimension)]))) {
    return steps;
  }
  // Of quotients and remainders each step is tried; a copy of so many elements may stay one.
  constexpr std::int64_t kMostTried = 1 << 20;
  if (steps.count > kMostTried) return std::nullopt;
  for (std::int64_t i = 2; i < steps.count - 1; ++i) {
    if (!follows(i)) return std::nullopt;
  }
  return steps;
}

/// The elements of a tensor that a view shows, where they are one stretch in the operand's order.
std::optional<Stretch> stretch_of(const View& view, const Shape& tensor, const Environment& names) {
  if (view.bounded || view.coordinates.size() != tensor.size()) return std::nullopt;
  const Shape strides = row_major_strides(tensor);
  Stretch stretch{0, 1, {}};
  int last_dimension = -1;
  bool whole_from_here = false;  // once a dimension has several elements, the inner ones are whole
  for (std::size_t t = 0; t < tensor.size(); ++t) {
    const auto steps = steps_of(view.coordinates[t], view, names);
    if (!steps || steps->first < 0 || steps->first + steps->count > tensor[t]) return std::nullopt;
    if (whole_from_here && steps->count != tensor[t]) return std::nullopt;
    if (steps->count > 1) {
      if (steps->dimension <= last_dimension) return std::nullopt;
      last_dimension = steps->dimension;
      stretch.dimensions.push_back(t);
      whole_from_here = true;
    }
    stretch.start += steps->first * strides[t];
    stretch.count *= steps->count;
  }
  std::int64_t operand = 1;
  for (const auto& dimension : view.dimensions) operand *= names.find(dimension)->second;
  if (operand != stretch.count) return std::nullopt;
  return stretch;
}

bool is_dense(const Value& value) {
  const Arrangement& arrangement = value.arrangement;
  return arrangement.memory == MemoryKind::buffer &&
         same_memory(arrangement,
                     row_major_arrangement(arrangement.dtype, arrangement.tensor_shape));
}

/// Whether a value fills its memory, without padding.
bool fills_its_memory(const Arrangement& arrangement) {
  return arrangement.memory == MemoryKind::buffer && arrangement.pitch == 0 &&
         element_count(arrangement.padded) == element_count(arrangement.tensor_shape);
}

/// Whether a group joins neighbouring dimensions in their order.
bool is_in_order(const JoinedDimensions& group) {
  return std::ranges::adjacent_find(group, [](int a, int b) { return b != a + 1; }) == group.end();
}

/// Elements of the pieces that follow each other in memory as they do row-major: an iteration of
/// the outermost loop, over a dimension with no other of several elements before it. 0: none.
std::int64_t piece_of(const Arrangement& arrangement) {
  const Shape& shape = arrangement.tensor_shape;
  const BoundLayout bound(arrangement.layout, arrangement.padded);
  const auto& loops = arrangement.layout.loops();
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (bound.iterations()[i] <= 1) continue;
    const JoinedDimensions& group =
        arrangement.grouping[static_cast<std::size_t>(loops[i].dimension)];
    if (!is_in_order(group)) return 0;
    const int dimension = group.front();
    const bool is_first = std::all_of(shape.begin(), shape.begin() + dimension,
                                      [](std::int64_t extent) { return extent == 1; });
    return is_first ? element_count(shape) / bound.iterations()[i] : 0;
  }
  return 0;
}

/// Whether a part lies as the stretch `at` of the whole does: in the same order, in whole pieces.
bool lies_alike(const Arrangement& part, const Arrangement& whole, const Stretch& at) {
  if (!fills_its_memory(part) || !fills_its_memory(whole)) return false;
  const auto alike = likened(whole, part.tensor_shape);
  if (!alike || !same_memory(*alike, part)) return false;
  const std::int64_t piece = piece_of(whole);
  return piece > 0 && at.start % piece == 0 && at.count % piece == 0;
}

/// A step that copies one stretch onto another.
struct Copy {
  ValueId from, to;
  Stretch read, written;
};

std::optional<Copy> copy_of(const ScheduledKernel& kernel, const Values& values) {
  const BoundProblem& bound = *kernel.choice.bound;
  const bool copies =
      bound.problem.family == families::pack || bound.problem.family == families::elementwise;
  if (!copies || kernel.once || bound.operands.size() != 2 || !kernel.sides.empty() ||
      !bound.problem.epilogue.is_identity()) {
    return std::nullopt;
  }
  Copy copy;
  const Environment names = environment_of(bound.problem);
  for (const auto& [role, binding] : bound.operands) {
    const ValueId id = kernel.values.at(role);
    const Value& value = values[id];
    const auto stretch = stretch_of(binding.view, value.arrangement.tensor_shape, names);
    if (!stretch) return std::nullopt;
    (role == "dst" ? copy.to : copy.from) = id;
    (role == "dst" ? copy.written : copy.read) = *stretch;
  }
  if (!copy.from || !copy.to) return std::nullopt;
  const Value& from = values[copy.from];
  const Value& to = values[copy.to];
  if (from.arrangement.dtype != to.arrangement.dtype) return std::nullopt;
  const bool dense = is_dense(from) && is_dense(to);
  const bool joins = copy.read.count == element_count(from.arrangement.tensor_shape);
  // Of 3 x 7 x 1 and 3 x 1 x 7 neither lies as the other's dimensions say.
  const bool keeps_dimensions = copy.read.dimensions == copy.written.dimensions;
  const bool alike = joins ? lies_alike(from.arrangement, to.arrangement, copy.written)
                           : lies_alike(to.arrangement, from.arrangement, copy.read);
  if (!dense && !(keeps_dimensions && alike)) return std::nullopt;
  return copy;
}

class PartAliaser {
 public:
  PartAliaser(Schedule& schedule, const DeviceInfo& device)
      : schedule_(schedule), values_(schedule.values), device_(device) {}

  void run() {
    std::vector<ScheduledKernel> kept;
    for (ScheduledKernel& kernel : schedule_.kernels) {
      const auto copy = copy_of(kernel, values_);
      if (copy && (joins(*copy) || takes_apart(*copy))) {
        schedule_.estimated_us -= kernel.choice.estimated_us;
        continue;
      }
      kept.push_back(std::move(kernel));
    }
    schedule_.kernels = std::move(kept);
    sort_owners_first();
  }

 private:
  Value& value_at(ValueId id) { return values_[id]; }

  std::int64_t bytes_at(const Value& value, std::int64_t elements) const {
    return elements * size_of(value.arrangement.dtype);
  }

  bool is_aligned(std::int64_t bytes) const {
    return bytes % device_.memory.base_alignment_bytes == 0;
  }

  /// The whole of a value goes to a stretch of another: it is computed there from the start.
  bool joins(const Copy& copy) {
    const ValueId root = memory_root(values_, copy.from);
    const ValueId whole = memory_root(values_, copy.to);
    Value& part = value_at(root);
    const bool is_all = copy.read.start == 0 && copy.read.count == elements_of(part.arrangement) &&
                        range_of(values_, copy.from).begin_bytes == 0;
    if (!is_all || root == whole || !is_between_steps(part)) return false;
    const Value& target = value_at(whole);
    // A caller may give an output a buffer of another's: its parts would not follow.
    if (!is_between_steps(target)) return false;
    const std::int64_t offset = bytes_at(part, copy.written.start);
    if (!is_aligned(range_of(values_, copy.to).begin_bytes + offset)) return false;
    part.memory_of = copy.to;
    part.offset_in_owner_bytes = offset;
    return true;
  }

  /// A stretch of a value becomes the whole of another.
  bool takes_apart(const Copy& copy) {
    Value& part = value_at(copy.to);
    const Value& root = value_at(memory_root(values_, copy.from));
    const bool is_all =
        copy.written.start == 0 && copy.written.count == elements_of(part.arrangement);
    if (!is_all || part.memory_of || !is_between_steps(part)) return false;
    if (!is_between_steps(root)) return false;
    const std::int64_t offset = bytes_at(part, copy.read.start);
    if (!is_aligned(range_of(values_, copy.from).begin_bytes + offset)) return false;
    part.memory_of = copy.from;
    part.offset_in_owner_bytes = offset;
    return true;
  }

  /// Names come after what they name.
  void sort_owners_first() {
    Indexed<ValueId, ValueId> renamed(values_.size());  // none for those that are not placed yet
    Values sorted;
    for (const ValueId v : values_.ids()) {
      std::vector<ValueId> chain;
      for (ValueId at = v; at && !renamed[at]; at = value_at(at).memory_of) chain.push_back(at);
      for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
        renamed[*at] = sorted.add(std::move(value_at(*at)));
      }
    }
    const auto rename = [&](ValueId& id) { id = renamed[id]; };
    for (Value& value : sorted) {
      if (value.memory_of) rename(value.memory_of);
    }
    values_ = std::move(sorted);
    for (ScheduledKernel& kernel : schedule_.kernels) {
      for (auto& [role, value] : kernel.values) rename(value);
      for (ValueId& side : kernel.sides) rename(side);
    }
    for (auto* ports : {&schedule_.inputs, &schedule_.outputs, &schedule_.states}) {
      for (auto& [name, value] : *ports) rename(value);
    }
  }

  Schedule& schedule_;
  Values& values_;
  const DeviceInfo& device_;
};

}  // namespace

void join_parts(Schedule& schedule, const DeviceInfo& device) {
  if (shares_whole_places(device)) return;
  PartAliaser(schedule, device).run();
}

}  // namespace morton::plan
