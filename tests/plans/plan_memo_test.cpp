// SPDX-License-Identifier: Apache-2.0
//
// Candidates that are told again of a task with an equal problem are those that it would have got.
#include <gtest/gtest.h>

#include "plan/search/candidate_memo.hpp"
#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// Every name and number that a candidate's kernels hold.
std::string text_of(const CandidateList& list) {
  std::string text;
  for (const Candidate& candidate : list.candidates) {
    text += candidate.name + " " + std::to_string(candidate.estimated_us) + "\n";
    for (const KernelChoice& kernel : candidate.kernels) {
      text += "  " + kernel.name + " " + kernel.entry->name;
      for (const auto& [role, binding] : kernel.bound->operands) {
        text += " " + role + "=" + std::to_string(binding.tensor.index()) + binding.view.print() +
                print(kernel.demands.at(role).arrangement);
      }
      for (const auto& side : kernel.bound->sides)
        text += " side=" + std::to_string(side.tensor.index());
      text += "\n";
    }
    for (const TaskTensor& tensor : candidate.temporaries) text += "  " + tensor.name + "\n";
  }
  for (const auto& rejection : list.rejections) {
    text += rejection.name + ": " + print(rejection.reason).print() + "\n";
  }
  return text;
}

CandidateList told(const TaskCandidates& candidates) {
  CandidateList list = *candidates;
  for (std::size_t i = 0; i < list.candidates.size(); ++i) list.candidates[i] = candidates.told(i);
  return list;
}

TEST(CandidateMemo, TellsWhatListingAgainWouldSay) {
  const Catalogue catalogue = Catalogue::standard();
  for (const char* network : {"lenet5", "residual"}) {
    for (const auto& name : saved_devices()) {
      const DeviceInfo device = saved_device(name);
      const TaskList tasks = make_tasks(prepared(network_named(network), 2));
      const KernelPolicy policy(catalogue, {});
      const PlanContext context{policy, device, tasks};
      CandidateMemo memo(context);
      for (int round = 0; round < 2; ++round) {
        for (const Task& task : tasks.tasks) {
          EXPECT_EQ(text_of(told(memo.list(task))), text_of(list_candidates(task, context)))
              << network << " on " << name << ", " << task.name;
        }
      }
    }
  }
}

/// Two equal problems on different tensors, one after the other.
TEST(CandidateMemo, NamesTheTensorsOfEachTask) {
  Graph graph = make_mlp(1);
  const Catalogue catalogue = Catalogue::standard();
  const DeviceInfo device = saved_device("pocl_cpu");
  TaskList tasks = make_tasks(prepared(std::move(graph), 3));
  // The same task under another name, on copies of its tensors.
  Task twin = tasks.tasks.front();
  twin.name = "twin";
  for (auto& [role, binding] : twin.bound.operands) {
    TaskTensor copy = tasks.tensors[binding.tensor];
    copy.name += "_of_twin";
    binding.tensor = tasks.tensors.add(copy);
  }
  const KernelPolicy policy(catalogue, {});
  const PlanContext context{policy, device, tasks};
  CandidateMemo memo(context);
  static_cast<void>(memo.list(tasks.tasks.front()));
  EXPECT_EQ(text_of(told(memo.list(twin))), text_of(list_candidates(twin, context)));
}

}  // namespace
}  // namespace morton::test
