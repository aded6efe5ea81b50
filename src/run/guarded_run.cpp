// SPDX-License-Identifier: Apache-2.0
#include "run/guarded_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <sstream>

#include "base/error.hpp"
#include "device/use/transfer.hpp"
#include "launch/launch.hpp"
#include "plan/lower/memory.hpp"

namespace morton::run {
namespace {

using Bytes = std::vector<std::byte>;

/// Large enough to be seen in any sum, small enough that sums of products of it stay finite.
constexpr float kWorstFinite = 4096.0F;

/// 1 for each element of the tensor, 0 for padding, in memory order.
Bytes logical_elements(const Arrangement& arrangement) {
  Arrangement marks = arrangement;
  marks.dtype = DType::u8;
  Tensor ones = Tensor::allocate(DType::u8, arrangement.tensor_shape);
  std::fill_n(ones.mutable_data(), ones.bytes(), std::byte{1});
  Bytes packed(static_cast<std::size_t>(bytes_of(marks)));
  pack(ones, marks, packed);
  return packed;
}

Bytes packed_input(const Tensor& tensor, const Arrangement& arrangement) {
  Bytes bytes(static_cast<std::size_t>(bytes_of(arrangement)));
  pack(tensor, arrangement, bytes);
  if (arrangement.padding != PaddingContents::undefined) return bytes;
  const Bytes logical = logical_elements(arrangement);
  const auto size = static_cast<std::size_t>(size_of(arrangement.dtype));
  for (std::size_t i = 0; i < logical.size(); ++i) {
    if (logical[i] == std::byte{0}) std::fill_n(bytes.begin() + i * size, size, kPoison);
  }
  return bytes;
}

/// What is wrong with the padding; empty when it holds what the arrangement promises.
std::string padding_damage(const Value& value, const Bytes& bytes) {
  const Arrangement& arrangement = value.arrangement;
  if (arrangement.padding == PaddingContents::undefined || arrangement.dtype != DType::f32)
    return {};
  const Bytes logical = logical_elements(arrangement);
  for (std::size_t i = 0; i < logical.size(); ++i) {
    if (logical[i] != std::byte{0}) continue;
    float number = 0.0F;
    std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
    const bool ok =
        arrangement.padding == PaddingContents::zero ? number == 0.0F : std::isfinite(number);
    if (ok) continue;
    std::ostringstream text;
    text << "'" << value.name << "': padding at element " << i << " holds " << number << ", not "
         << name_of(arrangement.padding) << " (" << print(arrangement) << ")\n";
    return text.str();
  }
  return {};
}

/// `bytes` with the worst in the padding that `contents` allows.
Bytes spoiled(const Arrangement& arrangement, PaddingContents contents, Bytes bytes) {
  if (contents == PaddingContents::zero || arrangement.dtype != DType::f32) return bytes;
  const float worst =
      contents == PaddingContents::finite ? kWorstFinite : std::numeric_limits<float>::quiet_NaN();
  const Bytes logical = logical_elements(arrangement);
  for (std::size_t i = 0; i < logical.size(); ++i) {
    if (logical[i] != std::byte{0}) continue;
    std::memcpy(bytes.data() + i * sizeof worst, &worst, sizeof worst);
  }
  return bytes;
}

class Run {
 public:
  Run(const LoadedPlan& loaded, Surroundings surroundings, const Catalogue& catalogue)
      : catalogue_(catalogue),
        loaded_(loaded),
        plan_(loaded.plan()),
        device_(loaded.device()),
        queue_(device_.make_queue(OpenClDevice::QueueKind::plain)),
        surroundings_(surroundings),
        begins_(begins_block(plan_)),
        memory_(plan_.values.size()),
        given_(plan_.values.size()),
        owner_(plan_.values.size()) {}

