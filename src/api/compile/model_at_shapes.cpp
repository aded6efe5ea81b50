// SPDX-License-Identifier: Apache-2.0
#include "api/compile/model_at_shapes.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "morton/support.hpp"
#include "plan/tasks/narrow.hpp"

namespace morton::api {
namespace {

/// The extents of `input` that its model leaves open; none of a list, which is no tensor.
std::vector<std::size_t> open_extents(const GraphTensor& input) {
  std::vector<std::size_t> open;
  if (input.form.is_list) return open;
  for (std::size_t d = 0; d < input.declared.size(); ++d) {
    if (!input.declared[d].symbol.empty()) open.push_back(d);
  }
  return open;
}

/// The extent of each input that may be the batch. In a model that leaves a first extent open, that
/// is the first extent of the inputs that do. In others it is their extent named "batch", else the
/// first of their open ones.
std::vector<std::optional<std::size_t>> batch_extents(const Graph& open) {
  std::vector<std::optional<std::size_t>> first, named, any;
  for (const TensorId id : open.inputs) {
    const auto& declared = open.tensor(id).declared;
    first.emplace_back();
    named.emplace_back();
    any.emplace_back();
    for (const std::size_t d : open_extents(open.tensor(id))) {
      if (d == 0) first.back() = d;
      if (declared[d].symbol == "batch" && !named.back()) named.back() = d;
      if (!any.back()) any.back() = d;
    }
  }
  const auto has_value = [](const std::optional<std::size_t>& d) { return d.has_value(); };
  if (std::ranges::any_of(first, has_value)) return first;
  return std::ranges::any_of(named, has_value) ? named : any;
}

/// The shape that the model's input has; null for an optional one that is not there, and a list.
const Shape* shape_of(const GraphTensor& input, const Graph& bound) {
  const TensorId id = input.form.is_list ? kNoTensor : bound.find(input.name);
  return id == kNoTensor ? nullptr : &bound.tensor(id).shape;
}

/// Names of the open extents that are the batch: those that may be, with its value.
std::set<std::string> batch_symbols(const ModelAtShapes& subject) {
  const Graph& open = Inside::of(subject.model());
  const auto extents = batch_extents(open);
  const std::int64_t batch = subject.batch();
  std::set<std::string> symbols;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (!extents[i]) continue;
    const GraphTensor& input = open.tensor(open.inputs[i]);
    const Shape* shape = shape_of(input, subject.graph());
    if (shape == nullptr || (*shape)[*extents[i]] != batch) continue;
    symbols.insert(input.declared[*extents[i]].symbol);
  }
  return symbols;
}

}  // namespace

PassOptions pass_options_of(const CompileOptions& options) {
  PassOptions passes;
  passes.batch = options.batch;
  passes.shapes = options.shapes;
  passes.values = options.values;
  passes.feeds = options.feeds;
  passes.skip = options.skip_passes;
  const bool apart = std::any_of(options.use.begin(), options.use.end(),
                                 [](const auto& wanted) { return is_narrow_family(wanted.first); });
  // A kernel for biases or activations is asked for: each must be a step of its own.
  if (apart) passes.skip.emplace_back("fuse_epilogues");
  return passes;
}

PassOptions pass_options_of(const CompileOptions& options, const DeviceInfo& device) {
  PassOptions passes = pass_options_of(options);
  if (device.kind != DeviceInfo::Kind::cpu) passes.skip.emplace_back("compute_in_codes");
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
  passes_.limits = Inside::limits_of(model_);
  require_supported(model_);
  graph_ = Inside::of(model_);
  report_ = run_passes(graph_, passes_);
  passes_ms_ = watch.milliseconds();
}

std::int64_t ModelAtShapes::batch() const {
  const Graph& open = Inside::of(model_);
  const auto extents = batch_extents(open);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const Shape* shape = extents[i] ? shape_of(open.tensor(open.inputs[i]), graph_) : nullptr;
    if (shape != nullptr) return (*shape)[*extents[i]];
  }
  throw UnsupportedError(
      "split: no input of the model leaves an extent open, so it has no batch that can be split "
      "over devices; use one");
}

ModelAtShapes ModelAtShapes::at(const InputShapes& shapes) const {
  return {model_, at_shapes(passes_, shapes)};
}

/// All open extents are given as shapes: PassOptions::batch may mean another extent than the one
/// that is cut.
ModelAtShapes ModelAtShapes::with_rows(std::int64_t rows) const {
  const std::set<std::string> symbols = batch_symbols(*this);
  PassOptions cut = passes_;
  cut.batch = 0;
  for (const TensorId id : Inside::of(model_).inputs) {
    const GraphTensor& declared = Inside::of(model_).tensor(id);
    const Shape* bound = shape_of(declared, graph_);
    const std::vector<std::size_t> open = open_extents(declared);
    if (bound == nullptr || open.empty()) continue;
    Shape shape = *bound;
    for (const std::size_t d : open) {
      if (symbols.contains(declared.declared[d].symbol)) shape[d] = rows;
    }
    cut.shapes[declared.name] = std::move(shape);
  }
  return {model_, std::move(cut)};
}

}  // namespace morton::api
