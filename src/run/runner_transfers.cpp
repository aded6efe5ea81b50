// SPDX-License-Identifier: Apache-2.0
//
// Rows of a batch on their way between the host and several devices. Inputs and outputs lie whole
// on the first device; while the caller waits for a run, the others' rows need not pass through it.
#include <algorithm>

#include "base/rooms.hpp"
#include "device/use/transfer.hpp"
#include "run/runner.hpp"

namespace morton::run {

void Runner::transfer(const Transfer& transfer) {
  const DeviceIndex from = value_at(transfer.from).device;
  const DeviceIndex to = value_at(transfer.to).device;
  const Stretches source{transfer.from_offset_bytes, transfer.bytes, transfer.stretches,
                         transfer.from_pitch_bytes};
  const Stretches target{transfer.to_offset_bytes, transfer.bytes, transfer.stretches,
                         transfer.to_pitch_bytes};
  // PoCL 3.1 crashes on rectangles of sub-buffers. Where the host shares the memory it copies as
  // well.
  const bool by_device = transfer.stretches == 1 || !info(to).memory.is_unified;
  if (from == to && by_device) {
    enqueue_copy(queue_of(to), info(to), {buffer_of(transfer.from), source},
                 {buffer_of(transfer.to), target});
    return;
  }
  const std::span<std::byte> bytes(transfers_.staging.data(),
                                   static_cast<std::size_t>(source.all_bytes()));
  read_stretches(queue_of(from), info(from), buffer_of(transfer.from), source, bytes);
  write_stretches(queue_of(to), info(to), buffer_of(transfer.to), target, bytes);
}

const Transfer* Runner::as_lent_rows(std::size_t index) const {
  const Transfer* rows = loaded_->plan().steps[index].transfer();
  if (rows == nullptr || !lent_.bytes.contains(rows->from)) return nullptr;
  return value_at(rows->to).device == kFirstDevice ? nullptr : rows;
}

void Runner::send_lent(ValueId value, DeviceIndex device, std::span<const std::byte> bytes) {
  if (PinnedWrite::pays(info(device), static_cast<std::int64_t>(bytes.size()))) {
    writes_.pinned[value].enqueue(queue_of(device), info(device), buffer_of(value), bytes);
  } else {
    enqueue_write(queue_of(device), info(device), buffer_of(value), bytes);
  }
}

void Runner::transfer_lent(const Transfer& rows) {
  const DeviceIndex device = value_at(rows.to).device;
  const std::span<const std::byte> lent = lent_.bytes.at(rows.from);
  const auto from = static_cast<std::size_t>(rows.from_offset_bytes);
  const auto bytes = static_cast<std::size_t>(rows.bytes);
  if (rows.stretches == 1) return send_lent(rows.to, device, lent.subspan(from, bytes));
  const std::span<std::byte> all(transfers_.staging.data(),
                                 static_cast<std::size_t>(rows.all_bytes()));
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows.stretches); ++i) {
    const std::size_t pitch = static_cast<std::size_t>(rows.from_pitch_bytes);
    std::ranges::copy(lent.subspan(from + i * pitch, bytes), all.subspan(i * bytes).begin());
  }
  write_stretches(queue_of(device), info(device), buffer_of(rows.to),
                  {rows.to_offset_bytes, rows.bytes, rows.stretches, rows.to_pitch_bytes}, all);
}

std::span<const std::byte> Runner::needed_on_first(ValueId input,
                                                   std::span<const std::byte> whole) const {
  if (queues_.size() == 1 || other_name(input) != nullptr) return whole;
  std::size_t bytes = whole.size();
  for (const Step& step : loaded_->plan().steps) {
    const Transfer* rows = step.transfer();
    if (rows == nullptr || rows->from != input) continue;
    const bool is_tail = rows->stretches == 1 && rows->from_offset_bytes > 0;
    // What every device has whole, or in pieces of each row, the first one reads to its end.
    if (!is_tail || value_at(rows->to).device == kFirstDevice) return whole;
    bytes = std::min(bytes, static_cast<std::size_t>(rows->from_offset_bytes));
  }
  return whole.first(bytes);
}

bool Runner::stays(const Transfer& rows) const {
  // Where the queue profiles, a transfer has times of its own.
  return kind_ != OpenClDevice::QueueKind::profiling && transfers_.read_apart.contains(rows.to) &&
         rows.stretches == 1 && value_at(rows.from).device != kFirstDevice;
}

void Runner::bring_in(ValueId value) {
  std::erase_if(transfers_.stayed, [&](const Transfer* rows) {
    if (rows->to != value) return false;
    transfer(*rows);
    return true;
  });
}

std::span<std::byte> Runner::rows_on_first(ValueId output, std::span<std::byte> whole) const {
  std::size_t bytes = whole.size();
  for (const Transfer* rows : transfers_.stayed) {
    if (rows->to != output) continue;
    bytes = std::min(bytes, static_cast<std::size_t>(rows->to_offset_bytes));
  }
  return whole.first(bytes);
}

void Runner::read_stayed(ValueId output, std::span<std::byte> whole) const {
  for (const Transfer* rows : transfers_.stayed) {
    if (rows->to != output) continue;
    const DeviceIndex device = value_at(rows->from).device;
    read_buffer(queue_of(device), info(device), buffer_of(rows->from), rows->from_offset_bytes,
                whole.subspan(static_cast<std::size_t>(rows->to_offset_bytes),
                              static_cast<std::size_t>(rows->bytes)));
  }
}

}  // namespace morton::run
