// SPDX-License-Identifier: Apache-2.0
#include "morton/support.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "api/compile/job.hpp"
#include "api/inside.hpp"
#include "autodiff/form_of_use.hpp"
#include "autodiff/training_step.hpp"
#include "base/error.hpp"
#include "base/unknown_shape.hpp"
#include "ops/core/operator.hpp"
#include "passes/passes.hpp"
#include "plan/search/candidate_memo.hpp"

namespace morton {
using namespace api;
namespace {

using Where = NodeSupport::Where;
using Nodes = std::vector<NodeSupport>;

/// The model without nodes that no output depends on.
Graph live_graph(const Model& model) {
  Graph graph = Inside::of(model);
  remove_dead_code(graph, {});
  return graph;
}

/// What needs no shapes.
NodeSupport declared_support(const Graph& graph, const Node& node) {
  NodeSupport support{node.name, node.op, Where::device, ""};
  try {
    check_supported(graph, node);
    if (operator_of(node).host.alias) support.where = Where::nowhere;
  } catch (const Error& error) {
    support.where = Where::unsupported;
    support.reason = error.message();
  }
  return support;
}

bool is_unsupported(const NodeSupport& node) { return node.where == Where::unsupported; }

/// Whether nothing is known of its results.
bool is_out(const NodeSupport& node) { return is_unsupported(node) || node.where == Where::waits; }

/// The graph without unsupported nodes and those that depend on them, which become unknown. What
/// the rest computes for the missing ones is an output.
Graph known_part(const Graph& whole, Nodes& nodes) {
  Graph part = whole;
  part.nodes.clear();
  std::map<TensorId, std::string> lost;  // by whom
  std::set<TensorId> ends(whole.outputs.begin(), whole.outputs.end());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = whole.nodes[i];
    std::string culprit = is_out(nodes[i]) ? node.name : "";
    for (const TensorId id : node.inputs) {
      if (culprit.empty() && lost.contains(id)) culprit = lost.at(id);
    }
    if (culprit.empty()) {
      part.nodes.push_back(node);
      continue;
    }
    if (!is_out(nodes[i])) {
      nodes[i].where = Where::unknown;
      nodes[i].reason = "depends on '" + culprit + "'";
    }
    for (const TensorId id : node.outputs) lost.emplace(id, culprit);
    for (const TensorId id : node.inputs) {
      const bool computed =
          id != kNoTensor && whole.tensor(id).kind == GraphTensor::Kind::activation;
      if (computed) ends.insert(id);
    }
  }
  std::erase_if(ends, [&](TensorId id) { return lost.contains(id); });
  part.outputs.assign(ends.begin(), ends.end());
  std::erase_if(part.updates, [&](const StateUpdate& one) { return lost.contains(one.value); });
  remove_dead_code(part, {});
  return part;
}

/// Notes an error at the node that it is put down to; false where there is none.
bool blame(const Error& error, Nodes& nodes) {
  const auto* wait = dynamic_cast<const NeedsSegments*>(&error);
  const std::string& culprit = wait != nullptr ? wait->waiting_node() : error.node();
  for (NodeSupport& node : nodes) {
    if (culprit.empty() || node.node != culprit || is_out(node)) continue;
    node.where = wait != nullptr ? Where::waits : Where::unsupported;
    node.reason = error.message();
    return true;
  }
  return false;
}

/// Where the nodes of `part` are computed, once its shapes are known.
void place(const Graph& part, const Graph& prepared, Nodes& nodes) {
  std::set<std::string> left;
  for (const Node& node : prepared.nodes) left.insert(node.name);
  std::map<std::string, bool> constant;
  for (const GraphTensor& tensor : prepared.tensors) {
    constant[tensor.name] = tensor.kind == GraphTensor::Kind::constant;
  }
  std::map<std::string, Where> places;
  for (const Node& node : part.nodes) {
    const bool folded = std::ranges::all_of(node.outputs, [&](TensorId id) {
      return id == kNoTensor || constant[part.tensor(id).name];
    });
    const bool computes = left.contains(node.name) && !operator_of(node).host.alias;
    places[node.name] = computes ? Where::device : folded ? Where::host : Where::nowhere;
  }
  for (NodeSupport& node : nodes) {
    const auto found = places.find(node.node);
    if (found != places.end()) node.where = found->second;
  }
}

/// Looks for a kernel of each task on a device that has all that a kernel may ask for.
void look_for_kernels(const Graph& prepared, const KernelPolicy& policy, Nodes& nodes) {
  const TaskList tasks = make_tasks(prepared);
  DeviceInfo device;
  device.name = "any";
  device.compute.units = 16;
  device.compute.clock_mhz = 1000;
  device.compute.max_work_group_size = 1024;
  device.compute.max_work_item_sizes = {1024, 1024, 64};
  device.memory.global_bytes = std::int64_t{64} << 30;
  device.memory.max_allocation_bytes = std::int64_t{16} << 30;
  device.memory.local_bytes = 64 << 10;
  device.memory.local_is_dedicated = true;
  device.features.fp16 = device.features.fp64 = true;
  device.peaks = guessed_peaks(device);
  const PlanContext context{policy, device, tasks};
  CandidateMemo memo(context);
  for (const Task& task : tasks.tasks) {
    try {
      (void)memo.list(task);
    } catch (const UnsupportedError& error) {
      const auto found = std::ranges::find(nodes, task.node, &NodeSupport::node);
      if (found == nodes.end()) throw;
      found->where = Where::unsupported;
      found->reason = error.message();
    }
  }
}

/// The passes that leave every node what it is.
PassOptions passes_apart(const CompileOptions& options) {
  PassOptions passes = pass_options_of(options);
  for (const char* rewriting : {"remove_dead_code", "merge_equal_nodes", "eliminate_transposes",
                                "fold_pads", "fold_batch_norms", "fuse_epilogues"}) {
    passes.skip.emplace_back(rewriting);
  }
  return passes;
}

/// What follows from shapes. One node after the other is found out and left away, until the rest
/// can be planned.
void look_closer(const Graph& live, const PassOptions& passes, const KernelPolicy& policy,
                 Nodes& nodes) {
  for (;;) {
    const Graph part = known_part(live, nodes);
    if (part.nodes.empty()) return;
    try {
      Graph prepared = part;
      run_passes(prepared, passes);
      place(part, prepared, nodes);
      look_for_kernels(prepared, policy, nodes);
      return;
    } catch (const Error& error) {
      const ErrorClass kind = error.error_class();
      if (kind != ErrorClass::model && kind != ErrorClass::unsupported) throw;
      if (!blame(error, nodes)) throw;
    }
  }
}

}  // namespace

