// SPDX-License-Identifier: Apache-2.0
#include "plan/search/settle.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/numbers/checked.hpp"
#include "plan/search/repack.hpp"

namespace morton::plan {
namespace {

/// A temporary of a candidate in memory.
struct Settled {
  /// As a kernel demands it, or, where that is null, `own`.
  const Arrangement* demanded = nullptr;
  std::optional<Arrangement> own;
  /// The format of the copy that its reader is given; null where it reads what was written.
  const Arrangement* copy = nullptr;
  const KernelChoice* producer = nullptr;
  const KernelChoice* reader = nullptr;
  const std::string* role = nullptr;  ///< of the reader's operand
  std::size_t first = 0, last = 0;    ///< kernels that touch it

  [[nodiscard]] const Arrangement& arrangement() const { return demanded ? *demanded : *own; }
};

Settled settled(const Candidate& candidate, std::size_t index, TensorId id) {
  const TaskTensor& tensor = candidate.temporaries[index];
  Settled result;
  result.first = candidate.kernels.size();
  const Demand* consumer = nullptr;
  for (std::size_t k = 0; k < candidate.kernels.size(); ++k) {
    const KernelChoice& kernel = candidate.kernels[k];
    for (const auto& [role, binding] : kernel.bound->operands) {
      if (binding.tensor != id) continue;
      result.first = std::min(result.first, k);
      result.last = k;
      if (role == "dst") {
        result.producer = &kernel;
      } else {
        consumer = &kernel.demands.at(role);
        result.reader = &kernel;
        result.role = &role;
      }
    }
  }
  const bool consumer_decides = consumer != nullptr && consumer->kind == Demand::Kind::direct;
  const Demand* written =
      result.producer != nullptr ? &result.producer->demands.at("dst") : nullptr;
  if (written != nullptr && written->kind == Demand::Kind::direct) {
    result.demanded = &written->arrangement;
  } else if (consumer_decides) {
    result.own = consumer->arrangement;
    // The reader says where elements lie; what is around them is what the producer leaves.
    if (result.producer != nullptr)
      result.own->padding = result.producer->entry->operands.at("dst").padding;
  } else {
    result.own = row_major_arrangement(tensor.dtype, tensor.shape);
  }
  const bool copied =
      consumer != nullptr &&
      (consumer->kind == Demand::Kind::packed ||
       (consumer_decides && !satisfies(result.arrangement(), consumer->arrangement)));
  if (copied && tensor.kind != TaskTensor::Kind::derived) result.copy = &consumer->arrangement;
  return result;
}

}  // namespace

void add_up(Candidate& candidate, const PlanContext& context) {
  candidate.estimated_us = 0.0;
  for (const KernelChoice& kernel : candidate.kernels) {
    candidate.estimated_us += kernel.estimated_us;
  }
  for (std::size_t t = 0; t < candidate.temporaries.size(); ++t) {
    const Settled one = settled(candidate, t, temporary_id(t));
    if (one.producer != nullptr) {
      candidate.estimated_us += order_cost_us(*one.producer, one.arrangement(), context);
    }
    if (one.reader != nullptr && one.copy == nullptr) {
      candidate.estimated_us += lanes_us(*one.reader, *one.role, one.arrangement(), context);
    }
    if (one.copy == nullptr) continue;
    candidate.estimated_us += repack_cost_us(one.arrangement(), *one.copy, context);
  }
}

Arrangement arrangement_of_temporary(const Candidate& candidate, std::size_t index) {
  return settled(candidate, index, temporary_id(index)).arrangement();
}

std::int64_t live_temporary_bytes(const Candidate& candidate, std::size_t known,
                                  const DeviceInfo& device) {
  const auto aligned_bytes = [&](const Arrangement& arrangement) {
    return round_up(bytes_of(arrangement), device.memory.base_alignment_bytes);
  };
  // A copy is made just before the last kernel that touches its temporary, which reads the copy.
  std::vector<std::int64_t> while_copying(candidate.kernels.size());
  std::vector<std::int64_t> while_running(candidate.kernels.size());
  for (std::size_t t = 0; t < candidate.temporaries.size(); ++t) {
    if (candidate.temporaries[t].kind == TaskTensor::Kind::derived) continue;
    const Settled one = settled(candidate, t, temporary_id(known + t));
    if (one.first > one.last) continue;  // nothing touches it
    const std::int64_t bytes = aligned_bytes(one.arrangement());
    for (std::size_t k = one.first; k <= one.last; ++k) {
      const bool is_read_here = one.copy != nullptr && k == one.last;
      if (!is_read_here) while_running[k] += bytes;
      if (k > one.first) while_copying[k] += bytes;
    }
    if (one.copy == nullptr) continue;
    while_copying[one.last] += aligned_bytes(*one.copy);
    while_running[one.last] += aligned_bytes(*one.copy);
  }
  std::int64_t most = 0;
  for (const auto* steps : {&while_copying, &while_running}) {
    for (const std::int64_t bytes : *steps) most = std::max(most, bytes);
  }
  return most;
}

}  // namespace morton::plan
