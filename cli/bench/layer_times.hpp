// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/published.hpp"
#include "common/output.hpp"
#include "run/profile_measure.hpp"

namespace morton::cli {

/// The steps of one layer together.
struct TimedLayer {
  /// R18's name where it has one, "C1+S2" where one step computes several; else the first node.
  std::string name;
  std::vector<std::string> kernels;  ///< in their order, each once
  double wall_ms = 0.0;              ///< sum over its steps, each alone and waited for
  std::optional<double> kernel_ms;   ///< on the device's clock
  /// Of that, the steps that convolve or multiply; the rest packs, unfolds, transforms, pools.
  std::optional<double> products_ms;
  /// Of that, the calls of a library's routines: their sums by routine, in their order.
  std::vector<std::pair<std::string, double>> routines_ms;
  std::vector<const PublishedLayer*> published;
};

/// A network by layers, beside what was published of it.
struct LayerTimes {
  std::vector<TimedLayer> layers;
  double end_to_end_ms = 0.0;  ///< a run with one wait at its end
  Shape input;
  const PublishedNetwork* published = nullptr;
};

/// Adds up the steps of each layer. A step that repacks belongs to the layer that it packs for. The
/// layers of the networks of `published_networks` are known by the names of their nodes.
[[nodiscard]] LayerTimes times_by_layer(const Profile& profile, const Shape& input);

[[nodiscard]] std::string to_text(const LayerTimes& times, Format format);
[[nodiscard]] Json to_json(const LayerTimes& times);

}  // namespace morton::cli
