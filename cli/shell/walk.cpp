// SPDX-License-Identifier: Apache-2.0
#include "shell/walk.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace morton::cli {
namespace {

bool is_shown(const CLI::Option& option) { return !option.get_group().empty(); }

/// The option that a word names, with its value behind "=" or without; null where it names none.
const CLI::Option* option_of_word(const CLI::App& command, const std::string& word) {
  if (word.starts_with("--")) return option_named(command, word.substr(0, word.find('=')));
  return option_named(command, word.substr(0, 2));
}

/// Whether the word holds the option's value too: "--batch=3", "-b3".
bool holds_value(const std::string& word) {
  return word.starts_with("--") ? word.find('=') != std::string::npos : word.size() > 2;
}

}  // namespace

const CLI::Option* option_named(const CLI::App& command, const std::string& name) {
  for (const CLI::App* part = &command; part != nullptr; part = part->get_parent()) {
    const CLI::Option* option = part->get_option_no_throw(name);
    if (option != nullptr && name.starts_with('-') && is_shown(*option)) return option;
  }
  return nullptr;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::vector<const CLI::App*> shown_commands(const CLI::App& command) {
  std::vector<const CLI::App*> shown;
  for (const CLI::App* below : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (!below->get_group().empty()) shown.push_back(below);
  }
  return shown;
}

std::vector<std::string> long_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* part = &command; part != nullptr; part = part->get_parent()) {
    for (const CLI::Option* option : part->get_options()) {
      if (!is_shown(*option)) continue;
      for (const std::string& name : option->get_lnames()) {
        const std::string full = "--" + name;
        if (std::ranges::find(names, full) == names.end()) names.push_back(full);
      }
    }
  }
  return names;
}

std::string command_path(const CLI::App& command) {
  if (command.get_parent() == nullptr) return "";
  const std::string above = command_path(*command.get_parent());
  return above.empty() ? command.get_name() : above + " " + command.get_name();
}

Place walk(const CLI::App& program, const std::vector<std::string>& words) {
  Place place;
  place.command = &program;
  for (const std::string& word : words) {
    if (place.pending != nullptr) {
      place.pending = nullptr;
    } else if (!place.ended && word == "--") {
      place.ended = true;
    } else if (!place.ended && word.size() > 1 && word.starts_with('-')) {
      const CLI::Option* option = option_of_word(*place.command, word);
      if (option == nullptr) continue;
      place.given.push_back(option);
      if (takes_value(*option) && !holds_value(word)) place.pending = option;
    } else {
      const auto below = shown_commands(*place.command);
      const auto named =
          std::ranges::find_if(below, [&](const CLI::App* app) { return app->get_name() == word; });
      if (place.arguments == 0 && named != below.end()) {
        place.command = *named;
      } else {
        ++place.arguments;
      }
    }
  }
  return place;
}

}  // namespace morton::cli
