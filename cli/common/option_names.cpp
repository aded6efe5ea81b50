// SPDX-License-Identifier: Apache-2.0
#include "common/option_names.hpp"

#include <string_view>
#include <utility>

namespace morton::cli {

std::string with_option_name(const std::string& message) {
  static constexpr std::pair<std::string_view, std::string_view> kOptions[] = {
      {"augmentation: ", "--augment: "},      {"clipping: ", "--clip: "},
      {"deviation: ", "--deviation: "},       {"freeze: ", "--freeze: "},
      {"learning rate: ", "--lr: "},          {"mean: ", "--mean: "},
      {"momentum: ", "--momentum: "},         {"problem: ", "--problem: "},
      {"schedule: ", "--schedule: "},         {"validation share: ", "--validation: "},
      {"weight decay: ", "--weight-decay: "},
  };
  for (const auto& [setting, option] : kOptions) {
    if (message.starts_with(setting)) {
      return std::string(option) + message.substr(setting.size());
    }
  }
  // Advice stands at the end, behind names of files.
  static constexpr std::pair<std::string_view, std::string_view> kAdvice[] = {
      {"(`start`: resume)", "(--resume)"},
      {"(`start`: anew)", "(--restart)"},
      {"another `folder`", "another folder (--out)"},
  };
  std::string named = message;
  for (const auto& [setting, option] : kAdvice) {
    const std::size_t place = named.rfind(setting);
    if (place != std::string::npos) named.replace(place, setting.size(), option);
  }
  return named;
}

}  // namespace morton::cli
