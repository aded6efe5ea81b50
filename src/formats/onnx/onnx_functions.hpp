// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx.pb.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/rooms.hpp"
#include "formats/load_budget.hpp"

namespace morton::formats {

/// A node of a model's graph, or of the body of a function that was called there.
struct WrittenNode {
  onnx::NodeProto proto;
  std::int64_t opset = 0;  ///< of ONNX's operator set, where a function states its own; else 0
  /// The functions in whose calls it stands: its bodies must call none of them.
  std::vector<const onnx::FunctionProto*> open;
};

/// The functions of a model, and how many of their calls are written out: in its graph, and in the
/// bodies of its nodes. Refers to the model and the budget.
class FunctionCalls {
 public:
  /// Throws ModelError for a function that is defined twice.
  FunctionCalls(const onnx::ModelProto& model, const std::string& where, LoadBudget& budget);

  /// The nodes of `graph`, the model's own or a body in calls of the functions `open`. Those that
  /// call a function of the model are replaced by the function's own, to any depth. Values inside
  /// are named after the call ("call/value"); attributes that refer to the function's take the
  /// call's, or the function's default. Throws ModelError for functions that call themselves, calls
  /// with too many inputs or outputs, and bodies that do not compute an output; UnsupportedError
  /// where more nodes result than the limit allows, all graphs together.
  [[nodiscard]] std::vector<WrittenNode> nodes_of(
      onnx::GraphProto& graph, const std::string& where,
      const std::vector<const onnx::FunctionProto*>& open);

 private:
  friend class Inliner;
  std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*> functions_;
  std::size_t calls_ = 0;  ///< which tell the names of values apart
  LoadBudget& budget_;
};

}  // namespace morton::formats
