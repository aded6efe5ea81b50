// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "morton/export.hpp"
#include "morton/message.hpp"
#include "morton/model.hpp"

namespace morton {

/// What another model is made of one (docs/conversion.md).
struct ConvertOptions {
  /// f16 or bf16: what weights and activations of f32 become. Nothing: they stay as they are.
  std::optional<DType> precision{};
  /// Whether inputs and outputs of f32 stay so, with a Cast behind and before, or become halves
  /// too.
  enum class Ports : std::uint8_t { keep, convert } ports = Ports::keep;
  /// Names of nodes that stay in f32.
  std::set<std::string> in_float{};
  /// As CompileOptions has them. What they do not say stays open. 0: as `shapes` says.
  std::int64_t batch = 0;
  std::map<std::string, Shape> shapes{};
  /// Version of ONNX's operator set, the model's or a later one. Nothing: the model's.
  std::optional<std::int64_t> opset{};
  /// Whether nodes of constants alone become constants, and batch normalisations part of the
  /// weights before them.
  enum class Constants : std::uint8_t { fold, leave } constants = Constants::fold;
};

/// A node that stays in f32 where others become halves.
struct FloatNode {
  std::string node;
  std::string op;
  std::string why;
};

/// The model that was made, and what the conversion did.
struct ConvertedModel {
  Model model;
  std::vector<FloatNode> in_float;  ///< in the model's order; those of f32 results or operands
  std::int64_t nodes_before = 0, nodes_after = 0;
  std::int64_t parameter_bytes_before = 0, parameter_bytes_after = 0;
  /// What is not as it was: values that halves do not hold, and what the file had that is not
  /// written.
  std::vector<Message> notes{};
};

/// Makes a model that computes the same, and that other engines run too. Names of inputs and
/// outputs, open extents and metadata stay.
///
/// Throws UsageError for options that contradict the model or each other, and for names in
/// `in_float` that are no node's; UnsupportedError that names every node which cannot be taken
/// along: unknown operators, and those that the wanted operator set has no form of.
[[nodiscard]] MORTON_API ConvertedModel convert(const Model& model,
                                                const ConvertOptions& options = {});

}  // namespace morton
