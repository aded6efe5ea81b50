// SPDX-License-Identifier: Apache-2.0
//
// Which extents of a node's results are late. The node is lowered once more, alone, with extents in
// the place of the late ones that occur nowhere else, and the problems' views are read.
#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"
#include "ops/core/lowering.hpp"
#include "ops/core/operator.hpp"
#include "passes/passes.hpp"
#include "passes/shapes/late_extents.hpp"
#include "problems/row_labels.hpp"

namespace morton::passes {
namespace {

/// Extents that divide into nothing.
std::int64_t next_prime(std::int64_t above) {
  for (std::int64_t candidate = above + 1;; ++candidate) {
    bool is_prime = candidate % 2 != 0;
    for (std::int64_t d = 3; is_prime && d * d <= candidate; d += 2) is_prime = candidate % d != 0;
    if (is_prime) return candidate;
  }
}

class LateProof {
 public:
  LateProof(const LateTable& table, const Node& node) : table_(table), node_(node) {}

  std::vector<LateCounts> run() {
    try {
      build();
      expand_composites(scratch_, {});
      for (const Node& made : scratch_.nodes) {
        if (objection_.empty()) prove(made);
      }
    } catch (const Error& error) {
      objection_ = error.what();
    }
    if (!objection_.empty()) fail(without_inventions(objection_));
    std::vector<LateCounts> result;
    for (const TensorId id : outputs_) {
      LateCounts& counts = result.emplace_back();
      if (id == kNoTensor) continue;
      if (!labels_.contains(id)) fail("it is computed apart");
      for (const int label : labels_of(id)) {
        counts.push_back(label == 0 ? kNoTensor : counts_[static_cast<std::size_t>(label) - 1]);
      }
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    std::string late;
    for (const TensorId id : node_.inputs) {
      if (id == kNoTensor || !table_.is_late(id)) continue;
      late += (late.empty() ? "'" : ", '") + table_.graph().tensor(id).name + "'";
    }
    table_.refuse(node_, "an extent of " + late +
                             " is known at run time alone, and nothing shows what that makes of "
                             "the result: " +
                             why);
  }

  /// The text with a letter in the place of each extent that stands for a late one.
  [[nodiscard]] std::string without_inventions(std::string text) const {
    for (std::size_t i = 0; i < extents_.size(); ++i) {
      const std::string number = std::to_string(extents_[i]);
      const std::string name = i == 0 ? "n" : "n" + std::to_string(i + 1);
      for (std::size_t at = text.find(number); at != std::string::npos; at = text.find(number)) {
        text.replace(at, number.size(), name);
      }
    }
    return text;
  }

  int label_of(TensorId count) {
    const auto found = std::ranges::find(counts_, count);
    if (found != counts_.end()) return static_cast<int>(found - counts_.begin()) + 1;
    counts_.push_back(count);
    // None that the node has itself.
    std::int64_t extent = extents_.empty() ? 1'000 : extents_.back();
    do {
      extent = next_prime(extent);
    } while (taken_.contains(extent));
    extents_.push_back(extent);
    return static_cast<int>(counts_.size());
  }

  /// The extents and numbers that the node has.
  void take_numbers() {
    const auto take = [&](std::span<const std::int64_t> numbers) {
      taken_.insert(numbers.begin(), numbers.end());
    };
    for (const TensorId id : node_.inputs) {
      if (id == kNoTensor) continue;
      take(table_.graph().tensor(id).shape);
      for (const LateNumber& number : table_.values().numbers(id).value_or(LateNumbers{})) {
        taken_.insert(number.low);
      }
    }
    for (const auto& [name, attribute] : node_.attributes) {
      if (const auto* number = std::get_if<std::int64_t>(&attribute)) taken_.insert(*number);
      if (const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute)) take(*list);
    }
  }

