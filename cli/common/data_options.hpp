// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/pictures/picture_options.hpp"
#include "morton/dataset.hpp"
#include "morton/model.hpp"
#include "words/cli11_names.hpp"

namespace morton::cli {

/// Which examples a command works on, and how their values are prepared.
struct DataOptions {
  std::string path;
  PictureOptions pictures;
};

/// --data, and the options of pictures.
void add_options(CLI::App& command, DataOptions& options);

/// What is subtracted from level / 255 (from features as they are), and what divides then.
struct Normalization {
  std::vector<float> mean, deviation;
};
[[nodiscard]] Normalization normalization_of(const DataOptions& options);

/// A part of the data; pictures of folders prepared for a model with these inputs, where options
/// say so.
[[nodiscard]] Dataset read_data(const DataOptions& options, Split split,
                                const std::vector<PortInfo>& inputs,
                                const std::map<std::string, Shape>& shapes = {});

/// Says so where pictures have colours and the input has none, and where they are larger than the
/// input, which sees their middle then.
void say_what_is_lost(const Dataset& data, const PortInfo& input);

/// Examples of a run where neither the model nor an option says.
inline constexpr std::int64_t kUsualBatch = 100;

/// The batch that the file of a model with one input fixes, if it does. Throws UsageError where
/// --batch is `given` (not 0), and another one.
[[nodiscard]] std::optional<std::int64_t> fixed_batch(const std::vector<PortInfo>& inputs,
                                                      std::int64_t given);

/// The name of a class of the data, or its number.
[[nodiscard]] std::string class_name(const Dataset& data, std::int64_t label);

}  // namespace morton::cli
