// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "passes/shapes/late_table.hpp"
#include "passes/shapes/splicing.hpp"
#include "passes/shapes/tensor_lists.hpp"

namespace morton::passes {

/// Writes out control flow, turn by turn, while shapes are inferred: conditions, numbers of turns
/// and places in lists must follow from what is known when the model is planned. An If whose
/// condition follows from data computes both branches and chooses.
class ControlFlow {
 public:
  ControlFlow(Splicing& out, const LateTable& late)
      : graph_(out.graph()), out_(out), late_(late), lists_(out) {}

  /// Puts other nodes in the place of node `n` where it is control flow, or reads a list; their
  /// number, or -1 where the node stays. Everything before it is inferred. What still repeats
  /// stands behind the nodes of its next turn. Throws ModelError; UnsupportedError for conditions
  /// that follow from data, and beyond the limits of turns and nodes.
  std::ptrdiff_t write_out(std::size_t n);
  /// Outputs that are lists become their elements. How many nodes behind all others are new. Throws
  /// as TensorLists::write_outputs.
  std::size_t write_outputs();

 private:
  /// A Loop that is being written out.
  struct Turns {
    std::int64_t number = 0;
    std::vector<std::vector<TensorId>> scans;  ///< by output, what each turn gave
  };
  /// An If whose branches are both computed.
  struct Branches {
    std::vector<TensorId> then, otherwise;
  };

  void write_if(const Node& node);
  void write_choice(const Node& node, const Branches& branches);
  void write_loop(const Node& node);
  void finish_loop(const Node& node, const Turns& turns);
  void write_scan(const Node& node);
  void write_map(const Node& node);
  /// Counts turns. Throws UnsupportedError for too many.
  void take_turns(const Node& node, std::int64_t count);
  /// The truth of input `i`, or of none; throws where it follows from data.
  [[nodiscard]] bool condition(const Node& node, std::size_t i) const;

  Graph& graph_;
  Splicing& out_;
  const LateTable& late_;
  TensorLists lists_;
  std::int64_t turns_ = 0;                    ///< of all loops
  std::map<std::string, Turns> loops_;        ///< by the node's name
  std::map<std::string, Branches> branches_;  ///< likewise
};

}  // namespace morton::passes