  void build() {
    take_numbers();
    const Graph& graph = table_.graph();
    scratch_.opset = graph.opset;
    Node copy = node_;
    std::map<TensorId, TensorId> given;
    for (TensorId& id : copy.inputs) {
      if (id == kNoTensor) continue;
      const auto [place, is_new] = given.emplace(id, kNoTensor);
      if (is_new) place->second = add_input(graph, id);
      id = place->second;
    }
    for (TensorId& id : copy.outputs) {
      if (id != kNoTensor) id = scratch_.add_tensor({.name = graph.tensor(id).name});
    }
    outputs_ = copy.outputs;
    const auto types = infer(scratch_, copy);
    for (std::size_t i = 0; i < outputs_.size() && i < types.size(); ++i) {
      if (outputs_[i] == kNoTensor) continue;
      scratch_.tensor(outputs_[i]).dtype = types[i].dtype;
      scratch_.tensor(outputs_[i]).shape = types[i].shape;
      scratch_.outputs.push_back(outputs_[i]);
    }
    scratch_.nodes.push_back(std::move(copy));
  }

  TensorId add_input(const Graph& graph, TensorId id) {
    GraphTensor tensor = graph.tensor(id);
    RowLabels labels(tensor.shape.size(), 0);
    for (std::size_t d = 0; d < labels.size(); ++d) {
      const TensorId count = table_.count(id, d);
      if (count == kNoTensor) continue;
      labels[d] = label_of(count);
      tensor.shape[d] = extents_[static_cast<std::size_t>(labels[d]) - 1];
    }
    const bool is_constant = tensor.kind == GraphTensor::Kind::constant && !table_.is_late(id);
    if (!is_constant) {
      tensor.kind = GraphTensor::Kind::input;
      tensor.data = Tensor();
    }
    const TensorId made = scratch_.add_tensor(std::move(tensor));
    if (!is_constant) scratch_.inputs.push_back(made);
    labels_[made] = std::move(labels);
    return made;
  }

  RowLabels labels_of(TensorId id) {
    const auto found = labels_.find(id);
    return found == labels_.end() ? RowLabels(scratch_.tensor(id).shape.size(), 0) : found->second;
  }

  LabelledTensor labelled(TensorId id) {
    return {scratch_.tensor(id).name, scratch_.tensor(id).shape, labels_of(id)};
  }

  void take(TensorId id, LabelledResult result) {
    objection_ = result.objection;
    if (!objection_.empty()) return;
    const Shape& shape = scratch_.tensor(id).shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const auto found = std::ranges::find(extents_, shape[d]);
      const bool is_late = found != extents_.end();
      const int label = is_late ? static_cast<int>(found - extents_.begin()) + 1 : 0;
      if (label == result.labels[d]) continue;
      objection_ = "makes an extent of the number of another's rows";
      return;
    }
    const auto [place, is_new] = labels_.emplace(id, result.labels);
    // Parts of one result, one after another.
    if (!is_new && place->second != result.labels)
      objection_ = "joins what is late with what is not";
  }

  void prove(const Node& made) {
    if (operator_of(made).host.alias) {
      take(made.outputs[0],
           labels_of_reshaped(labelled(made.inputs[0]), scratch_.tensor(made.outputs[0]).shape));
      return;
    }
    for (const BoundProblem& bound : lower(scratch_, made)) {
      const TensorId dst = bound.operands.at("dst").tensor;
      take(dst, labels_of_result(bound, [&](TensorId id) {
             return id == dst
                        ? LabelledTensor{scratch_.tensor(id).name, scratch_.tensor(id).shape, {}}
                        : labelled(id);
           }));
    }
  }

  const LateTable& table_;
  const Node& node_;
  Graph scratch_;
  std::vector<TensorId> outputs_;         ///< the node's, in `scratch_`
  std::map<TensorId, RowLabels> labels_;  ///< of tensors of `scratch_`
  std::vector<TensorId> counts_;          ///< by label, from 1 on
  std::vector<std::int64_t> extents_;     ///< likewise, of `scratch_`
  std::set<std::int64_t> taken_;          ///< extents and numbers of the node
  std::string objection_;
};

}  // namespace

std::vector<LateCounts> proved_counts(const LateTable& table, const Node& node) {
  return LateProof(table, node).run();
}

}  // namespace morton::passes
