// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "api/inside.hpp"
#include "device/probe/probe_image.hpp"
#include "morton/tools/named_probes.hpp"
#include "tools/probing/measured.hpp"

namespace morton {
using namespace tools;

ImageReads probe_images(const Device& device, const ProbeOptions& options) {
  const auto opened = Inside::of(device);
  using Type = ImageProbe::Type;
  using Memory = ImageProbe::Memory;
  using Order = ImageProbe::Order;
  const std::vector<std::int64_t> widths = is_quick(options)
                                               ? std::vector<std::int64_t>{256, 1024}
                                               : std::vector<std::int64_t>{256, 512, 1024, 2048};
  ImageReads result;
  double done = 0.0;
  for (const Type type : {Type::f32, Type::f16}) {
    const char* const name = type == Type::f32 ? "f32" : "f16";
    for (const std::int64_t width : widths) {
      for (const Memory memory : {Memory::image, Memory::buffer}) {
        tell(options, "images", done / static_cast<double>(4 * widths.size()));
        done += 1.0;
        const std::string why =
            memory == Memory::image ? ImageProbe::why_not(*opened, type, width) : "";
        if (!why.empty()) {
          result.left_out.push_back(
              fmt::format("{} x {} texels of {}: {}", width, width, name, why));
          continue;
        }
        ImageProbe probe(opened, type, memory, width);
        for (const Order order : {Order::rows, Order::columns, Order::tiles}) {
          result.reads.push_back(
              {name, static_cast<MeasuredImageRead::Memory>(memory),
               static_cast<MeasuredImageRead::Order>(order), width,
               measured(probe.measure(order, sampling_of(options)), Best::greatest)});
        }
      }
    }
  }
  return result;
}

}  // namespace morton
