// SPDX-License-Identifier: Apache-2.0
#include "option_names.hpp"

#include <string_view>
#include <utility>

namespace morton::cli {

std::string with_option_name(const std::string& message) {
  static constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
      {"augmentation: ", "--augment: "},
      {"clipping: ", "--clip: "},
      {"deviation: ", "--deviation: "},
      {"freeze: ", "--freeze: "},
      {"learning rate: ", "--lr: "},
      {"mean: ", "--mean: "},
      {"momentum: ", "--momentum: "},
      {"schedule: ", "--schedule: "},
      {"validation share: ", "--validation: "},
      {"weight decay: ", "--weight-decay: "},
  };
  for (const auto& [setting, option] : kOptions) {
    if (message.starts_with(setting)) {
      return std::string(option) + message.substr(setting.size());
    }
  }
  return message;
}

}  // namespace morton::cli
