// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "morton/dtype.hpp"
#include "morton/export.hpp"
#include "morton/load.hpp"
#include "morton/message.hpp"
#include "morton/tensor.hpp"
#include "morton/value_form.hpp"

namespace morton {

namespace graph {
struct Graph;
}
namespace api {
struct Inside;
}

/// An input or output of a model. An extent that the model leaves open has its name in `symbols`
/// and -1 in `shape`.
struct PortInfo {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  std::vector<std::string> symbols;  ///< one for each extent; empty where the extent is a number
  /// Of a classifier's results the classes' names. Where it is of whole numbers they count in this
  /// list, from 0; else each name has a column.
  std::vector<std::string> labels{};
  /// Of a compiled model's output: for each extent that a run finds out the name of the output that
  /// counts it (i64 of one element). `shape` has the bound then. Empty where all are known.
  std::vector<std::string> counts{};
  /// Of one that is no plain tensor, what it is; `dtype`, `shape` and `symbols` are of its tensors.
  ValueForm form{};
};

/// How the matrices beside a network definition are written.
enum class MatrixFormat : std::uint8_t { csv, binary };

/// A model in short, as `inspect` shows it.
struct ModelSummary {
  std::string name;
  std::int64_t opset = 0;
  std::int64_t parameters = 0;
  std::int64_t parameter_bytes = 0;
  std::vector<std::pair<std::string, int>> operators;        ///< name and number of nodes
  std::vector<std::pair<std::string, Message>> unsupported;  ///< node and why it cannot run
  /// Inputs from whose values shapes follow: they must be known when the model is compiled
  /// (CompileOptions::values).
  std::vector<std::string> planned_inputs;
  /// Where results differ in form from what the file says (a tensor in place of a list of maps).
  std::vector<std::string> notes{};
};

/// What a model's file says besides the network.
struct ModelFacts {
  std::string producer, producer_version;  ///< who wrote the file
  std::string domain;                      ///< "org.example"
  std::int64_t version = 0;                ///< the model's
  std::string description;                 ///< of the model
  std::string graph_description;
  std::map<std::string, std::string> metadata;
  /// What the file holds and a model does not ("training information"): it is not written again.
  std::vector<std::string> left_out;
};

/// A network as its file states it. Immutable; cheap to copy. It is compiled within the limits that
/// it was loaded within.
class MORTON_API Model {
 public:
  /// Reads an ONNX file, or a network definition of R17 (.json, docs/r17_files.md). Throws
  /// ModelError, or UnsupportedError for what Morton cannot take in and what passes a limit.
  [[nodiscard]] static Model load(const std::string& path, const LoadOptions& options = {});
  /// From bytes in memory; external data is refused unless the options name its folder. Throws
  /// likewise.
  [[nodiscard]] static Model from_bytes(std::string_view onnx, const std::string& name,
                                        const LoadOptions& options = {});

  /// Writes .onnx, or .json: a network definition of R17 with its matrices beside it, for models
  /// that it can express. Files appear whole or not at all. Throws UsageError for other names,
  /// UnsupportedError for models that the format cannot hold.
  void save(const std::string& path, MatrixFormat matrices = MatrixFormat::binary) const;

  [[nodiscard]] std::vector<PortInfo> inputs() const;
  /// The inputs as a model that is compiled at these shapes has them (CompileOptions::shapes): of
  /// a list its elements, and of optional inputs those that are given. Throws UsageError where the
  /// shapes do not say what a list holds.
  [[nodiscard]] std::vector<PortInfo> inputs(const std::map<std::string, Shape>& shapes) const;
  [[nodiscard]] std::vector<PortInfo> outputs() const;
  [[nodiscard]] ModelSummary summary() const;
  [[nodiscard]] ModelFacts facts() const;
  /// Constants that the file lists among its inputs. Morton takes their values as they are; ONNX
  /// Runtime lets a caller replace them (overridable initializers).
  [[nodiscard]] std::vector<PortInfo> replaceable_constants() const;
  /// The graph as text, or in Graphviz's language.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string dot() const;

 private:
  friend struct api::Inside;
  Model(std::shared_ptr<const graph::Graph> graph, const LoadLimits& limits);

  std::shared_ptr<const graph::Graph> graph_;
  LoadLimits limits_;
};

}  // namespace morton
