// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <vector>

#include "base/rooms.hpp"
#include "passes/shapes/splicing.hpp"

namespace morton::passes {

/// Lists of tensors and optional values, which exist while shapes are inferred and never when the
/// model runs: their lengths and places are known, and what reads an element reads its tensor.
class TensorLists {
 public:
  using List = std::vector<TensorId>;

  explicit TensorLists(Splicing& out) : out_(out) {}

  /// Whether there is neither a list nor an optional value.
  [[nodiscard]] bool has_none() const { return lists_.empty() && empty_.empty(); }
  /// Whether the tensor stands for a list.
  [[nodiscard]] bool has(TensorId id) const { return id != kNoTensor && lists_.contains(id); }
  [[nodiscard]] const List& at(TensorId id) const { return lists_.at(id); }
  void define(TensorId id, List list);
  /// `to` becomes what `from` is: a list, a value, or none.
  void pass_on(TensorId from, TensorId to);

  /// Writes out `node`; false where it is no operation on lists.
  bool write(const Node& node);
  /// Throws UnsupportedError where a node of another operator reads a list.
  void require_none(const Node& node) const;
  /// Lists that are outputs become their elements, `y[0]`, `y[1]` and so on; an optional value that
  /// is not there is no output any more. Adds to `out`. Throws ModelError where an element has
  /// another tensor's name, and UnsupportedError for lists of lists.
  void write_outputs(Graph& graph);

 private:
  [[nodiscard]] NodeView view(const Node& node) const { return {out_.graph(), node}; }
  const List& list_of(const Node& node) const;
  /// The place that input `i` names, of a list of `count`; `last` is the last that there is.
  [[nodiscard]] std::size_t place_of(const Node& node, std::size_t i, std::size_t count,
                                     std::size_t last) const;
  void insert(const Node& node);
  /// Lengths of the parts of an extent that the node splits.
  [[nodiscard]] std::vector<std::int64_t> parts_of(const Node& node, std::int64_t extent) const;
  void split(const Node& node);
  void join(const Node& node);
  void write_optional(const Node& node);
  void write_output(Graph& graph, TensorId list);

  Splicing& out_;
  std::map<TensorId, List> lists_;
  std::size_t listed_ = 0;    ///< elements of all of them
  std::set<TensorId> empty_;  ///< optional values that are not there
};

}  // namespace morton::passes
