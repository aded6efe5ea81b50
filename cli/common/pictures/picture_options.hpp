// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "morton/load.hpp"
#include "morton/pictures.hpp"
#include "words/cli11_names.hpp"

namespace morton::cli {

/// How pictures become inputs, as it was typed.
struct PictureOptions {
  std::string preset;
  std::string resize, crop;  ///< empty: as the preset says
  std::string filter;
  std::vector<float> mean, deviation;
  bool bgr = false;
  LoadLimits limits{};  ///< of --limit, which belongs to models too
};

/// --preset, --resize, --crop, --filter, --bgr, --mean and --std, which is --deviation too.
void add_options(CLI::App& command, PictureOptions& options);

/// Their names, as CLI11 counts them.
[[nodiscard]] const std::vector<std::string>& picture_option_names();

/// Whether one of them is given.
[[nodiscard]] bool is_given(const PictureOptions& options);
/// Whether one is given that changes more than values: sizes, or the order of channels.
[[nodiscard]] bool changes_pixels(const PictureOptions& options);

/// What they say, the preset first. Throws UsageError for what they cannot mean.
[[nodiscard]] PicturePreparation preparation_of(const PictureOptions& options);

}  // namespace morton::cli
