// SPDX-License-Identifier: Apache-2.0
//
// What must be the same where a training goes on.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/rooms.hpp"
#include "base/text/number_text.hpp"
#include "training/loop/training_loop.hpp"

namespace morton::training {
namespace {

/// Names of settings; those of digests begin alike.
constexpr const char* kExamples = "examples";
constexpr const char* kScheduleSetting = "schedule";
constexpr const char* kDigestStart = "digest of the ";
constexpr const char* kExamplesDigest = "digest of the examples";
constexpr const char* kValidationDigest = "digest of the validation data";

std::string numbers_text(const std::vector<float>& numbers) {
  std::string text;
  for (const float number : numbers) {
    text += (text.empty() ? "" : ",") + exact_text(static_cast<double>(number));
  }
  return text.empty() ? "none" : text;
}

std::string bytes_digest(const Tensor& tensor) {
  return digest_of({reinterpret_cast<const char*>(tensor.data()), tensor.bytes()});
}

std::string examples_digest(const Dataset& data) {
  return digest_of(bytes_digest(data.inputs) + bytes_digest(data.targets));
}

bool is_digest(const std::string& setting) { return setting.starts_with(kDigestStart); }

/// Which options decide on a setting that people may not know by its name, if any.
std::optional<Message> chosen_by(const std::string& name) {
  if (name == kExamples || name == kExamplesDigest || name == kValidationDigest) {
    return setting("training") + " and " + setting("validation") + " choose them";
  }
  if (name == kFixedPart) {
    return "the model, " + setting("classes") + " and " + setting("freeze") + " choose them";
  }
  if (name == kTrainedNames) return setting("freeze") + " chooses them";
  return std::nullopt;
}

/// What is told of a setting that is another one now.
Message change_text(const std::string& name, const std::string& before, const std::string& now) {
  const std::optional<Message> by = chosen_by(name);
  if (!is_digest(name)) {
    return name + " was " + before + ", now it is " + now + (by ? " (" + *by + ")" : Message());
  }
  return "the " + name.substr(std::string_view(kDigestStart).size()) +
         " were others before (by their digest" + (by ? "; " + *by : Message()) + ")";
}

}  // namespace

std::map<std::string, std::string> TrainingLoop::current_settings() const {
  std::map<std::string, std::string> settings = learner_.settings();
  settings[kExamples] = std::to_string(batches_.data().size());
  settings[kExamplesDigest] = examples_digest(batches_.data());
  // They decide on the end, on the best parameters and with `plateau` on the rate.
  settings[kValidationDigest] = validation_ ? examples_digest(validation_->data()) : "none";
  settings["batch"] = std::to_string(batches_.batch_size());
  settings["seed"] = std::to_string(options_.seed);
  settings["learning rate"] = exact_text(options_.learning_rate);
  settings[kScheduleSetting] = options_.schedule;
  settings["augmentation"] = to_string(parse_augmentation(options_.augmentation));
  settings["mean"] = numbers_text(options_.mean);
  settings["deviation"] = numbers_text(options_.deviation);
  // The others do not look at the end.
  if (schedule_.kind() == Schedule::Kind::cosine) settings["steps"] = std::to_string(steps_);
  return settings;
}

bool TrainingLoop::is_same_setting(const std::string& name, const std::string& before) const {
  if (before == settings_.at(name)) return true;
  if (name != kScheduleSetting) return false;
  // A length in which every warm-up fits.
  constexpr std::int64_t kLong = std::int64_t{1} << 40;
  return schedule_.is_like(Schedule(before, {batches_.per_epoch(), kLong}));
}

void TrainingLoop::require_same_settings(const Checkpoint& checkpoint) const {
  std::vector<std::string> others;
  for (const auto& [name, now] : settings_) {
    const auto before = checkpoint.facts.find(kSettingFact + name);
    if (before == checkpoint.facts.end() || !is_same_setting(name, before->second)) {
      others.push_back(name);
    }
  }
  if (others.empty()) return;
  // A digest says least.
  std::stable_partition(others.begin(), others.end(),
                        [](const std::string& name) { return !is_digest(name); });
  const std::string& name = others.front();
  const auto before = checkpoint.facts.find(kSettingFact + name);
  const std::string was = before == checkpoint.facts.end() ? "not told" : before->second;
  throw UsageError(checkpoint.where + ": " + change_text(name, was, settings_.at(name)) +
                   "; a training goes on as it began, or starts anew");
}

}  // namespace morton::training
