// SPDX-License-Identifier: Apache-2.0
//
// What the host writes to a runner's values, reads of them and maps, and its memory in which steps
// work for one run: inputs where the caller has them, results where it will have them.
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "plan/ir/plan.hpp"
#include "run/runner.hpp"

namespace morton::run {

namespace {

/// Whether kernels can read and write the bytes as fast as memory that the driver gave. A driver of
/// a GPU that shares the host's memory may copy them, or see them past its caches: not measured.
bool lies_as_kernels_want(const DeviceInfo& info, std::span<const std::byte> bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
  return info.kind == DeviceInfo::Kind::cpu && info.memory.is_unified &&
         static_cast<std::int64_t>(bytes.size()) > kStagedBytes &&
         address % static_cast<std::uintptr_t>(info.memory.base_alignment_bytes) == 0;
}

}  // namespace

void Runner::require_writable(ValueId value, const Tensor& tensor) const {
  const Value& target = value_at(value);
  if (tensor.dtype() != target.arrangement.dtype ||
      tensor.shape() != target.arrangement.tensor_shape) {
    throw UsageError("session: '" + target.name + "' is " +
                     std::string(name_of(target.arrangement.dtype)) + " " +
                     to_string(target.arrangement.tensor_shape) + ", got " +
                     std::string(name_of(tensor.dtype())) + " " + to_string(tensor.shape()));
  }
  require_unmapped(value, "setting");
}

void Runner::write(ValueId value, const Tensor& tensor) {
  require_not_lost();
  require_writable(value, tensor);
  if (watch_.limit.is_set()) await(kFirstDevice);
  with_errors("writing input '" + value_at(value).name + "'", [&] {
    const std::span<const std::byte> from{tensor.data(), tensor.bytes()};
    // The caller may look at its own buffer by a queue of its own at once.
    if (static_cast<std::int64_t>(from.size()) <= kStagedBytes && !uses_callers_objects()) {
      writes_.staged[value].enqueue(queues_.front(), loaded_->device().info(), buffer_of(value),
                                    from);
    } else {
      write_buffer(queues_.front(), loaded_->device().info(), buffer_of(value), 0, from);
    }
  });
  was_written(value);
}

void Runner::was_written(ValueId value) {
  if (buffers_[value]() == own_.buffers[value]()) lent_.gone.erase(value);
}

bool Runner::work_in(ValueId value, const Tensor& tensor) {
  OpenClDevice& device = loaded_->device();
  const std::span<const std::byte> bytes{tensor.data(), tensor.bytes()};
  const Value& target = value_at(value);
  if (is_fixed(target) || target.bytes != static_cast<std::int64_t>(bytes.size())) return false;
  if (!lies_as_kernels_want(device.info(), bytes) || other_name(value) != nullptr) return false;
  // An input that is an output too is read behind the run, when the caller's memory has gone.
  const bool is_read_later = std::ranges::any_of(
      loaded_->plan().outputs, [&](const Port& output) { return output.value == value; });
  if (is_read_later && target.kind != Value::Kind::output) return false;
  try {
    Block block = device.memory().over(bytes, std::make_shared<Tensor>(tensor));
    // Where a step is left without memory the run does not begin.
    with_errors("using the host's memory", [&] { rebind(value, block.buffer()); });
    if (target.kind == Value::Kind::output) {
      lent_.results[value] = {std::move(block), tensor};
    } else {
      lent_.inputs[value] = std::move(block);
    }
    return true;
  } catch (const DeviceError&) {
    // A driver may take no memory of the host's, or a limit leaves no room; then bytes are copied.
    return false;
  }
}

bool Runner::is_lent(ValueId value) const {
  const auto shares = [&](const auto& lent) { return same_place(lent.first, value); };
  return std::ranges::any_of(lent_.inputs, shares) || std::ranges::any_of(lent_.results, shares);
}

void Runner::lend(ValueId value, const Tensor& tensor) {
  // The caller may look at its own buffer by a queue of its own at once.
  if (uses_callers_objects()) {
    write(value, tensor);
    lent_.now.insert(value);
    return;
  }
  require_not_lost();
  require_writable(value, tensor);
  if (watch_.limit.is_set()) lent_.kept[value] = tensor;
  read_waits_.begin();
  lent_.gone.erase(value);
  lent_.now.insert(value);
  const std::span<const std::byte> whole{tensor.data(), tensor.bytes()};
  if (queues_.size() > 1) lent_.bytes[value] = whole;
  if (work_in(value, tensor)) return;
  with_errors("writing input '" + value_at(value).name + "'",
              [&] { send_lent(value, kFirstDevice, needed_on_first(value, whole)); });
}

void Runner::take_back() {
  lent_.gone.merge(lent_.now);
  lent_.now.clear();
  lent_.bytes.clear();
  if (is_lost()) return;
  lent_.kept.clear();
  while (!lent_.inputs.empty()) {
    const ValueId value = lent_.inputs.begin()->first;
    with_errors("ending a run", [&] { rebind(value, own_.buffers[value]); });
    lent_.inputs.erase(value);
  }
}

Tensor Runner::tensor_for(ValueId output) {
  const Value& value = value_at(output);
  const Arrangement& arrangement = value.arrangement;
  if (value.bytes <= kStagedBytes) {
    return Tensor::allocate(arrangement.dtype, arrangement.tensor_shape);
  }
  Tensor tensor = lent_.spare.take(arrangement.dtype, arrangement.tensor_shape);
  const bool is_own = buffer_of(output)() == own_.buffers[output]();
  if (value.kind == Value::Kind::output && is_own) static_cast<void>(work_in(output, tensor));
  return tensor;
}

std::vector<Tensor> Runner::compute(std::span<const ValueId> outputs) {
  begin_run();
  std::vector<Tensor> tensors;
  for (const ValueId output : outputs) tensors.push_back(tensor_for(output));
  if (queues_.size() > 1) {
    std::ranges::copy_if(outputs, std::inserter(transfers_.read_apart, transfers_.read_apart.end()),
                         [&](ValueId output) {
                           return buffer_of(output)() == own_.buffers[output]() &&
                                  other_name(output) == nullptr;
                         });
  }
  enqueue_steps(Part::all);
  read_there(outputs, tensors);
  return tensors;
}

void Runner::return_results() {
  for (const auto& [value, result] : lent_.results) {
    with_errors("beginning a run", [&] { rebind(value, own_.buffers[value]); });
  }
  lent_.results.clear();
}

void Runner::read(ValueId value, Tensor& tensor) { read({&value, 1}, {&tensor, 1}); }

void Runner::read(std::span<const ValueId> values, std::span<Tensor> tensors) {
  for (const ValueId value : values) bring_in(value);
  read_there(values, tensors);
}

void Runner::read_there(std::span<const ValueId> values, std::span<Tensor> tensors) {
  std::vector<BufferRead> reads;
  std::vector<ValueId> in_place;
  std::string names;
  for (std::size_t i = 0; i < values.size(); ++i) {
    require_fits(values[i], tensors[i]);
    const auto lent = lent_.results.find(values[i]);
    const bool is_there =
        lent != lent_.results.end() && lent->second.tensor.data() == tensors[i].data();
    if (is_there) {
      in_place.push_back(values[i]);
    } else {
      reads.push_back({buffer_of(values[i]),
                       rows_on_first(values[i], {tensors[i].mutable_data(), tensors[i].bytes()})});
    }
    names += (names.empty() ? "'" : ", '") + value_at(values[i]).name + "'";
  }
  const DeviceInfo& info = loaded_->device().info();
  const std::optional<Stopwatch> run = std::exchange(read_waits_.run, std::nullopt);
  WaitPolicy& policy = run ? read_waits_.behind_run : read_waits_.alone;
  // Drivers of GPUs have ways of their own to wait.
  const bool may_ask = info.kind == DeviceInfo::Kind::cpu;
  const Stopwatch reading;
  for (const DeviceIndex device : queues_.ids()) await(device);
  with_errors("reading output " + names, [&] {
    // The map waits and makes the memory the host's.
    for (const ValueId value : in_place) {
      MappedBuffer(queues_.front(), info, buffer_of(value), {0, value_at(value).bytes},
                   MappedBuffer::Access::read)
          .unmap();
    }
    read_buffers(queues_.front(), info, reads, may_ask ? policy.asking_us() : 0.0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      read_stayed(values[i], {tensors[i].mutable_data(), tensors[i].bytes()});
    }
  });
  if (may_ask) policy.took((run ? *run : reading).microseconds());
}

void Runner::require_fits(ValueId value, const Tensor& tensor) const {
  const Value& source = value_at(value);
  if (tensor.dtype() != source.arrangement.dtype ||
      tensor.shape() != source.arrangement.tensor_shape) {
    throw UsageError("session: output '" + source.name + "' is " +
                     std::string(name_of(source.arrangement.dtype)) + " " +
                     to_string(source.arrangement.tensor_shape) + ", the destination is " +
                     std::string(name_of(tensor.dtype())) + " " + to_string(tensor.shape()));
  }
}

std::vector<std::byte> Runner::bytes_of(ValueId value) {
  bring_in(value);
  const Value& source = value_at(value);
  std::vector<std::byte> bytes(static_cast<std::size_t>(source.bytes));
  if (bytes.empty()) return bytes;
  await(kFirstDevice);
  with_errors("reading '" + source.name + "'", [&] {
    read_buffer(queues_.front(), loaded_->device().info(), buffer_of(value), 0, bytes);
  });
  return bytes;
}

std::span<std::byte> Runner::map(ValueId value, MappedBuffer::Access access) {
  const Value& target = value_at(value);
  require_unmapped(value, "mapping");
  bring_in(value);
  std::span<std::byte> bytes;
  await(kFirstDevice);
  if (target.bytes > 0) {
    with_errors("mapping '" + target.name + "'", [&] {
      const MappedBuffer::Range whole{0, target.bytes};
      mapped_.push_back(
          {value, std::make_unique<MappedBuffer>(queues_.front(), loaded_->device().info(),
                                                 buffer_of(value), whole, access)});
      bytes = mapped_.back().memory->bytes();
    });
  }
  if (access != MappedBuffer::Access::read) was_written(value);
  return bytes;
}

void Runner::unmap() {
  with_errors("unmapping", [&] {
    for (const auto& mapping : mapped_) mapping.memory->unmap();
  });
  mapped_.clear();
}

bool Runner::same_place(ValueId a, ValueId b) const {
  const Value& one = value_at(a);
  const Value& other = value_at(b);
  if (one.block != other.block || one.offset_bytes != other.offset_bytes) return false;
  const Values& values = loaded_->plan().values;
  return one.bytes == other.bytes || memory_root(values, a) == memory_root(values, b);
}

void Runner::require_unmapped(const std::string& action) const {
  if (is_mapped()) throw UsageError("session: unmap inputs and outputs before " + action);
}

void Runner::require_unmapped(ValueId value, const std::string& action) const {
  for (const auto& mapping : mapped_) {
    if (!same_place(mapping.value, value)) continue;
    throw UsageError("session: '" + value_at(value).name + "' is mapped; unmap it before " +
                     action + " it");
  }
}

}  // namespace morton::run
