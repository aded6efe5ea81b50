// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "api/inside.hpp"
#include "device/probe/probe_copy.hpp"
#include "device/probe/probe_memory.hpp"
#include "device/probe/probe_transfer.hpp"
#include "morton/tools/named_probes.hpp"
#include "tools/probing/measured.hpp"

namespace morton {
using namespace tools;
namespace {

using CopyWay = MeasuredCopy::Way;
constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

Measured gibibytes(std::vector<double> rates, double bytes_of_unit) {
  for (double& rate : rates) rate *= bytes_of_unit / kGibibyte;
  return measured(std::move(rates), Best::greatest);
}

Measured copied_by_driver(const std::shared_ptr<OpenClDevice>& device, std::int64_t bytes,
                          const Sampling& sampling) {
  std::vector<double> rates;
  for (const double ms : CopyProbe(device, bytes).copy_ms(sampling)) {
    rates.push_back(static_cast<double>(bytes) / (ms * 1e-3));
  }
  return gibibytes(std::move(rates), 1.0);
}

}  // namespace

MeasuredCopies probe_copies(const Device& device, const ProbeOptions& options) {
  const auto opened = Inside::of(device);
  const Sampling sampling = sampling_of(options);
  constexpr std::int64_t kLeast = 4 << 10;
  const std::int64_t most = std::int64_t{is_quick(options) ? 16 : 256} << 20;
  const std::int64_t factor = is_quick(options) ? 16 : 4;
  const std::int64_t allocation = opened->info().memory.max_allocation_bytes;
  MeasuredCopies found;
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = kLeast; bytes <= most; bytes *= factor) {
    // A kernel copies within one buffer, which holds both.
    if (bytes <= allocation / 4) {
      sizes.push_back(bytes);
    } else {
      found.notes.push_back(
          fmt::format("copies of {} bytes are left out: the device's largest allocation is {} "
                      "bytes, and they need four times theirs",
                      bytes, allocation));
    }
  }
  std::vector<MeasuredCopy>& copies = found.copies;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t bytes = sizes[i];
    tell(options, "copies", static_cast<double>(i) / static_cast<double>(sizes.size()));
    TransferProbe transfers(opened, bytes);
    using Direction = TransferProbe::Direction;
    const auto across = [&](Direction direction) {
      return gibibytes(transfers.measure(direction, TransferProbe::Way::pageable, sampling), 1e9);
    };
    copies.push_back({CopyWay::to_device, bytes, across(Direction::to_device)});
    copies.push_back({CopyWay::from_device, bytes, across(Direction::from_device)});
    copies.push_back({CopyWay::by_driver, bytes, copied_by_driver(opened, bytes, sampling)});
    MemoryProbe memory(opened, 2 * bytes);
    const std::int64_t footprint = memory.footprint_near(2 * bytes);
    if (!memory.can_measure(MemoryProbe::Access::copy, footprint)) {
      found.notes.push_back(fmt::format(
          "the kernel's copy of {} bytes is left out: its work-items do not share {} bytes evenly",
          bytes, footprint));
      continue;
    }
    // There a copied byte counts twice.
    copies.push_back(
        {CopyWay::by_kernel, footprint / 2,
         gibibytes(memory.measure(MemoryProbe::Access::copy, footprint, sampling), 0.5e9)});
  }
  return found;
}

}  // namespace morton
