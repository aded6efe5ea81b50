// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "morton/export.hpp"

namespace morton {

/// What a text names of the API: a setting, that is a member of the options, and what is given for
/// it; or a function that helps.
struct NamedSetting {
  std::string name;   ///< "exclude", "tunables", "batch"; "model_support"
  std::string value;  ///< "gemm.naive"; may be empty
  friend bool operator==(const NamedSetting&, const NamedSetting&) = default;
};

/// How an interface writes a setting: the command line has `--exclude gemm.naive`.
using SettingPrinter = std::string (*)(const NamedSetting&);

/// As the API has it: "exclude gemm.naive".
[[nodiscard]] MORTON_API std::string print_setting(const NamedSetting& setting);

/// Words, or a setting where its name is not empty.
struct MessagePiece {
  std::string words;
  NamedSetting setting;
  friend bool operator==(const MessagePiece&, const MessagePiece&) = default;
};

/// What Morton tells people: words, and among them settings, which each interface calls by its own
/// names.
struct MORTON_API Message {
  std::vector<MessagePiece> pieces;  ///< no two of words in a row

  Message() = default;
  // NOLINTBEGIN(google-explicit-constructor): messages are mostly words
  Message(std::string words);
  Message(const char* words) : Message(std::string(words)) {}
  // NOLINTEND(google-explicit-constructor)
  explicit Message(NamedSetting setting);

  Message& operator+=(const Message& more);
  friend Message operator+(Message text, const Message& more) {
    text += more;
    return text;
  }
  friend bool operator==(const Message&, const Message&) = default;

  [[nodiscard]] bool empty() const { return pieces.empty(); }  ///< no words, no settings
  /// The settings, in the order in which the text names them.
  [[nodiscard]] std::vector<NamedSetting> settings() const;
  /// The text, with settings as `printer` writes them.
  [[nodiscard]] std::string print(SettingPrinter printer = print_setting) const;
};

/// A setting as part of a text: `setting("exclude", name) + ": there is no such kernel"`.
[[nodiscard]] MORTON_API Message setting(std::string name, std::string value = "");

}  // namespace morton
