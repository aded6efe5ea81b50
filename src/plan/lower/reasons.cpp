// SPDX-License-Identifier: Apache-2.0
#include "plan/lower/reasons.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "plan/policy/tunables.hpp"
#include "plan/policy/work_group.hpp"

namespace morton::plan {
namespace {

/// Eight characters of the time, as std::to_string writes it.
std::string short_text(double us) {
  std::array<char, 400> text;  // the largest double has 309 digits
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), us, std::chars_format::fixed, 6).ptr;
  return {text.data(), std::min(end, text.data() + 8)};
}

}  // namespace

std::string reason_of(const ScheduledKernel& kernel, const CandidateLists& candidates) {
  if (!kernel.task) return "its reader demands this format";
  if (kernel.once) return "reads constants only: runs once, when the plan is loaded";
  const auto& list = candidates[kernel.task]->candidates;
  if (list.size() == 1) return "the only kernel that can";
  return "least estimated time of the network among " + std::to_string(list.size()) + " ways";
}

Message build_note(const KernelChoice& choice, const std::vector<std::int64_t>& local) {
  std::string note = print_tunables(*choice.tunables);
  if (!note.empty() && !choice.tunables_from.empty()) note += ", ";
  note += choice.tunables_from;
  return (note.empty() ? "" : "; " + note) + work_group_note(*choice.entry, local);
}

std::vector<Message> considered(const CandidateLists& candidates, const TaskList& tasks) {
  std::vector<Message> texts;
  for (const TaskId t : candidates.ids()) {
    const Task& task = tasks.tasks[t];
    Message text = task.name + ": " + print(task.bound.problem);
    for (const auto& candidate : candidates[t]->candidates) {
      text += "\n    " + short_text(run_us(candidate)) + " us  " + candidate.name;
    }
    for (const auto& rejection : candidates[t]->rejections) {
      text += "\n    not " + rejection.name + ": " + print(rejection.reason);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace morton::plan