  GuardedResult run(std::span<const NamedTensor> inputs) {
    for (const ValueId v : plan_.values.ids()) {
      if (is_fixed(plan_.values[v])) make_constant(v);
    }
    for (const auto& [name, value] : plan_.inputs) make_input(name, value, inputs);
    std::vector<std::unique_ptr<LaunchedStep>> launched;
    for (const Step& step : plan_.steps) {
      // Before its result is made, which may lie in the place of an operand.
      for (const ValueId value : step.reads) (void)owner(value);
      for (const ValueId value : step.writes) {
        make(value);
        if (const ValueId whole = whole_of_part(value)) make(whole);
      }
      launched.push_back(loaded_.launch(step, [&](ValueId value) -> const cl::Buffer& {
        return memory_[owner(value)].buffer();
      }));
    }
    for (auto& step : launched) {
      if (surroundings_ != Surroundings::nothing) {
        run_spoiled(*step);
      } else {
        step->enqueue(queue_, nullptr);
      }
      for (const ValueId value : step->step().writes) copy_to_whole(value);
    }
    queue_.finish();
    return collect();
  }

 private:
  /// Several values may name the same memory in the plan (a reshaped tensor): reading one means the
  /// value that was made last at that place when it was first read.
  ValueId owner(ValueId v) {
    if (memory_[v].is_made()) return v;
    if (owner_[v]) return owner_[v];
    const auto found = places_.find({plan_.values[v].block, plan_.values[v].offset_bytes});
    if (found == places_.end()) {
      throw InternalError("guarded run: '" + plan_.values[v].name +
                          "' is read before it is written");
    }
    owner_[v] = found->second;
    return found->second;
  }

  void make(ValueId v) {
    const Value& value = plan_.values[v];
    // What has no elements may lie where another value does.
    const std::pair place{value.block, value.offset_bytes};
    if (value.bytes > 0 || !places_.contains(place)) places_[place] = v;
    if (memory_[v].is_made()) return;
    using Start = GuardedMemory::Start;
    memory_[v] = GuardedMemory(device_, queue_, value.bytes, surroundings_,
                               begins_[v] != 0 ? Start::of_block : Start::anywhere);
  }

  /// The joined tensor in whose memory the plan puts `v`, a part of it; none for other values.
  [[nodiscard]] ValueId whole_of_part(ValueId v) const {
    const ValueId root = memory_root(plan_.values, v);
    return plan_.values[v].bytes < plan_.values[root].bytes ? root : ValueId{};
  }

  /// Values have memory of their own here, parts too.
  void copy_to_whole(ValueId v) const {
    const ValueId whole = whole_of_part(v);
    if (!whole) return;
    Bytes bytes = read(whole);
    const Bytes part = read(v);
    const auto from = plan_.values[v].offset_bytes - plan_.values[whole].offset_bytes;
    std::copy(part.begin(), part.end(), bytes.begin() + from);
    write(whole, bytes);
  }

  void give(ValueId v, Bytes bytes) {
    make(v);
    write_buffer(queue_, device_.info(), memory_[v].buffer(), 0, bytes);
    given_[v] = std::move(bytes);
  }

  void make_constant(ValueId v) {
    // What only loading reads is gone by now.
    if (plan_.blocks[plan_.values[v].block].kind == PlannedBlock::Kind::loading) return;
    Bytes bytes(static_cast<std::size_t>(plan_.values[v].bytes));
    read_buffer(queue_, device_.info(), loaded_.constant(v), 0, bytes);
    give(v, std::move(bytes));
  }

  void make_input(const std::string& name, ValueId v, std::span<const NamedTensor> inputs) {
    const auto found = std::find_if(inputs.begin(), inputs.end(),
                                    [&](const NamedTensor& input) { return input.name == name; });
    if (found == inputs.end()) throw UsageError("guarded run: no input '" + name + "'");
    give(v, packed_input(found->tensor, plan_.values[v].arrangement));
  }

