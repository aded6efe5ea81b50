// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "api/inside.hpp"
#include "device/probe/probe_group.hpp"
#include "morton/tools/named_probes.hpp"
#include "tools/probing/measured.hpp"

namespace morton {
using namespace tools;
namespace {

using GroupExtents = GroupProbe::Extents;

/// The driver's own first.
std::vector<GroupExtents> shapes_for(const ProbeOptions& options) {
  if (is_quick(options)) return {{0, 0}, {1, 1}, {16, 1}, {64, 1}, {4, 16}, {8, 8}, {16, 16}};
  return {{0, 0},   {1, 1},  {4, 1},  {8, 1}, {16, 1}, {32, 1},  {64, 1}, {128, 1},
          {256, 1}, {1, 64}, {4, 16}, {8, 8}, {16, 4}, {16, 16}, {8, 32}, {32, 8}};
}

}  // namespace

std::vector<MeasuredGroups> probe_groups(const Device& device, const ProbeOptions& options) {
  using Kernel = GroupProbe::Kernel;
  const std::vector<GroupExtents> shapes = shapes_for(options);
  const std::int64_t rows = is_quick(options) ? 512 : 1024;
  const std::int64_t size = is_quick(options) ? 128 : 256;
  std::vector<MeasuredGroups> results;
  double done = 0.0;
  for (const Kernel kernel : {Kernel::stream, Kernel::product}) {
    const bool product = kernel == Kernel::product;
    const GroupExtents items = product ? GroupExtents{size, size} : GroupExtents{1024, rows};
    GroupProbe probe(Inside::of(device), kernel, items);
    MeasuredGroups result;
    result.kernel = product ? "product" : "stream";
    result.work_items = items;
    for (const GroupExtents& shape : shapes) {
      tell(options, "work-groups", done / static_cast<double>(2 * shapes.size()));
      done += 1.0;
      if (const auto why = probe.why_not(shape)) {
        result.left_out.push_back(fmt::format("{}x{}: {}", shape[0], shape[1], *why));
        continue;
      }
      std::vector<double> times = probe.launch_times_ms(shape, sampling_of(options));
      for (double& time : times) time *= 1e3;
      result.groups.push_back({shape, measured(std::move(times), Best::least)});
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace morton
