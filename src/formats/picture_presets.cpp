// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "morton/pictures.hpp"

namespace morton {
namespace {

using Resize = PicturePreparation::Resize;

/// The middle of the input's size, of a picture whose shorter side is a seventh longer.
PicturePreparation middle() {
  PicturePreparation preparation;
  preparation.resize = Resize::shorter_side;
  preparation.crop = PictureSize{};
  return preparation;
}

PicturePreparation imagenet() {
  PicturePreparation preparation = middle();
  preparation.mean = {0.485F, 0.456F, 0.406F};
  preparation.deviation = {0.229F, 0.224F, 0.225F};
  return preparation;
}

PicturePreparation inception() {
  PicturePreparation preparation = middle();
  preparation.mean = {0.5F};
  preparation.deviation = {0.5F};
  return preparation;
}

PicturePreparation raw255() {
  PicturePreparation preparation = middle();
  preparation.full = 255.0;
  return preparation;
}

PicturePreparation caffe() {
  PicturePreparation preparation = raw255();
  preparation.colours = PicturePreparation::Colours::bgr;
  preparation.mean = {103.939F, 116.779F, 123.68F};
  return preparation;
}

PicturePreparation clip() {
  PicturePreparation preparation = middle();
  preparation.resize = Resize::cover;
  preparation.filter = PicturePreparation::Filter::bicubic;
  preparation.mean = {0.48145466F, 0.4578275F, 0.40821073F};
  preparation.deviation = {0.26862954F, 0.26130258F, 0.27577711F};
  return preparation;
}

PicturePreparation yolo() {
  PicturePreparation preparation;
  preparation.resize = Resize::fit;
  preparation.border = 114;
  return preparation;
}

struct Preset {
  std::string_view name;
  PicturePreparation (*make)();
};

constexpr std::array<Preset, 7> kPresets{{{"imagenet", imagenet},
                                          {"inception", inception},
                                          {"unit", middle},
                                          {"raw255", raw255},
                                          {"caffe", caffe},
                                          {"clip", clip},
                                          {"yolo", yolo}}};

}  // namespace

PicturePreparation picture_preset(const std::string& name) {
  const auto found = std::ranges::find(kPresets, name, &Preset::name);
  if (found != kPresets.end()) return found->make();
  std::string known;
  for (const Preset& preset : kPresets) {
    known += (known.empty() ? "" : ", ") + std::string(preset.name);
  }
  throw UsageError(setting("preset", name) + ": there is none of this name; there are " + known);
}

std::vector<std::string> picture_presets() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

}  // namespace morton
