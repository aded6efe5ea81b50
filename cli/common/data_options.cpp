// SPDX-License-Identifier: Apache-2.0
#include "common/data_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/inputs.hpp"
#include "common/log.hpp"
#include "morton/error.hpp"
#include "morton/pictures.hpp"

namespace morton::cli {

void add_options(CLI::App& command, DataOptions& options) {
  command
      .add_option(
          "--data", options.path,
          "IDX files, CIFAR-10's binary version, a folder of pictures for each class, or an "
          ".npz archive")
      ->option_text("PATH")
      ->required();
  add_options(command, options.pictures);
}

Normalization normalization_of(const DataOptions& options) {
  const PicturePreparation preparation = preparation_of(options.pictures);
  Normalization result{preparation.mean, preparation.deviation};
  if (preparation.full == 1.0) return result;
  // Values are levels / 255, of which `full` makes levels again.
  const auto full = static_cast<float>(preparation.full);
  if (result.deviation.empty()) result.deviation = {1.0F};
  for (float& mean : result.mean) mean /= full;
  for (float& deviation : result.deviation) deviation /= full;
  return result;
}

Dataset read_data(const DataOptions& options, Split split, const std::vector<PortInfo>& inputs,
                  const std::map<std::string, Shape>& shapes) {
  if (!changes_pixels(options.pictures)) return read_dataset(options.path, split);
  const PicturePreparation preparation = preparation_of(options.pictures);
  if (inputs.size() != 1) {
    throw UsageError(
        fmt::format("--data {}: pictures are prepared for a model of one input; this one has {}",
                    options.path, inputs.size()));
  }
  const auto given = shapes.find(inputs.front().name);
  return read_dataset(options.path, split,
                      given == shapes.end() ? inputs.front().shape : given->second, preparation);
}

void say_what_is_lost(const Dataset& data, const PortInfo& input) {
  if (data.without_colours > 0) {
    log::warn(
        "{}: {} pictures have colours, and the network sees them in grey: its input '{}' has one "
        "channel",
        data.where, data.without_colours, input.name);
  }
  const std::optional<PictureFit> fit = fit_pictures(data, input.shape);
  if (!fit || !fit->cuts()) return;
  log::warn(
      "{}: pictures are {}x{}, the network sees {}x{} of them: the middle (in training with "
      "--augment crop, anywhere); scale them where it should see all",
      data.where, fit->height, fit->width, fit->input_height, fit->input_width);
}

std::optional<std::int64_t> fixed_batch(const std::vector<PortInfo>& inputs, std::int64_t given) {
  if (inputs.size() != 1 || inputs.front().shape.empty()) return std::nullopt;
  const std::int64_t stated = inputs.front().shape[batch_dimension(inputs.front())];
  if (stated < 0) return std::nullopt;
  if (given > 0 && given != stated) {
    throw UsageError(fmt::format(
        "--batch {}: the model's file fixes the batch, {}; export it with an open first extent, or "
        "leave --batch out",
        given, stated));
  }
  return stated;
}

std::string class_name(const Dataset& data, std::int64_t label) {
  const auto index = static_cast<std::size_t>(label);
  return index < data.class_names.size() ? data.class_names[index] : std::to_string(label);
}

}  // namespace morton::cli
