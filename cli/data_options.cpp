// SPDX-License-Identifier: Apache-2.0
#include "data_options.hpp"

#include <CLI/CLI.hpp>

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

std::string class_name(const Dataset& data, std::int64_t label) {
  const auto index = static_cast<std::size_t>(label);
  return index < data.class_names.size() ? data.class_names[index] : std::to_string(label);
}

}  // namespace morton::cli
