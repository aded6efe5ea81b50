// SPDX-License-Identifier: Apache-2.0
#include "training/loop/first_rank.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/files/file.hpp"

namespace morton::training {
namespace {

/// What begins the first rank's message: a checkpoint follows, or why there is none. Of 4 bytes, so
/// that the length stays a multiple of 4, of which ranks can count most.
constexpr std::string_view kIsThere = "++++", kFailed = "----";

/// Settings as a checkpoint without tensors has them.
Checkpoint checkpoint_with(const std::map<std::string, std::string>& facts) {
  Checkpoint checkpoint;
  checkpoint.facts = facts;
  return checkpoint;
}

}  // namespace

std::optional<FoundCheckpoint> from_first_rank(Ranks& ranks, std::optional<FoundCheckpoint> found) {
  if (!ranks.are_several()) return found;
  const std::string bytes = ranks.from_first(found ? bytes_of(found->checkpoint) : "");
  if (ranks.is_first() || bytes.empty()) return found;
  return FoundCheckpoint{checkpoint_of(bytes), ""};
}

Checkpoint read_on_first_rank(Ranks& ranks, const std::filesystem::path& path) {
  if (!ranks.are_several()) return read_checkpoint(path);
  std::string message;
  if (ranks.is_first()) {
    try {
      message = bytes_of(read_checkpoint(path)).insert(0, kIsThere);
    } catch (const Error& error) {
      message = std::string(kFailed) + error.what();
    }
  }
  message = ranks.from_first(message);
  const std::string_view rest = std::string_view(message).substr(kIsThere.size());
  if (message.starts_with(kFailed)) throw ModelError(std::string(rest));
  return checkpoint_of(rest);
}

void require_alike(Ranks& ranks, std::map<std::string, std::string> settings, Learner& learner) {
  if (!ranks.are_several()) return;
  Checkpoint start;
  start.tensors = learner.state();
  settings["digest of the parameters at the start"] = digest_of(bytes_of(start));
  const std::string bytes = ranks.from_first(bytes_of(checkpoint_with(settings)));
  const Checkpoint first = checkpoint_of(bytes);
  for (const auto& [name, value] : settings) {
    const auto other = first.facts.find(name);
    const std::string there = other == first.facts.end() ? "not told" : other->second;
    if (there == value) continue;
    throw UsageError("training: rank " + std::to_string(ranks.rank()) + " has another " + name +
                     " than rank 0: " + value + " here, " + there +
                     " there; all ranks get the same model, data and options");
  }
}

}  // namespace morton::training
