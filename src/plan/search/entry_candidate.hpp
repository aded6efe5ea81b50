// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "base/rooms.hpp"
#include "plan/search/candidates.hpp"

namespace morton::plan {

/// Entries as ways to compute one task: alone where they carry its epilogue; else followed by an
/// elementwise step for it, which is the same behind all of them. A routine that adds to its dst
/// (Entry::Call::adds_to_start) carries a leading sum with one number for each place along a
/// dimension (a bias): a pack spreads the numbers over dst's shape, at loading where they are
/// constant.
class EntryCandidates {
 public:
  struct Started;  ///< an epilogue, cut behind its leading sum

  /// `outer` are the temporaries around the task. All must outlive it.
  EntryCandidates(const Task& task, const PlanContext& context, const Temporaries& outer);

  /// The entry as such a way, or why it cannot be one.
  [[nodiscard]] OrReason<Candidate> of(const Entry& entry);

 private:
  /// The problem that an entry solves, and the one that follows.
  struct Parts {
    SharedProblem first, rest;  ///< `rest` is null where nothing follows
    Temporaries known;          ///< temporaries around the task, then the candidate's own
    /// The kernel of the rest, once it was asked for.
    std::optional<OrReason<KernelChoices::Shared>> epilogue;
  };
  /// What an entry carries of the epilogue.
  struct Carried {
    Chain chain;
    std::vector<Side> sides;
  };
  [[nodiscard]] OrReason<Candidate> behind_start(const Entry& entry, const Started& started);
  [[nodiscard]] Parts parts(const Chain& rest, const std::vector<Side>& sides, Carried carried,
                            Temporaries known) const;
  [[nodiscard]] OrReason<Candidate> candidate(const Entry& entry, Parts& parts,
                                              KernelChoices before) const;
  [[nodiscard]] OrReason<KernelChoices::Shared> epilogue(const Parts& parts) const;

  const Task& task_;
  const PlanContext& context_;
  const Temporaries& outer_;
  const TaskTensor& dst_;
  SharedProblem bound_;
  Parts whole_;                 ///< where the entry carries all of the epilogue
  std::optional<Parts> split_;  ///< where it carries nothing
};

}  // namespace morton::plan
