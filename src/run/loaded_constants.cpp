// SPDX-License-Identifier: Apache-2.0
//
// The constants of a loaded plan: where they are from, how they get there, and what is derived.
#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "device/use/transfer.hpp"
#include "layout/pack_slabs.hpp"
#include "run/host_memory.hpp"
#include "run/loaded_plan.hpp"
#include "run/shared_constants.hpp"
#include "run/streamed_weights.hpp"

namespace morton::run {
namespace {

/// Host memory for packed weights on their way to the device.
constexpr std::int64_t kSlabBytes = std::int64_t{16} << 20;

/// Packs a constant, slab by slab.
void pack_slabs(const Value& value, const layout::TakeSlab& take) {
  if (value.view) {
    pack_through_in_slabs(value.data, *value.view, value.view_names, value.arrangement, kSlabBytes,
                          take);
  } else {
    pack_in_slabs(value.data, value.arrangement, kSlabBytes, take);
  }
}

}  // namespace

void LoadedPlan::take_constants() {
  const Indexed<ValueId, ValueId> same = shared_constants(plan_, family_->plan());
  for (const ValueId v : same.ids()) {
    if (!same[v] || is_for_loading(v) || plan_.values[v].is_streamed) continue;
    if (family_->plan().values[same[v]].is_streamed) continue;
    is_taken_[v] = 1;
    constants_[v] = family_->constant(same[v]);
    figures_.shared_bytes += plan_.values[v].bytes;
  }
}

void LoadedPlan::upload_constants(const CompiledAhead& ahead) {
  blocks_.resize(plan_.blocks.size());
  loading_.lies_as_it_is.assign(plan_.blocks.size(), 0);
  for (const DeviceIndex index : devices_.ids()) {
    with_device_errors("uploading the weights", device(index).info(), [&] {
      for (const BlockId b : blocks_.ids()) {
        // What is not the family's has memory of its own, value by value.
        if (family_ == nullptr && plan_.blocks[b].device == index) {
          blocks_[b] = weights_block(b, ahead);
        }
      }
      const cl::CommandQueue queue = device(index).make_queue(OpenClDevice::QueueKind::plain);
      take_large_pages(index, queue);
      for (const ValueId v : plan_.values.ids()) {
        const Value& value = plan_.values[v];
        if (!is_fixed(value) || value.device != index || is_taken_[v] != 0) continue;
        // What only load steps read comes with them.
        if (is_for_loading(v)) continue;
        if (ahead.weights.empty()) {
          upload(v, queue);
        } else {
          upload_packed(v, ahead, queue);
        }
      }
      queue.finish();
    });
  }
}

Block LoadedPlan::weights_block(BlockId block, const CompiledAhead& ahead) {
  const PlannedBlock& planned = plan_.blocks[block];
  OpenClDevice& its_device = device(planned.device);
  if (planned.kind == PlannedBlock::Kind::loading && ahead.weights.empty()) {
    return its_device.memory().allocate(planned.bytes);
  }
  if (planned.kind != PlannedBlock::Kind::weights) return {};
  if (ahead.owner != nullptr && its_device.info().memory.is_unified && planned.bytes > 0) {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(ahead.weights[block]));
    const auto address = reinterpret_cast<std::uintptr_t>(bytes.data());
    const auto alignment =
        static_cast<std::uintptr_t>(its_device.info().memory.base_alignment_bytes);
    try {
      if (address % alignment == 0) {
        Block lent = its_device.memory().over(bytes, ahead.owner);
        loading_.lies_as_it_is[block] = 1;
        return lent;
      }
    } catch (const DeviceError&) {
      // A driver may take no memory of a file; then it gets a copy.
    }
  }
  return its_device.memory().allocate(planned.bytes);
}

void LoadedPlan::take_large_pages(DeviceIndex index, const cl::CommandQueue& queue) {
  const DeviceInfo& info = device(index).info();
  if (info.kind != DeviceInfo::Kind::cpu || !info.memory.is_unified || family_ != nullptr) return;
  for (const BlockId b : blocks_.ids()) {
    const PlannedBlock& planned = plan_.blocks[b];
    const bool is_fresh = planned.kind == PlannedBlock::Kind::weights && planned.device == index &&
                          planned.bytes > 0 && loading_.lies_as_it_is[b] == 0;
    if (!is_fresh) continue;
    const MappedBuffer mapped(queue, info, blocks_[b].buffer(),
                              MappedBuffer::Range{0, planned.bytes},
                              MappedBuffer::Access::overwrite);
    ask_for_large_pages(mapped.bytes());
  }
}

bool LoadedPlan::is_for_loading(ValueId value) const {
  const BlockId block = plan_.values[value].block;
  return plan_.blocks[block].kind == PlannedBlock::Kind::loading;
}

bool LoadedPlan::is_to_read(ValueId value) const {
  return loading_.is_to_read[memory_root(plan_.values, value)] != 0;
}

void LoadedPlan::find_load_steps() {
  loading_.is_to_run.assign(plan_.load_steps.size(), 0);
  loading_.is_to_read.assign(plan_.values.size(), 0);
  for (std::size_t s = plan_.load_steps.size(); s-- > 0;) {
    const Step& step = plan_.load_steps[s];
    const bool is_needed = std::ranges::any_of(step.writes, [&](ValueId value) {
      return is_taken_[value] == 0 && (!is_for_loading(value) || is_to_read(value));
    });
    if (!is_needed) continue;
    loading_.is_to_run[s] = 1;
    for (const ValueId value : step.reads)
      loading_.is_to_read[memory_root(plan_.values, value)] = 1;
  }
}

