// SPDX-License-Identifier: Apache-2.0
#include "plan/search/formats.hpp"

#include <algorithm>
#include <unordered_set>

#include "plan/search/repack.hpp"
#include "plan/tasks/alias.hpp"

namespace morton::plan {
namespace {

/// Formats of one tensor that are worth storing it in; more bring nothing but time.
constexpr std::size_t kMostFormats = 8;

/// `same_memory` does not look at padding contents either.
bool identical_but_for_padding(const Arrangement& a, const Arrangement& b) {
  return a.dtype == b.dtype && a.memory == b.memory && a.pitch == b.pitch &&
         a.image_rows == b.image_rows && a.image_texels == b.image_texels && a.padded == b.padded &&
         a.tensor_shape == b.tensor_shape && a.grouping == b.grouping && a.layout == b.layout;
}

bool has_no_padding(const Arrangement& arrangement) {
  return arrangement.memory == MemoryKind::buffer && arrangement.pitch == 0 &&
         element_count(arrangement.padded) == element_count(arrangement.tensor_shape);
}

void add_wish(TensorId tensor, const Demand& demand, const TaskList& tasks,
              Indexed<TensorId, Formats>& wishes) {
  if (is_temporary(tensor) || demand.kind != Demand::Kind::direct) return;
  const TensorId root = root_of(tasks, tensor);
  // Who writes a part leaves what lies between parts to nobody.
  if (tasks.tensors[root].parts > 1 && !has_no_padding(demand.arrangement)) return;
  Formats& known = wishes[root];
  if (known.all().size() >= kMostFormats) return;
  const bool is_alias = root != tensor;
  if (!is_alias && demand.arrangement.memory == MemoryKind::buffer) {
    known.number_of(demand.arrangement);
  }
  if (!is_alias) return;
  const auto wish = at_root(tasks, tensor, demand.arrangement);
  if (wish && wish->memory == MemoryKind::buffer) known.number_of(*wish);
}

/// What is wished of a result is wished of the operands that are read in its order. From the last
/// task to the first, through any number.
void pass_wishes_back(const CandidateLists& candidates, const TaskList& tasks,
                      Indexed<TensorId, Formats>& wishes) {
  for (TaskId t = candidates.next_id().moved(-1); t; t = t.moved(-1)) {
    const BoundProblem& bound = tasks.tasks[t].bound;
    if (!walks_result(bound)) continue;
    const TensorId dst = tensor_of(bound, "dst");
    const auto pass = [&](TensorId tensor) {
      if (tensor == dst) return;
      for (const Arrangement& wish : wishes[dst].all()) {
        auto order = order_along(bound, wish, tasks.tensors[tensor].shape);
        if (!order) continue;
        // A condition is no real; what is of the result's type may be held as the result is.
        const DType own = tasks.tensors[tensor].dtype;
        if (own != tasks.tensors[dst].dtype) order->dtype = own;
        add_wish(tensor, {Demand::Kind::direct, std::move(*order)}, tasks, wishes);
      }
    };
    for (const auto& [role, binding] : bound.operands) pass(binding.tensor);
    for (const auto& side : bound.sides) pass(side.tensor);
  }
}

}  // namespace

TensorId root_of(const TaskList& tasks, TensorId tensor) {
  while (tasks.tensors[tensor].alias_of) {
    tensor = tasks.tensors[tensor].alias_of;
  }
  return tensor;
}

std::optional<Arrangement> at_root(const TaskList& tasks, TensorId tensor,
                                   const Arrangement& demanded) {
  std::optional<Arrangement> seen = demanded;
  while (seen) {
    const TensorId next = tasks.tensors[tensor].alias_of;
    if (!next) break;
    seen = seen_from_source(*seen, tasks.tensors[next].shape);
    tensor = next;
  }
  return seen;
}

bool identical(const Arrangement& a, const Arrangement& b) {
  return a.padding == b.padding && identical_but_for_padding(a, b);
}

std::size_t Formats::number_of(const Arrangement& arrangement) {
  for (const Known& known : known_) {
    if (identical_but_for_padding(known.arrangement, arrangement)) return known.number;
  }
  std::size_t number = 0;
  while (number < all_.size() && !same_memory(all_[number], arrangement)) ++number;
  if (number == all_.size()) all_.push_back(arrangement);
  known_.push_back({arrangement, number});
  return number;
}

void Formats::keep(const std::function<bool(const Arrangement&)>& is_kept) {
  if (std::none_of(all_.begin(), all_.end(), is_kept)) return;
  const std::vector<Arrangement> before = std::move(all_);
  all_.clear();
  known_.clear();
  for (const Arrangement& arrangement : before) {
    if (is_kept(arrangement)) number_of(arrangement);
  }
}

Indexed<TensorId, Formats> wished_formats(const CandidateLists& candidates, const TaskList& tasks) {
  Indexed<TensorId, Formats> wishes(tasks.tensors.size());
  for (const TensorId tensor : wishes.ids()) {
    const TaskTensor& facts = tasks.tensors[tensor];
    wishes[tensor].number_of(row_major_arrangement(facts.dtype, facts.shape));
  }
  for (const TaskCandidates& list : candidates) {
    // Many candidates share a kernel.
    std::unordered_set<const KernelChoice*> asked;
    for (const Candidate& reader : list->candidates) {
      for (const KernelChoice& kernel : reader.kernels) {
        if (!asked.insert(&kernel).second) continue;
        for (const auto& [role, binding] : kernel.bound->operands) {
          if (role == "dst") continue;
          add_wish(list.tensor(binding.tensor), kernel.demands.at(role), tasks, wishes);
        }
      }
    }
  }
  pass_wishes_back(candidates, tasks, wishes);
  return wishes;
}

std::vector<Arrangement> outputs_of(const Candidate& candidate, const Formats& wishes) {
  const KernelChoice& last = candidate.kernels.back();
  const Demand& demand = last.demands.at("dst");
  if (demand.kind == Demand::Kind::direct) return {demand.arrangement};
  // A producer with generated accessors writes the format that a consumer asks for.
  std::vector<Arrangement> outputs = wishes.all();
  for (auto& output : outputs) output.padding = last.entry->operands.at("dst").padding;
  return outputs;
}

}  // namespace morton::plan
