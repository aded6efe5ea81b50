// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/graph.hpp"
#include "morton/error.hpp"
#include "morton/segments.hpp"
#include "morton/session.hpp"

namespace morton::api {

/// Tensors by the names that a graph has for them.
using Values = std::map<std::string, Tensor>;

/// What the segments of a session share.
struct SegmentContext {
  Device device;
  CompileOptions options;  ///< as the caller gives them
  SegmentOptions limits;
  LoadLimits loading{};  ///< the model's
  SegmentsReport report{};

  /// Counts a wait.
  void wait(const std::string& node, const Message& why, std::int64_t times = 1);
  /// Counts a plan. Returns the model.
  CompiledModel made(CompiledModel compiled);
};

/// Of a model whose inputs are these, what tells its plans apart: types and shapes, and the values
/// of those inputs from which shapes follow, `planned`.
[[nodiscard]] std::string plan_key(const Graph& graph, const std::vector<TensorId>& planned,
                                   const Values& given);

/// Whether the shape contradicts nothing that the model states of the input.
[[nodiscard]] bool is_declared_as(const GraphTensor& input, const Shape& shape);

/// Whether a plan holds for the extents that an input has now alone.
enum class Extents : std::uint8_t { open, fixed };
/// The graph with the types and numbers of dimensions that its inputs have. What the model states
/// of them stays; other extents are `open` or fixed.
[[nodiscard]] Graph declared_as(Graph graph, const Values& given, Extents extents);
/// The context's options for such a graph.
[[nodiscard]] CompileOptions options_for(const SegmentContext& context, const Graph& graph,
                                         const Values& given);
/// What the graph takes of `values`, in its order. Throws InternalError where something is missing.
[[nodiscard]] std::vector<NamedTensor> inputs_of(const Graph& graph, const Values& values);

class CutGraph;

/// A graph that runs: by one plan for each shape of its inputs, or, where it has none, cut at a
/// node that must wait.
class Segment {
 public:
  /// `depth` counts the segments around it. Throws UnsupportedError where they are too many.
  Segment(Graph graph, SegmentContext& context, int depth);
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment();

  /// The graph's outputs of its inputs. Throws as SegmentedSession::run.
  [[nodiscard]] Values run(const Values& given);
  [[nodiscard]] const Graph& graph() const { return graph_; }

 private:
  struct Planned;

  /// Declares the inputs as these are, where they are of other types than the last ones.
  void take_types(const Values& given);
  /// The plan for these inputs; the newest comes first. Throws NeedsSegments.
  Planned& planned_for(const Values& given);
  [[nodiscard]] CompiledModel compiled_for(const Values& given, const std::string& family);

  SegmentContext& context_;
  int depth_;
  Graph graph_;      ///< whole
  Graph computing_;  ///< without outputs that no node computes, as take_types left it
  std::string types_;
  std::vector<TensorId> planned_inputs_;  ///< of computing_, from whose values shapes follow
  std::list<Planned> planned_;
  std::unique_ptr<CutGraph> cut_;
};

}  // namespace morton::api
