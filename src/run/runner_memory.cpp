// SPDX-License-Identifier: Apache-2.0
//
// What the host writes to a runner's values, reads of them and maps.
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "plan/ir/plan.hpp"
#include "run/runner.hpp"

namespace morton::run {

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
  require_writable(value, tensor);
  lent_.gone.erase(value);
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
}

void Runner::read(ValueId value, Tensor& tensor) { read({&value, 1}, {&tensor, 1}); }

void Runner::read(std::span<const ValueId> values, std::span<Tensor> tensors) {
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
      reads.push_back({buffer_of(values[i]), {tensors[i].mutable_data(), tensors[i].bytes()}});
    }
    names += (names.empty() ? "'" : ", '") + value_at(values[i]).name + "'";
  }
  const DeviceInfo& info = loaded_->device().info();
  const std::optional<Stopwatch> run = std::exchange(read_waits_.run, std::nullopt);
  WaitPolicy& policy = run ? read_waits_.behind_run : read_waits_.alone;
  // Drivers of GPUs have ways of their own to wait.
  const bool may_ask = info.kind == DeviceInfo::Kind::cpu;
  const Stopwatch reading;
  with_errors("reading output " + names, [&] {
    // The map waits and makes the memory the host's.
    for (const ValueId value : in_place) {
      MappedBuffer(queues_.front(), info, buffer_of(value), {0, value_at(value).bytes},
                   MappedBuffer::Access::read)
          .unmap();
    }
    read_buffers(queues_.front(), info, reads, may_ask ? policy.asking_us() : 0.0);
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

std::vector<std::byte> Runner::bytes_of(ValueId value) const {
  const Value& source = value_at(value);
  std::vector<std::byte> bytes(static_cast<std::size_t>(source.bytes));
  if (bytes.empty()) return bytes;
  with_errors("reading '" + source.name + "'", [&] {
    read_buffer(queues_.front(), loaded_->device().info(), buffer_of(value), 0, bytes);
  });
  return bytes;
}

std::span<std::byte> Runner::map(ValueId value, MappedBuffer::Access access) {
  const Value& target = value_at(value);
  require_unmapped(value, "mapping");
  lent_.gone.erase(value);
  std::span<std::byte> bytes;
  if (target.bytes == 0) return bytes;
  with_errors("mapping '" + target.name + "'", [&] {
    const MappedBuffer::Range whole{0, target.bytes};
    mapped_.push_back(
        {value, std::make_unique<MappedBuffer>(queues_.front(), loaded_->device().info(),
                                               buffer_of(value), whole, access)});
    bytes = mapped_.back().memory->bytes();
  });
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