bool ModelSupport::is_supported() const { return std::ranges::none_of(nodes, is_unsupported); }

ModelSupport model_support(const Model& model, const CompileOptions& options) {
  const Graph live = live_graph(model);
  ModelSupport support;
  for (const Node& node : live.nodes) support.nodes.push_back(declared_support(live, node));
  const Nodes declared = support.nodes;
  const auto policy = policy_of(options, store_of(options), observer_of(options));
  try {
    PassOptions passes = passes_apart(options);
    passes.limits = Inside::limits_of(model);
    look_closer(live, passes, *policy, support.nodes);
  } catch (const UnknownShape& error) {
    support.nodes = declared;
    support.shapes_unknown = error.message();
  }
  return support;
}

void require_supported(const Model& model) {
  constexpr std::size_t kMostNamed = 20;
  const Graph live = live_graph(model);
  std::vector<Message> reasons;
  const Node* first = nullptr;
  for (const Node& node : live.nodes) {
    const NodeSupport support = declared_support(live, node);
    if (!is_out(support)) continue;
    if (first == nullptr) first = &node;
    reasons.push_back(support.reason);
  }
  if (reasons.empty()) return;
  if (reasons.size() == 1) check_supported(live, *first);
  Message text = std::to_string(reasons.size()) + " nodes cannot be computed:";
  for (std::size_t i = 0; i < std::min(reasons.size(), kMostNamed); ++i)
    text += "\n  " + reasons[i];
  if (reasons.size() > kMostNamed) {
    text += "\n  ... and " + std::to_string(reasons.size() - kMostNamed) + " more";
  }
  throw UnsupportedError(text);
}

Message training_obstacle(const Model& model, const CompileOptions& options) {
  TrainingStepOptions step;
  step.batch = std::max<std::int64_t>(options.batch, 1);
  step.shapes = options.shapes;
  // It takes any output; what the other losses ask for is theirs.
  step.loss = Loss::mean_squared_error;
  step.targets = TargetKind::values;
  try {
    (void)make_training_step(in_form_of_use(Inside::of(model)), step);
    return {};
  } catch (const Error& error) {
    if (error.error_class() == ErrorClass::internal) throw;
    return error.message();
  }
}

}  // namespace morton
