// SPDX-License-Identifier: Apache-2.0
#include "shell/values.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/machine.hpp"
#include "common/output.hpp"
#include "morton/architectures.hpp"
#include "morton/device.hpp"
#include "morton/error.hpp"
#include "morton/tools/kernel.hpp"
#include "words/choices.hpp"

namespace morton::cli {
namespace {

using FileKind = WantedFiles::Kind;

/// A value that is being written, and what is known of it so far.
struct Value {
  const CLI::App& command;
  std::string before;  ///< in the same word
  std::string word;    ///< the value's beginning
};

void offer_architectures(const Value&, Offers& offers) {
  for (const ArchitectureInfo& known : architectures()) {
    offers.words.push_back({known.name, known.summary});
  }
}

void offer_model(const Value& value, Offers& offers) {
  offer_architectures(value, offers);
  offers.files = WantedFiles{value.before, {"onnx", "json", "morton"}};
}

void offer_files(const Value& value, Offers& offers) {
  offers.files = WantedFiles{value.before, {}};
}

void offer_folders(const Value& value, Offers& offers) {
  offers.files = WantedFiles{value.before, {}, FileKind::folders};
}

/// The file behind "NAME:", or instead of it.
void offer_named_file(const Value& value, Offers& offers) {
  const std::size_t colon = value.word.find(':');
  const std::size_t length = colon == std::string::npos ? 0 : colon + 1;
  offers.files = WantedFiles{value.before + value.word.substr(0, length), {}};
}

void offer_devices(const Value&, Offers& offers) {
  offers.words = {{"gpu", "the first GPU"},
                  {"cpu", "the first CPU"},
                  {"auto", "a GPU if there is one, else the CPU"},
                  {"units=", "compute units of the device"}};
  prepare_drivers();
  try {
    for (const std::string& text : Device::list_json()) {
      const Json device = Json::parse(text);
      offers.words.push_back({device.value("id", ""), device.value("name", "")});
    }
  } catch (const Error&) {
    // Without a driver there is nothing more to offer; the command that follows says so.
  }
}

/// Kernels of the family that the command is of (`bench gemm`), else of all.
void offer_kernels(const Value& value, Offers& offers) {
  const auto families = kernel_names();
  const auto own = families.find(value.command.get_name());
  for (const auto& [family, kernels] : families) {
    if (own != families.end() && family != own->first) continue;
    for (const std::string& kernel : kernels) offers.words.push_back({kernel});
  }
}

void offer_kernels_with_tunables(const Value& value, Offers& offers) {
  offer_kernels(value, offers);
  for (Offer& offer : offers.words) offer.text += ":";
}

/// "gemm=", and behind it "gemm=gemm.tile".
void offer_uses(const Value& value, Offers& offers) {
  const std::size_t equals = value.word.find('=');
  for (const auto& [family, kernels] : kernel_names()) {
    if (equals == std::string::npos) {
      offers.words.push_back({family + "="});
    } else if (family == value.word.substr(0, equals)) {
      for (const std::string& kernel : kernels) offers.words.push_back({family + "=" + kernel});
    }
  }
}

using OfferFunction = void (*)(const Value&, Offers&);

/// By the word that stands for the value in --help.
const std::map<std::string, OfferFunction>& offer_functions() {
  static const std::map<std::string, OfferFunction> functions{
      {"ARCHITECTURE", offer_architectures},
      {"DEVICE", offer_devices},
      {"DIR", offer_folders},
      {"FAMILY=ENTRY", offer_uses},
      {"FILE", offer_files},
      {"FOLDER", offer_folders},
      {"KERNEL", offer_kernels},
      {"KERNEL:NAME=N", offer_kernels_with_tunables},
      {"MODEL", offer_model},
      {"NAME:FILE", offer_named_file},
      {"PATH", offer_files}};
  return functions;
}

/// Removes `end` from the end of `text`; false where it does not end so.
bool remove_end(std::string& text, const std::string& end) {
  if (!text.ends_with(end)) return false;
  text.resize(text.size() - end.size());
  return true;
}

/// "FILE" and "none" of "FILE|none".
std::vector<std::string> alternatives_of(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char letter : text) {
    if (letter == '|') {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

/// How --help writes the value: "FILE|none".
std::string value_text(const CLI::Option& option) {
  const std::string& text = option.get_option_text();
  return text.empty() || text == " " ? option.get_name(true) : text;
}

void offer_by_text(const std::string& text, const Value& value, Offers& offers) {
  for (const std::string& part : alternatives_of(text)) {
    const auto known = offer_functions().find(part);
    const bool is_word = std::ranges::none_of(part, [](char c) { return c >= 'A' && c <= 'Z'; });
    if (known != offer_functions().end()) {
      known->second(value, offers);
    } else if (is_word) {
      offers.words.push_back({part});
    }
  }
}

/// Leaves the words that go on from what is written, as whole words.
void keep_beginnings(const Value& value, Offers& offers) {
  std::erase_if(offers.words,
                [&](const Offer& offer) { return !offer.text.starts_with(value.word); });
  for (Offer& offer : offers.words) offer.text = value.before + offer.text;
}

}  // namespace

Offers offers_of_value(const CLI::App& command, const CLI::Option& option,
                       const std::string& before, const std::string& word) {
  Value value{command, before, word};
  std::string text = value_text(option);
  if (remove_end(text, "...") && remove_end(text, ",")) {
    // A list: its last name is being written.
    const std::size_t comma = word.rfind(',');
    const std::size_t start = comma == std::string::npos ? 0 : comma + 1;
    value.before += word.substr(0, start);
    value.word = word.substr(start);
  }
  Offers offers;
  for (const std::string& choice : choices_of(option)) offers.words.push_back({choice});
  if (offers.words.empty()) offer_by_text(text, value, offers);
  keep_beginnings(value, offers);
  return offers;
}

}  // namespace morton::cli
