// SPDX-License-Identifier: Apache-2.0
#include "plan/kernel/plan_context.hpp"

#include "base/shape.hpp"
#include "plan/cost/cost.hpp"
#include "plan/kernel/entry_table.hpp"
#include "plan/policy/plan_options.hpp"

namespace morton::plan {
namespace {

/// What is not asked for suits f32. As many halves take half of it, and F(2x2,3x3), which they take
/// in place of F(4x4,3x3), is the faster the more of a slab a cache holds.
std::int64_t workspace_limit(const PlanOptions& options, const DeviceInfo& device) {
  const bool is_cpu = device.kind == DeviceInfo::Kind::cpu;
  const bool halves = options.precision == DType::f16 || options.precision == DType::bf16;
  if (is_cpu && halves && !options.workspace_limit_bytes) return usual_workspace_bytes(device) / 4;
  return options.workspace_limit_bytes.value_or(usual_workspace_bytes(device));
}

std::int64_t weights_bytes_of(const TaskList& tasks) {
  std::int64_t bytes = 0;
  for (const TaskTensor& tensor : tasks.tensors) {
    const bool is_own = tensor.kind == TaskTensor::Kind::constant && !tensor.alias_of;
    if (is_own) bytes += element_count(tensor.shape) * size_of(tensor.dtype);
  }
  return bytes;
}

}  // namespace

PlanContext::PlanContext(const KernelPolicy& considered, const DeviceInfo& on, const TaskList& of)
    : policy(considered),
      catalogue(policy.catalogue()),
      device(on),
      options(policy.options()),
      tasks(of),
      pack_efficiency(best_pack_efficiency(catalogue, on)),
      workspace_limit_bytes(workspace_limit(options, on)),
      weights_bytes(weights_bytes_of(of)),
      entries(std::make_shared<EntryTable>(on, options)) {}

PlanContext::PlanContext(const PlanContext& like, const TaskList& of)
    : policy(like.policy),
      catalogue(like.catalogue),
      device(like.device),
      options(like.options),
      tasks(of),
      pack_efficiency(like.pack_efficiency),
      workspace_limit_bytes(like.workspace_limit_bytes),
      weights_bytes(weights_bytes_of(of)),
      entries(like.entries),
      decision(like.decision) {}

PlanContext::PlanContext(const PlanContext& like, const KernelPolicy& considered)
    : policy(considered),
      catalogue(like.catalogue),
      device(like.device),
      options(policy.options()),
      tasks(like.tasks),
      pack_efficiency(like.pack_efficiency),
      workspace_limit_bytes(like.workspace_limit_bytes),
      weights_bytes(like.weights_bytes),
      entries(like.entries),
      decision(like.decision) {}

}  // namespace morton::plan
