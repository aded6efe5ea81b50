// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/argument_binding.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>

#include "base/error.hpp"
#include "plan/search/instance_spec.hpp"

namespace morton::plan {
namespace {

/// The value of each operand, side operands included.
std::map<std::string, ValueId> values_by_name(const ScheduledKernel& kernel) {
  std::map<std::string, ValueId> values(kernel.values.begin(), kernel.values.end());
  for (std::size_t i = 0; i < kernel.sides.size(); ++i) {
    values.emplace(side_name(i), kernel.sides[i]);
  }
  return values;
}

}  // namespace

void ArgumentBinding::bind(const ScheduledKernel& kernel, const InstanceSource& source,
                           const Environment& sizes, Step& step) const {
  const std::map<std::string, ValueId> values = values_by_name(kernel);
  for (const auto& argument : source.arguments) {
    if (argument.kind == InstanceArgument::Kind::integer) {
      const auto found = sizes.find(argument.name);
      if (found == sizes.end()) {
        throw ModelError(step.kernel + ": nothing is known as the argument '" + argument.name +
                         "'");
      }
      if (found->second > std::numeric_limits<std::int32_t>::max()) {
        throw UnsupportedError(step.kernel + ": " + argument.name + " = " +
                               std::to_string(found->second) + " does not fit 32 bits");
      }
      step.arguments.push_back({argument.name, found->second});
      continue;
    }
    const ValueId value = values.at(argument.name);
    const PlannedImage image = image_of(*kernel.choice.entry, argument.name, value);
    step.arguments.push_back({argument.name, PassedValue{value, image}});
    (argument.name == "dst" ? step.writes : step.reads).push_back(value);
    step.cost.bytes += bytes_of(values_[value].arrangement);
  }
}

/// How the kernel gets the value as an image, if it asks for one.
PlannedImage ArgumentBinding::image_of(const Entry& entry, const std::string& role,
                                       ValueId value) const {
  PlannedImage image;
  const auto format = entry.operands.find(role);
  const Arrangement& arrangement = values_[value].arrangement;
  const bool wanted = format != entry.operands.end() && !format->second.is_any() &&
                      format->second.memory == MemoryKind::image;
  if (!wanted) return image;
  const ImageExtents extents = image_extents(arrangement);
  // Rows follow each other without gaps, so each must be as long as the device's pitches are.
  const std::int64_t pitch = std::max<std::int64_t>(device_.image.pitch_alignment_texels, 1);
  const bool shared = device_.image.from_buffer && extents.texels % pitch == 0;
  using Source = PlannedImage::Source;
  image.source = shared ? Source::shared : is_fixed(values_[value]) ? Source::kept : Source::copied;
  image.width = extents.texels;
  image.height = extents.rows;
  image.texel = arrangement.dtype;
  return image;
}

}  // namespace morton::plan
