// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/rooms.hpp"

namespace morton::graph {

/// What a model's file says besides the network. Nothing is computed from it; a file that is
/// written has it again, and calls Morton its producer.
struct FileFacts {
  std::string producer, producer_version;  ///< who wrote the file
  std::string domain;                      ///< the model's, in reverse order ("org.example")
  std::int64_t version = 0;                ///< the model's
  std::string description;                 ///< of the model
  std::string graph_description;
  std::map<std::string, std::string> metadata;
  /// Versions of the operator sets that are not ONNX's own, by domain.
  std::map<std::string, std::int64_t> operator_sets;
  /// Constants that the file lists among its inputs, in that order: other engines let a caller
  /// replace them.
  std::vector<std::string> replaceable;
  /// Of a body's outputs, by name: their types as the file states them, ONNX's TypeProto.
  std::map<std::string, std::string> stated_outputs;
  /// What the file holds and a graph does not ("training information").
  std::set<std::string> left_out;
};

}  // namespace morton::graph