  Bytes read(ValueId v) const {
    Bytes bytes(static_cast<std::size_t>(plan_.values[v].bytes));
    read_buffer(queue_, device_.info(), memory_[v].buffer(), 0, bytes);
    return bytes;
  }
  void write(ValueId v, const Bytes& bytes) const {
    write_buffer(queue_, device_.info(), memory_[v].buffer(), 0, bytes);
  }

  /// Runs one step with spoiled padding in its operands, and spoils that of its result.
  void run_spoiled(LaunchedStep& launched) {
    const Step& step = launched.step();
    const Entry* entry = catalogue_.find_entry(step.kernel);
    std::map<ValueId, Bytes> before;
    for (const StepArgument& argument : step.arguments) {
      const auto format = entry->operands.find(argument.name);
      const PassedValue* passed = argument.value();
      const bool reads = passed != nullptr && argument.name != "dst";
      if (!reads || format == entry->operands.end() || format->second.is_any()) continue;
      const ValueId v = owner(passed->id);
      before[v] = read(v);
      write(v, spoiled(plan_.values[v].arrangement, format->second.padding, before[v]));
    }
    launched.enqueue(queue_, nullptr);
    for (const auto& [v, bytes] : before) write(v, bytes);
    for (const ValueId v : step.writes) {
      const Value& value = plan_.values[v];
      if (value.arrangement.padding == PaddingContents::zero) continue;
      const Bytes bytes = read(v);
      damage_ += padding_damage(value, bytes);
      write(v, spoiled(value.arrangement, value.arrangement.padding, bytes));
    }
  }

  /// An operand that its kernel writes too.
  [[nodiscard]] bool is_changed(ValueId v) const {
    return std::ranges::any_of(plan_.steps, [&](const Step& step) {
      return std::ranges::find(step.writes, v) != step.writes.end();
    });
  }

  GuardedResult collect() {
    GuardedResult result;
    result.damage = damage_;
    result.bytes.resize(plan_.values.size());
    for (const ValueId v : plan_.values.ids()) {
      if (!memory_[v].is_made()) continue;
      const Value& value = plan_.values[v];
      const std::string damage = memory_[v].damage(device_, queue_);
      if (!damage.empty()) result.damage += "'" + value.name + "': " + damage + "\n";
      const Bytes& bytes = result.bytes[v] = read(v);
      const bool is_given = !given_[v].empty() && !is_changed(v);
      if (is_given && bytes != given_[v]) result.damage += "'" + value.name + "' changed\n";
      if (!is_given) result.damage += padding_damage(value, bytes);
    }
    for (const auto& [name, value] : plan_.outputs) {
      const ValueId from = owner(value);
      result.bytes[value] = result.bytes[from];
    }
    return result;
  }

  const Catalogue& catalogue_;
  const LoadedPlan& loaded_;
  const Plan& plan_;
  OpenClDevice& device_;
  cl::CommandQueue queue_;
  Surroundings surroundings_;
  Indexed<ValueId, char> begins_;  ///< whether a value must lie at the start of its block
  Indexed<ValueId, GuardedMemory> memory_;
  Indexed<ValueId, Bytes> given_;    ///< what inputs and constants held
  Indexed<ValueId, ValueId> owner_;  ///< of values that were read and not made
  std::map<std::pair<BlockId, std::int64_t>, ValueId> places_;
  std::string damage_;
};

}  // namespace

GuardedResult run_guarded(const LoadedPlan& loaded, std::span<const NamedTensor> inputs,
                          Surroundings surroundings, const Catalogue& catalogue) {
  GuardedResult result;
  with_device_errors("guarded run", loaded.device().info(),
                     [&] { result = Run(loaded, surroundings, catalogue).run(inputs); });
  return result;
}

Tensor output_of(const GuardedResult& result, const Plan& plan, const std::string& name) {
  for (const auto& [port, value] : plan.outputs) {
    if (port != name) continue;
    return unpack(result.bytes[value], plan.values[value].arrangement);
  }
  throw UsageError("guarded run: no output '" + name + "'");
}

}  // namespace morton::run
