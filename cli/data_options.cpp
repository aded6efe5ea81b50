// SPDX-License-Identifier: Apache-2.0
#include "data_options.hpp"

#include <CLI/CLI.hpp>

#include "log.hpp"

namespace morton::cli {

void add_options(CLI::App& command, DataOptions& options) {
  command
      .add_option(
          "--data", options.path,
          "IDX files, CIFAR-10's binary version, a folder of pictures for each class, or an "
          ".npz archive")
      ->option_text("PATH")
      ->required();
  command
      .add_option("--mean", options.mean,
                  "Taken from each value (pictures: level / 255): one number, or one a channel")
      ->option_text("X,...")
      ->allow_extra_args(false)
      ->delimiter(',');
  command.add_option("--deviation", options.deviation, "What the rest is divided by: likewise")
      ->option_text("X,...")
      ->allow_extra_args(false)
      ->delimiter(',');
}

void say_what_is_cut(const Dataset& data, const PortInfo& input) {
  const Shape& pictures = data.inputs.shape();
  if (pictures.size() != 4 || input.shape.size() != 4) return;
  // The network's channels stand first or last.
  const std::size_t first = input.shape[3] <= 4 && input.shape[1] > 4 ? 1 : 2;
  const std::int64_t height = input.shape[first], width = input.shape[first + 1];
  if (height < 1 || width < 1 || (pictures[2] <= height && pictures[3] <= width)) return;
  log::warn(
      "{}: pictures are {}x{}, the network sees {}x{} of them: the middle (in training with "
      "--augment crop, anywhere); scale them where it should see all",
      data.where, pictures[2], pictures[3], height, width);
}

std::string class_name(const Dataset& data, std::int64_t label) {
  const auto index = static_cast<std::size_t>(label);
  return index < data.class_names.size() ? data.class_names[index] : std::to_string(label);
}

}  // namespace morton::cli
