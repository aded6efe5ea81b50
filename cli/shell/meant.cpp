// SPDX-License-Identifier: Apache-2.0
#include "shell/meant.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string_view>

#include "morton/tools/near_names.hpp"
#include "shell/synonyms.hpp"
#include "shell/walk.hpp"

namespace morton::cli {
namespace {

/// More commands than that are no help.
constexpr std::size_t kMostOwners = 4;

const CLI::App& program_of(const CLI::App& command) {
  const CLI::App* part = &command;
  while (part->get_parent() != nullptr) part = part->get_parent();
  return *part;
}

/// "; did you mean `morton bench --iterations`?" where a few other commands have an option of this
/// name.
std::string owners_of(const CLI::App& command, const std::string& name) {
  std::vector<std::string> owners;
  for (const CLI::App* one : shown_commands(program_of(command))) {
    const bool is_own = one->get_option_no_throw(name) != nullptr;
    if (is_own) owners.push_back(fmt::format("`morton {} {}`", one->get_name(), name));
  }
  if (owners.empty() || owners.size() > kMostOwners) return "";
  return fmt::format("; did you mean {}?", fmt::join(owners, " or "));
}

/// The option that stands for the same in another spelling, or for what others call so, such as
/// "--device gpu"; nothing where there is none.
std::optional<std::string> same_option(const CLI::App& command, const std::string& word) {
  const std::string plain = plain_word(word);
  for (const std::string& name : long_names(command)) {
    if (plain_word(name) == plain) return name;
  }
  for (const std::string& ours : options_called(plain)) {
    const std::string name = ours.substr(0, ours.find(' '));
    if (option_named(command, name) != nullptr) return ours;
  }
  return std::nullopt;
}

/// Whether the command's first argument is a model.
bool takes_model(const CLI::App& command) {
  return command.get_option_no_throw("model") != nullptr;
}

bool calls_model(const std::string& word) {
  const std::vector<std::string> called = options_called(plain_word(word));
  return std::ranges::find(called, "MODEL") != called.end();
}

/// "Could not convert: --lr = abc" says neither what was expected nor what the rest is.
std::string worded(const CLI::Error& error) {
  constexpr std::string_view kFailed = "Could not convert: ";
  const std::string text = error.what();
  const std::size_t equals = text.find(" = ");
  if (!text.starts_with(kFailed) || equals == std::string::npos) return text;
  return fmt::format("{}: expected a number, got '{}'",
                     text.substr(kFailed.size(), equals - kFailed.size()), text.substr(equals + 3));
}

const CLI::App& innermost(const CLI::App& program) {
  const CLI::App* command = &program;
  for (auto chosen = program.get_subcommands(); !chosen.empty();
       chosen = command->get_subcommands()) {
    command = chosen.front();
  }
  return *command;
}

std::string lacks_command(const CLI::App& command, const std::vector<std::string>& rest) {
  std::vector<std::string> known;
  for (const CLI::App* below : shown_commands(command)) known.push_back(below->get_name());
  const std::string got =
      rest.empty() ? "" : fmt::format(", got '{}'{}", rest[0], command_meant(command, rest[0]));
  return fmt::format("{}: expected a subcommand, one of {}{}", command.get_name(),
                     fmt::join(known, ", "), got);
}

}  // namespace

std::string option_meant(const CLI::App& command, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  if (const auto same = same_option(command, name)) {
    return fmt::format("; did you mean '{}'?", *same);
  }
  if (calls_model(name) && takes_model(command)) {
    return fmt::format("; the model stands without an option: `morton {} MODEL`",
                       command_path(command));
  }
  if (std::string near = did_you_mean(name, long_names(command)); !near.empty()) return near;
  std::string owners = owners_of(command, name);
  for (const std::string& ours : options_called(plain_word(name))) {
    if (owners.empty()) owners = owners_of(command, ours.substr(0, ours.find(' ')));
  }
  return owners;
}

std::string command_meant(const CLI::App& command, const std::string& word) {
  std::vector<std::string> known, called;
  for (const CLI::App* below : shown_commands(command)) known.push_back(below->get_name());
  for (const std::string& ours : commands_called(plain_word(word))) {
    const bool is_here = std::ranges::find(known, ours) != known.end();
    const bool is_option = ours.starts_with("--") && command.get_parent() == nullptr;
    if (is_here || is_option) called.push_back("'" + ours + "'");
  }
  if (!called.empty()) return fmt::format("; did you mean {}?", fmt::join(called, " or "));
  return did_you_mean(word, known);
}

std::string single_dash(const CLI::App& program, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    // Two letters may be two short options, or one with its value.
    constexpr std::size_t kShortest = 4;
    if (word.size() < kShortest || word[0] != '-' || word[1] == '-') continue;
    const std::vector<std::string> before(words.begin(),
                                          words.begin() + static_cast<std::ptrdiff_t>(i));
    const Place place = walk(program, before);
    if (place.ended || place.pending != nullptr) continue;
    const std::string name = word.substr(0, word.find('='));
    if (same_option(*place.command, word) || !options_called(plain_word(word)).empty()) {
      return fmt::format("there is no option '{}' here{}", name,
                         option_meant(*place.command, name));
    }
  }
  return "";
}

std::string complaint(const CLI::App& program, const CLI::Error& error) {
  const CLI::App& command = innermost(program);
  const std::vector<std::string> rest = program.remaining(true);
  if (&command == &program) {
    if (rest.empty()) return error.what();
    if (!rest[0].starts_with('-')) {
      return fmt::format("there is no command '{}'{}", rest[0], command_meant(program, rest[0]));
    }
    return fmt::format("there is no option '{}'{}", rest[0], option_meant(program, rest[0]));
  }
  const bool has_command = command.get_require_subcommand_min() == 0;
  if (!has_command) return lacks_command(command, rest);
  const auto unknown =
      std::ranges::find_if(rest, [](const std::string& word) { return word.starts_with('-'); });
  // What is missing is perhaps what an unknown option was to give.
  const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                        dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (!is_extra || unknown == rest.end()) return worded(error);
  return fmt::format("there is no option '{}' here{}", *unknown, option_meant(command, *unknown));
}

std::string help_hint(const CLI::App& program) {
  const std::string path = command_path(innermost(program));
  return fmt::format("`morton{} --help` shows what is possible.", path.empty() ? "" : " " + path);
}

}  // namespace morton::cli
