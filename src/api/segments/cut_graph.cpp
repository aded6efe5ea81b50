// SPDX-License-Identifier: Apache-2.0
#include "api/segments/cut_graph.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/error.hpp"
#include "graph/part_of_graph.hpp"

namespace morton::api {
namespace {

/// The nodes on which `node` depends.
std::vector<bool> nodes_before(const Graph& graph, std::size_t node) {
  std::set<TensorId> needed(graph.nodes[node].inputs.begin(), graph.nodes[node].inputs.end());
  std::vector<bool> before(graph.nodes.size(), false);
  for (std::size_t n = node; n-- > 0;) {
    const Node& other = graph.nodes[n];
    before[n] = std::ranges::any_of(
        other.outputs, [&](TensorId id) { return id != kNoTensor && needed.contains(id); });
    if (before[n]) needed.insert(other.inputs.begin(), other.inputs.end());
  }
  return before;
}

/// What the nodes that are not chosen read, and the graph's outputs.
std::set<TensorId> read_elsewhere(const Graph& graph, const std::vector<bool>& chosen) {
  std::set<TensorId> read(graph.outputs.begin(), graph.outputs.end());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!chosen[n]) read.insert(graph.nodes[n].inputs.begin(), graph.nodes[n].inputs.end());
  }
  read.erase(kNoTensor);
  return read;
}

/// The error of a model that waiting does not help.
UnsupportedError as_final(const NeedsSegments& error) {
  UnsupportedError final_error(error.message());
  final_error.put_down_to(error.node());
  return final_error;
}

std::optional<Graph> part_of(const Graph& whole, const std::vector<bool>& chosen) {
  if (std::ranges::none_of(chosen, [](bool is_chosen) { return is_chosen; })) return {};
  return part_of_graph(whole, chosen, read_elsewhere(whole, chosen));
}

}  // namespace

CutParts cut_at(const Graph& whole, const NeedsSegments& error) {
  const auto found = std::ranges::find(whole.nodes, error.waiting_node(), &Node::name);
  if (found == whole.nodes.end()) throw as_final(error);
  const auto place = static_cast<std::size_t>(found - whole.nodes.begin());
  CutParts parts{*found, is_host_control(whole, *found), {}, {}};
  std::vector<bool> chosen = nodes_before(whole, place);
  parts.before = part_of(whole, chosen);
  if (!parts.before && !parts.is_control) throw as_final(error);
  chosen.flip();
  if (parts.is_control) chosen[place] = false;
  parts.behind = part_of(whole, chosen);
  return parts;
}

CutGraph::CutGraph(const Graph& whole, const NeedsSegments& error, SegmentContext& context,
                   int depth)
    : context_(context), why_(error.message()) {
  CutParts parts = cut_at(whole, error);
  node_ = std::move(parts.node);
  if (parts.before) before_ = std::make_unique<Segment>(*std::move(parts.before), context, depth);
  if (parts.behind) behind_ = std::make_unique<Segment>(*std::move(parts.behind), context, depth);
  if (parts.is_control) control_ = make_control(whole, node_, why_, context, depth);
  const auto name = [&](TensorId id) { return id == kNoTensor ? "" : whole.tensor(id).name; };
  std::ranges::transform(whole.outputs, std::back_inserter(outputs_), name);
  std::ranges::transform(node_.inputs, std::back_inserter(reads_), name);
  std::ranges::transform(node_.outputs, std::back_inserter(gives_), name);
  for (const TensorId id : node_.inputs) {
    if (id == kNoTensor || whole.tensor(id).kind != GraphTensor::Kind::constant) continue;
    constants_[whole.tensor(id).name] = whole.tensor(id).data;
  }
}

Values CutGraph::run(const Values& given) {
  Values values = given;
  if (before_ != nullptr) values.merge(before_->run(values));
  if (control_ == nullptr) {
    context_.wait(node_.name, why_);
  } else {
    std::vector<const Tensor*> read;
    for (const std::string& name : reads_) {
      const auto constant = constants_.find(name);
      const auto value = values.find(name);
      read.push_back(constant != constants_.end() ? &constant->second
                     : value != values.end()      ? &value->second
                                                  : nullptr);
    }
    std::vector<Tensor> results = control_->run(read);
    for (std::size_t i = 0; i < gives_.size(); ++i) {
      if (!gives_[i].empty()) values[gives_[i]] = std::move(results[i]);
    }
  }
  if (behind_ != nullptr) values.merge(behind_->run(values));
  Values results;
  for (const std::string& name : outputs_) results[name] = values.at(name);
  return results;
}

}  // namespace morton::api
