// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <string>
#include <vector>

#include "base/algebra/expression.hpp"
#include "fuzz/fuzz_target.hpp"
#include "layout/layout.hpp"
#include "training/data/augmentation.hpp"
#include "training/loop/schedule.hpp"
#include "words/option_texts.hpp"

namespace morton::test {
namespace {

using ReadText = std::function<void(const std::string& text)>;

const std::vector<ReadText>& texts_of_options() {
  static const std::vector<ReadText> kTexts{
      [](const std::string& text) { (void)cli::parse_duration_ms(text); },
      [](const std::string& text) { (void)cli::parse_bytes("--workspace-limit", text); },
      [](const std::string& text) { (void)cli::parse_shape(text); },
      [](const std::string& text) { (void)cli::parse_shapes({text}); },
      [](const std::string& text) { (void)cli::parse_shapes(cli::split_at_commas(text)); },
      [](const std::string& text) { (void)cli::parse_use({text}); },
      [](const std::string& text) { (void)cli::parse_set({text}); },
      [](const std::string& text) { (void)parse_dtype(text); },
      [](const std::string& text) { (void)training::parse_augmentation(text); },
      [](const std::string& text) {
        const training::Schedule schedule(text, {.steps_per_epoch = 7, .steps = 21});
        for (const int step : {0, 1, 6, 7, 20, 21}) (void)schedule.factor(step);
      },
      [](const std::string& text) {
        const std::vector<std::string> dimensions{"N", "C", "H", "W"};
        (void)Layout::parse(text, dimensions);
      },
      [](const std::string& text) { (void)Expression::parse(text, "text"); },
  };
  return kTexts;
}

}  // namespace

/// The text as the value of each option that has a grammar of its own.
void fuzz_options(std::string_view bytes) {
  const std::string text(bytes);
  for (const ReadText& read : texts_of_options()) {
    read_or_refuse([&] { read(text); });
  }
}

}  // namespace morton::test
