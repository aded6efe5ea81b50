// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/static_bound.hpp"

#include "base/rooms.hpp"
#include "plan/cost/cost.hpp"
#include "tools/boards/static_cost.hpp"

namespace morton {
using namespace tools;

StaticBound static_bound(const KernelText& kernel, const CompilerStatistics& statistics,
                         const std::string& device_json) {
  const DeviceInfo device = device_info_from_text(device_json);
  const ItemWork work = work_of(kernel);
  const double multiply_adds =
      work_items(kernel.global) * static_cost_of(statistics, work).of_item(work.operations);
  Moved moved;
  moved.tensors = kernel.bytes;
  return {peak_us(2.0 * multiply_adds, device), moving_us(moved, device)};
}

}  // namespace morton
