// SPDX-License-Identifier: Apache-2.0
//
// What the first of several ranks reads, all of them get: the others need not see its files.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "base/rooms.hpp"
#include "training/files/checkpoint.hpp"
#include "training/loop/learner.hpp"
#include "training/ranks/ranks.hpp"

namespace morton::training {

/// The first rank's checkpoint, on every rank; nothing where it has none.
[[nodiscard]] std::optional<FoundCheckpoint> from_first_rank(Ranks& ranks,
                                                             std::optional<FoundCheckpoint> found);
/// The checkpoint in a file of the first rank. Throws ModelError on every rank for one that is
/// damaged, or no checkpoint.
[[nodiscard]] Checkpoint read_on_first_rank(Ranks& ranks, const std::filesystem::path& path);

/// Throws UsageError on ranks whose settings or parameters are not those of the first, naming the
/// first setting that differs.
void require_alike(Ranks& ranks, std::map<std::string, std::string> settings, Learner& learner);

}  // namespace morton::training
