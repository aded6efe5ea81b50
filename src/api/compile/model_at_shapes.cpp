// SPDX-License-Identifier: Apache-2.0
#include "api/compile/model_at_shapes.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "morton/support.hpp"
#include "plan/tasks/narrow.hpp"

namespace morton::api {
namespace {

bool has_open_batch(const GraphTensor& input) {
  return !input.declared.empty() && !input.declared.front().symbol.empty();
}

/// Names of the open extents that are the batch: those of first extents with its value.
std::set<std::string> batch_symbols(const ModelAtShapes& subject) {
  const Graph& open = Inside::of(subject.model());
  std::set<std::string> symbols;
  for (std::size_t i = 0; i < open.inputs.size(); ++i) {
    const GraphTensor& declared = open.tensor(open.inputs[i]);
    if (!has_open_batch(declared)) continue;
    const GraphTensor& bound = subject.graph().tensor(subject.graph().inputs[i]);
    if (bound.shape.front() == subject.batch()) symbols.insert(declared.declared.front().symbol);
  }
  return symbols;
}

}  // namespace

PassOptions pass_options_of(const CompileOptions& options) {
  PassOptions passes;
  passes.batch = options.batch;
  passes.shapes = options.shapes;
  passes.values = options.values;
  passes.skip = options.skip_passes;
  const bool apart = std::any_of(options.use.begin(), options.use.end(),
                                 [](const auto& wanted) { return is_narrow_family(wanted.first); });
  // A kernel for biases or activations is asked for: each must be a step of its own.
  if (apart) passes.skip.emplace_back("fuse_epilogues");
  return passes;
}

PassOptions at_shapes(PassOptions passes, const InputShapes& shapes) {
  passes.batch = shapes.batch;
  passes.shapes = shapes.shapes;
  return passes;
}

ModelAtShapes::ModelAtShapes(Model model, PassOptions passes)
    : model_(std::move(model)), passes_(std::move(passes)) {
  const Stopwatch watch;
  require_supported(model_);
  graph_ = Inside::of(model_);
  report_ = run_passes(graph_, passes_);
  passes_ms_ = watch.milliseconds();
}

std::int64_t ModelAtShapes::batch() const {
  const Graph& open = Inside::of(model_);
  for (std::size_t i = 0; i < open.inputs.size(); ++i) {
    if (has_open_batch(open.tensor(open.inputs[i]))) {
      return graph_.tensor(graph_.inputs[i]).shape.front();
    }
  }
  throw UnsupportedError(
      "split: no input of the model leaves its first extent open, so its batch "
      "cannot be split over devices; use one");
}

ModelAtShapes ModelAtShapes::at(const InputShapes& shapes) const {
  return {model_, at_shapes(passes_, shapes)};
}

/// All open extents are given as shapes: PassOptions::batch may mean another extent than the first,
/// which is the one that is cut.
ModelAtShapes ModelAtShapes::with_rows(std::int64_t rows) const {
  const std::set<std::string> symbols = batch_symbols(*this);
  PassOptions cut = passes_;
  cut.batch = 0;
  for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
    const GraphTensor& declared = Inside::of(model_).tensor(Inside::of(model_).inputs[i]);
    const GraphTensor& bound = graph_.tensor(graph_.inputs[i]);
    Shape shape = bound.shape;
    bool is_open = false;
    for (std::size_t d = 0; d < std::min(shape.size(), declared.declared.size()); ++d) {
      const std::string& symbol = declared.declared[d].symbol;
      if (symbols.contains(symbol)) shape[d] = rows;
      is_open = is_open || !symbol.empty();
    }
    if (is_open) cut.shapes[bound.name] = std::move(shape);
  }
  return {model_, std::move(cut)};
}

}  // namespace morton::api
