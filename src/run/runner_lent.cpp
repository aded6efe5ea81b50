// SPDX-License-Identifier: Apache-2.0
//
// A runner's steps on memory of the host's for one run: inputs where the caller has them, results
// where it will have them.
#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "base/rooms.hpp"
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

bool Runner::work_in(ValueId value, const Tensor& tensor) {
  OpenClDevice& device = loaded_->device();
  const std::span<const std::byte> bytes{tensor.data(), tensor.bytes()};
  const Value& target = value_at(value);
  if (is_fixed(target) || target.bytes != static_cast<std::int64_t>(bytes.size())) return false;
  if (!lies_as_kernels_want(device.info(), bytes) || other_name(value) != nullptr) return false;
  try {
    Block block = device.memory().over(bytes, std::make_shared<Tensor>(tensor));
    with_errors("using the host's memory", [&] { rebind(value, block.buffer()); });
    if (target.kind == Value::Kind::output) {
      lent_.results[value] = {std::move(block), tensor};
    } else {
      lent_.inputs[value] = std::move(block);
    }
    return true;
  } catch (const DeviceError&) {
    return false;  // A driver may take no memory of the host's; then the bytes are copied.
  }
}

bool Runner::is_lent(ValueId value) const {
  const auto shares = [&](const auto& lent) { return same_place(lent.first, value); };
  return std::ranges::any_of(lent_.inputs, shares) || std::ranges::any_of(lent_.results, shares);
}

void Runner::lend(ValueId value, const Tensor& tensor) {
  // The caller may look at its own buffer by a queue of its own at once.
  if (uses_callers_objects()) return write(value, tensor);
  require_writable(value, tensor);
  read_waits_.begin();
  lent_.gone.erase(value);
  lent_.now.insert(value);
  if (work_in(value, tensor)) return;
  with_errors("writing input '" + value_at(value).name + "'", [&] {
    const DeviceInfo& info = loaded_->device().info();
    const std::span<const std::byte> from{tensor.data(), tensor.bytes()};
    if (PinnedWrite::pays(info, static_cast<std::int64_t>(from.size()))) {
      writes_.pinned[value].enqueue(queues_.front(), info, buffer_of(value), from);
    } else {
      enqueue_write(queues_.front(), info, buffer_of(value), from);
    }
  });
}

void Runner::take_back() {
  for (const auto& [value, block] : lent_.inputs) {
    with_errors("ending a run", [&] { rebind(value, own_.buffers[value]); });
  }
  lent_.inputs.clear();
  lent_.gone.merge(lent_.now);
  lent_.now.clear();
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
  enqueue_steps(Part::all);
  read(outputs, tensors);
  return tensors;
}

void Runner::return_results() {
  for (const auto& [value, result] : lent_.results) {
    with_errors("beginning a run", [&] { rebind(value, own_.buffers[value]); });
  }
  lent_.results.clear();
}

}  // namespace morton::run
