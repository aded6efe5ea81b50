// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/rooms.hpp"
#include "plan/search/task_candidates.hpp"

namespace morton::plan {

/// The tensor whose memory an alias shares, through any number of aliases; `tensor` itself where it
/// is none.
[[nodiscard]] TensorId root_of(const TaskList& tasks, TensorId tensor);

/// What is demanded of `tensor` in the terms of the tensor at the root of its aliases, if it has
/// such terms.
[[nodiscard]] std::optional<Arrangement> at_root(const TaskList& tasks, TensorId tensor,
                                                 const Arrangement& demanded);

/// True when nothing tells the two apart, the padding included; `same_memory` looks at offsets and
/// costs more.
[[nodiscard]] bool identical(const Arrangement& a, const Arrangement& b);

/// The formats in which one tensor might lie, by number: those of the same memory are one.
class Formats {
 public:
  /// Its number; a new one where nothing known is the same memory.
  std::size_t number_of(const Arrangement& arrangement);
  /// Of each number, the arrangement that came first.
  [[nodiscard]] const std::vector<Arrangement>& all() const { return all_; }
  /// Forgets those that `is_kept` does not hold for; none, where it holds for none.
  void keep(const std::function<bool(const Arrangement&)>& is_kept);

 private:
  struct Known {
    Arrangement arrangement;
    std::size_t number = 0;
  };
  std::vector<Known> known_;
  std::vector<Arrangement> all_;
};

/// For each tensor of the task list, the formats in which its writer might leave it where the
/// writer leaves that open: row-major first, then what the candidates of its readers demand, eight
/// at most.
[[nodiscard]] Indexed<TensorId, Formats> wished_formats(const CandidateLists& candidates,
                                                        const TaskList& tasks);

/// The arrangements in which a candidate for a task can leave the task's result, whose `wishes`
/// are.
[[nodiscard]] std::vector<Arrangement> outputs_of(const Candidate& candidate,
                                                  const Formats& wishes);

}  // namespace morton::plan
