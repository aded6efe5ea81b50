// SPDX-License-Identifier: Apache-2.0
#include "shell/complete.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "shell/values.hpp"
#include "shell/walk.hpp"

namespace morton::cli {
namespace {

/// Where a meaning ends that shares a line of a terminal with its word.
constexpr std::size_t kLongestMeaning = 60;

/// Its first words, on one line.
std::string short_meaning(std::string text) {
  text.resize(std::min({text.size(), text.find('\n'), text.find('\t'), text.find("; ")}));
  if (text.size() <= kLongestMeaning) return text;
  text.resize(text.rfind(' ', kLongestMeaning));
  return text + " ...";
}

/// Options may be given several times where they take lists.
bool may_be_given(const CLI::Option& option, const Place& place) {
  const bool is_list = option.get_items_expected_max() > 1;
  return is_list || std::ranges::find(place.given, &option) == place.given.end();
}

void offer_options(const Place& place, const std::string& word, Offers& offers) {
  for (const std::string& name : long_names(*place.command)) {
    const CLI::Option* option = option_named(*place.command, name);
    if (!name.starts_with(word) || option == nullptr || !may_be_given(*option, place)) continue;
    offers.words.push_back({name, option->get_description()});
  }
}

/// The argument that the next word is; null where there is none.
const CLI::Option* next_argument(const Place& place) {
  std::size_t index = 0;
  for (const CLI::Option* option : place.command->get_options()) {
    if (!option->get_positional()) continue;
    if (index++ == place.arguments || option->get_items_expected_max() > 1) return option;
  }
  return nullptr;
}

void offer_arguments(const Place& place, const std::string& word, Offers& offers) {
  if (const CLI::Option* argument = next_argument(place); argument != nullptr) {
    offers = offers_of_value(*place.command, *argument, "", word);
  }
  if (place.arguments > 0) return;
  for (const CLI::App* below : shown_commands(*place.command)) {
    if (below->get_name().starts_with(word)) {
      offers.words.push_back({below->get_name(), below->get_description()});
    }
  }
}

Offers offers_at(const Place& place, const std::string& word) {
  Offers offers;
  if (place.pending != nullptr) return offers_of_value(*place.command, *place.pending, "", word);
  const std::size_t equals = word.find('=');
  if (!place.ended && word.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* option = option_named(*place.command, word.substr(0, equals));
    if (option == nullptr || !takes_value(*option)) return offers;
    return offers_of_value(*place.command, *option, word.substr(0, equals + 1),
                           word.substr(equals + 1));
  }
  if (!place.ended && word.starts_with('-')) {
    offer_options(place, word, offers);
    return offers;
  }
  offer_arguments(place, word, offers);
  const bool is_nothing = offers.words.empty() && !offers.files;
  if (is_nothing && word.empty() && !place.ended) offer_options(place, word, offers);
  return offers;
}

}  // namespace

std::string completions(const CLI::App& program, const std::vector<std::string>& words) {
  const std::string last = words.empty() ? "" : words.back();
  const std::vector<std::string> before(words.begin(),
                                        words.empty() ? words.end() : std::prev(words.end()));
  const Offers offers = offers_at(walk(program, before), last);
  std::string text;
  for (const Offer& offer : offers.words) {
    const std::string meaning = short_meaning(offer.meaning);
    text += offer.text + (meaning.empty() ? "" : "\t" + meaning) + "\n";
  }
  if (offers.files) {
    const bool is_folder = offers.files->kind == WantedFiles::Kind::folders;
    text += std::string("\t") + (is_folder ? "folders" : "files") + "\t" + offers.files->before;
    for (const std::string& extension : offers.files->extensions) text += "\t" + extension;
    text += "\n";
  }
  return text;
}

}  // namespace morton::cli
