// SPDX-License-Identifier: Apache-2.0
#include "morton/message.hpp"

#include <utility>

namespace morton {

std::string print_setting(const NamedSetting& setting) {
  return setting.name + (setting.value.empty() ? "" : " " + setting.value);
}

Message::Message(std::string words) {
  if (!words.empty()) pieces.push_back({std::move(words), {}});
}

Message::Message(NamedSetting setting) { pieces.push_back({"", std::move(setting)}); }

Message& Message::operator+=(const Message& more) {
  if (this == &more) return *this += Message(more);
  for (const MessagePiece& piece : more.pieces) {
    const bool are_words = piece.setting.name.empty();
    if (are_words && !pieces.empty() && pieces.back().setting.name.empty()) {
      pieces.back().words += piece.words;
    } else {
      pieces.push_back(piece);
    }
  }
  return *this;
}

std::vector<NamedSetting> Message::settings() const {
  std::vector<NamedSetting> all;
  for (const MessagePiece& piece : pieces) {
    if (!piece.setting.name.empty()) all.push_back(piece.setting);
  }
  return all;
}

std::string Message::print(SettingPrinter printer) const {
  std::string text;
  for (const MessagePiece& piece : pieces) {
    text += piece.setting.name.empty() ? piece.words : printer(piece.setting);
  }
  return text;
}

Message setting(std::string name, std::string value) {
  return Message(NamedSetting{std::move(name), std::move(value)});
}

}  // namespace morton
