// SPDX-License-Identifier: Apache-2.0
#include "common/option_names.hpp"

#include <string_view>

namespace morton::cli {
namespace {

/// What an option of another form, or a command, stands for.
struct Phrase {
  std::string_view name;
  std::string_view value;
  std::string_view option;
};

constexpr Phrase kPhrases[] = {
    {"also", "", "morton compile --also-shape"},
    {"cache", "clear self-test", "`morton cache clear self-test`"},
    {"cache", "clear tuning", "`morton cache clear tuning`"},
    {"cache", "list", "`morton cache list`"},
    {"compile", "", "`morton compile`"},
    {"compare_layers", "", "`morton compare MODEL --layers`"},
    {"doctor", "", "`morton doctor`"},
    {"elsewhere", "rebuild", "--rebuild"},
    {"fallback", "refuse", "--strict"},
    {"folder", "", "folder (--out)"},
    {"kernel_names", "", "`morton kernel`"},
    {"keys", "", "`morton keys`"},
    {"model_support", "", "`morton inspect MODEL --support`"},
    {"part", "train", "`morton eval --part train`"},
    {"plan_text", "why", "plan --why"},
    {"probe", "", "`morton probe`"},
    {"start", "anew", "--restart"},
    {"start", "at_once", "--start at-once"},
    {"start", "resume", "--resume"},
    {"validation", "share", "`morton train --validation`"},
    {"values", "", "`morton run -i`"},
    {"writable", "accept", "--accept-writable"},
};

struct OptionName {
  std::string_view name;
  std::string_view option;
};

constexpr OptionName kOptions[] = {
    {"accumulate", "--accumulate"},
    {"augmentation", "--augment"},
    {"batch", "--batch"},
    {"budget_ms", "--time-budget"},
    {"cache_dir", "--cache-dir"},
    {"classes", "--classes"},
    {"clip_norm", "--clip"},
    {"crop", "--crop"},
    {"deviation", "--deviation"},
    {"exclude", "--exclude"},
    {"examples", "--examples"},
    {"feeds", "--feed"},
    {"freeze", "--freeze"},
    {"in_float", "--keep"},
    {"learning_rate", "--lr"},
    {"limits", "--limit"},
    {"local", "--local"},
    {"max_kernel_ms", "--max-kernel-ms"},
    {"mean", "--mean"},
    {"memory_limit", "--memory-limit"},
    {"model", "--model"},
    {"momentum", "--momentum"},
    {"most_turns", "--max-turns"},
    {"opset", "--opset"},
    {"percentile", "--percentile"},
    {"ports", "--io"},
    {"precision", "--precision"},
    {"preset", "--preset"},
    {"sums", "--sums"},
    {"problem", "--problem"},
    {"range", "--range"},
    {"resize", "--resize"},
    {"schedule", "--schedule"},
    {"self_test", "--self-test"},
    {"shares", "--shares"},
    {"wire", "--wire"},
    {"shapes", "--shape"},
    {"training", "--data"},
    {"tunables", "--set"},
    {"use", "--use"},
    {"validation", "--validation"},
    {"weight_decay", "--weight-decay"},
    {"weight_limit_bytes", "--weight-limit"},
    {"weights_folder", "--weights-folder"},
    {"worst_in_float", "--keep-worst"},
};

}  // namespace

std::string option_text(const NamedSetting& setting) {
  for (const Phrase& phrase : kPhrases) {
    if (phrase.name == setting.name && phrase.value == setting.value) {
      return std::string(phrase.option);
    }
  }
  std::string text = setting.name;
  for (const OptionName& known : kOptions) {
    if (known.name == setting.name) text = known.option;
  }
  return text + (setting.value.empty() ? "" : " " + setting.value);
}

std::string with_options(const Message& text) { return text.print(option_text); }

std::string message_of(const Error& error) { return with_options(error.message()); }

}  // namespace morton::cli