void LoadedPlan::drop_what_was_for_loading() {
  loading_.blocks.clear();
  for (const ValueId v : plan_.values.ids()) {
    if (is_fixed(plan_.values[v]) && is_for_loading(v)) constants_[v] = cl::Buffer();
  }
  for (const BlockId b : plan_.blocks.ids()) {
    if (plan_.blocks[b].kind != PlannedBlock::Kind::loading) continue;
    if (b.index() < static_cast<int>(blocks_.size())) blocks_[b] = {};
    device(plan_.blocks[b].device).memory().trim();
  }
}

void LoadedPlan::upload(ValueId id, const cl::CommandQueue& queue) {
  const Value& value = plan_.values[id];
  if (value.is_streamed) {
    if (value.kind == Value::Kind::derived || value.memory_of) return;
    const std::span<std::byte> whole = streamed_->bytes_of(id);
    pack_slabs(value, [&](const layout::Slab& slab) {
      slab.fill(whole.subspan(static_cast<std::size_t>(slab.offset_bytes),
                              static_cast<std::size_t>(slab.bytes)));
      value.data.drop_pages();
    });
    return;
  }
  const std::int64_t bytes = std::max<std::int64_t>(value.bytes, 1);
  if (family_ == nullptr) {
    constants_[id] = blocks_[value.block].slice(value.offset_bytes, bytes);
  } else {
    std::vector<Block>& blocks = is_for_loading(id) ? loading_.blocks : own_blocks_;
    if (!is_for_loading(id)) figures_.own_bytes += value.bytes;
    blocks.push_back(device(value.device).memory().allocate(bytes));
    constants_[id] = blocks.back().slice(0, bytes);
  }
  if (value.kind == Value::Kind::derived || value.bytes == 0) return;
  const DeviceInfo& info = device(value.device).info();
  // Memory that the host shares takes what is packed as it comes; other memory by way of `staged`.
  std::optional<MappedBuffer> mapped;
  std::vector<std::byte> staged;
  if (info.memory.is_unified) {
    mapped.emplace(queue, info, constants_[id], MappedBuffer::Range{0, value.bytes},
                   MappedBuffer::Access::overwrite);
  }
  const auto take = [&](const layout::Slab& slab) {
    const auto size = static_cast<std::size_t>(slab.bytes);
    if (mapped) {
      slab.fill(mapped->bytes().subspan(static_cast<std::size_t>(slab.offset_bytes), size));
    } else {
      staged.resize(size);
      slab.fill(staged);
      write_buffer(queue, info, constants_[id], slab.offset_bytes, staged);
    }
    value.data.drop_pages();
  };
  pack_slabs(value, take);
  if (mapped) mapped->unmap();
}

void LoadedPlan::upload_packed(ValueId id, const CompiledAhead& ahead,
                               const cl::CommandQueue& queue) {
  const Value& value = plan_.values[id];
  constants_[id] =
      blocks_[value.block].slice(value.offset_bytes, std::max<std::int64_t>(value.bytes, 1));
  if (loading_.lies_as_it_is[value.block] != 0) return;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(ahead.weights[value.block]));
  write_buffer(queue, device(value.device).info(), constants_[id], 0,
               bytes.subspan(static_cast<std::size_t>(value.offset_bytes),
                             static_cast<std::size_t>(value.bytes)));
}

void LoadedPlan::upload_for_loading(std::size_t load_step, const Lifetimes& lives,
                                    const cl::CommandQueue& queue) {
  const DeviceIndex index = plan_.load_steps[load_step].device;
  for (const ValueId v : plan_.values.ids()) {
    const Value& value = plan_.values[v];
    if (!is_fixed(value) || value.device != index || !is_for_loading(v)) continue;
    if (is_taken_[v] != 0 || !is_to_read(v) || constants_[v]() != nullptr) continue;
    if (lives[v].first <= load_step) upload(v, queue);
  }
}

void LoadedPlan::make_room_for_streamed(const Step& step) {
  for (const ValueId v : step.writes) {
    const Value& value = plan_.values[v];
    if (!value.is_streamed) continue;
    loading_.blocks.push_back(device(step.device).memory().allocate(value.bytes));
    constants_[v] = loading_.blocks.back().slice(0, std::max<std::int64_t>(value.bytes, 1));
  }
}

void LoadedPlan::take_streamed(const Step& step, const cl::CommandQueue& queue) {
  for (const ValueId v : step.writes) {
    if (!plan_.values[v].is_streamed) continue;
    read_buffer(queue, device(step.device).info(), constants_[v], 0, streamed_->bytes_of(v));
    constants_[v] = cl::Buffer();
    loading_.blocks.pop_back();  // of the same size as the next one, mostly
  }
}

void LoadedPlan::run_load_steps() {
  const Lifetimes lives = load_lifetimes(plan_);
  for (const DeviceIndex index : devices_.ids()) {
    with_device_errors("preparing the weights", device(index).info(), [&] {
      const cl::CommandQueue queue = device(index).make_queue(OpenClDevice::QueueKind::plain);
      // Kernels live until the queue is done with them.
      std::vector<std::unique_ptr<LaunchedStep>> launched;
      for (std::size_t s = 0; s < plan_.load_steps.size(); ++s) {
        const Step& step = plan_.load_steps[s];
        if (step.device != index || loading_.is_to_run[s] == 0) continue;
        // The queue is in order: this waits for steps that read what lay in the same place.
        upload_for_loading(s, lives, queue);
        make_room_for_streamed(step);
        launched.push_back(
            launch(step, [&](ValueId value) -> const cl::Buffer& { return constant(value); }));
        launched.back()->enqueue(queue, nullptr);
        take_streamed(step, queue);
      }
      queue.finish();
    });
  }
}

}  // namespace morton::run
