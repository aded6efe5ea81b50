// SPDX-License-Identifier: Apache-2.0
#include "api/segments/segment.hpp"

#include <algorithm>
#include <utility>

#include "api/inside.hpp"
#include "api/segments/cut_graph.hpp"
#include "base/error.hpp"
#include "ops/core/planned.hpp"

namespace morton::api {
namespace {

/// Segments around one another: a model of a few bytes may ask for any number.
constexpr int kMostDepth = 500;

std::string bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data()), tensor.bytes()};
}

std::string types_of(const Graph& graph, const Values& given) {
  std::string text;
  for (const TensorId id : graph.inputs) {
    const Tensor& tensor = given.at(graph.tensor(id).name);
    text += std::string(name_of(tensor.dtype())) + std::to_string(tensor.shape().size()) + ";";
  }
  return text;
}

/// Throws UnsupportedError where a result is a list, whose elements have names of their own.
void require_tensor_of(const GraphTensor& result, const Values& results) {
  if (results.contains(result.name)) return;
  throw UnsupportedError("segments: '" + result.name +
                         "' is a list or an optional value, which cannot cross a wait");
}

/// What a plan for other shapes shares: types, numbers of dimensions, and values that shapes follow
/// from.
std::string family_key(const Graph& graph, const std::vector<TensorId>& planned,
                       const Values& given) {
  std::string key = types_of(graph, given);
  for (const TensorId id : planned) {
    const Tensor& tensor = given.at(graph.tensor(id).name);
    key += to_string(tensor.shape()) + bytes_of(tensor);
  }
  return key;
}

}  // namespace

void SegmentContext::wait(const std::string& node, const Message& why, std::int64_t times) {
  const auto found = std::ranges::find(report.waits, node, &Wait::node);
  if (found == report.waits.end()) {
    report.waits.push_back({node, why, times});
  } else {
    found->times += times;
  }
}

CompiledModel SegmentContext::made(CompiledModel compiled) {
  ++report.plans;
  report.built_kernels += compiled.report().kernels.built;
  for (const Message& line : compiled.report().fallbacks) {
    if (std::ranges::count(report.fallbacks, line) == 0) report.fallbacks.push_back(line);
  }
  return compiled;
}

std::string plan_key(const Graph& graph, const std::vector<TensorId>& planned,
                     const Values& given) {
  std::string key = family_key(graph, planned, given);
  for (const TensorId id : graph.inputs) key += to_string(given.at(graph.tensor(id).name).shape());
  return key;
}

bool is_declared_as(const GraphTensor& tensor, const Shape& shape) {
  if (tensor.declared.size() != shape.size()) return false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const Dimension& dimension = tensor.declared[d];
    if (dimension.symbol.empty() && dimension.value != shape[d]) return false;
  }
  return true;
}

Graph declared_as(Graph graph, const Values& given, Extents extents) {
  for (const TensorId id : graph.inputs) {
    GraphTensor& tensor = graph.tensor(id);
    const Tensor& value = given.at(tensor.name);
    tensor.dtype = value.dtype();
    if (extents == Extents::open && is_declared_as(tensor, value.shape())) continue;
    tensor.declared.clear();
    for (std::size_t d = 0; d < value.shape().size(); ++d) {
      const bool is_open = extents == Extents::open;
      tensor.declared.push_back(
          {is_open ? 0 : value.shape()[d], is_open ? tensor.name + "." + std::to_string(d) : ""});
    }
    tensor.shape = value.shape();
  }
  return graph;
}

CompileOptions options_for(const SegmentContext& context, const Graph& graph, const Values& given) {
  CompileOptions options = context.options;
  options.batch = 0;
  options.shapes.clear();
  options.values.clear();
  options.also.clear();
  for (const TensorId id : graph.inputs) {
    const std::string& name = graph.tensor(id).name;
    options.shapes[name] = given.at(name).shape();
  }
  for (const TensorId id : planned_graph_inputs(graph)) {
    const std::string& name = graph.tensor(id).name;
    options.values.emplace(name, given.at(name));
  }
  return options;
}

std::vector<NamedTensor> inputs_of(const Graph& graph, const Values& values) {
  std::vector<NamedTensor> inputs;
  for (const TensorId id : graph.inputs) {
    const auto found = values.find(graph.tensor(id).name);
    if (found == values.end()) {
      throw InternalError("segments: nothing gives '" + graph.tensor(id).name + "'");
    }
    inputs.push_back({found->first, found->second});
  }
  return inputs;
}

struct Segment::Planned {
  std::string key, family;
  Session session;
};

Segment::Segment(Graph graph, SegmentContext& context, int depth)
    : context_(context), depth_(depth), graph_(std::move(graph)), computing_(graph_) {
  if (depth > kMostDepth) {
    throw UnsupportedError("segments: more than " + std::to_string(kMostDepth) +
                           " waits depend on one another");
  }
  std::vector<TensorId> computed;
  for (const TensorId id : graph_.outputs) {
    const bool is_new = std::ranges::find(computed, id) == computed.end();
    if (graph_.tensor(id).kind == GraphTensor::Kind::activation && is_new) computed.push_back(id);
  }
  computing_.outputs = std::move(computed);
}

Segment::~Segment() = default;

CompiledModel Segment::compiled_for(const Values& given, const std::string& family) {
  const auto other = std::ranges::find(planned_, family, &Planned::family);
  const CompileOptions options = options_for(context_, computing_, given);
  if (other != planned_.end()) {
    return other->session.model().with_shapes({0, options.shapes}, MissingKernels::build);
  }
  return compile(Inside::make(computing_, context_.loading), context_.device, options);
}

void Segment::take_types(const Values& given) {
  std::string types = types_of(computing_, given);
  if (types == types_) return;
  types_ = std::move(types);
  computing_ = declared_as(std::move(computing_), given, Extents::open);
  planned_inputs_ = planned_graph_inputs(computing_);
}

Segment::Planned& Segment::planned_for(const Values& given) {
  take_types(given);
  const std::string key = plan_key(computing_, planned_inputs_, given);
  const auto found = std::ranges::find(planned_, key, &Planned::key);
  if (found != planned_.end()) {
    planned_.splice(planned_.begin(), planned_, found);
    return planned_.front();
  }
  const std::string family = family_key(computing_, planned_inputs_, given);
  const CompiledModel compiled = context_.made(compiled_for(given, family));
  while (std::ssize(planned_) >= std::max<std::int64_t>(1, context_.limits.kept_plans)) {
    planned_.pop_back();
  }
  planned_.push_front({key, family, Session(compiled)});
  return planned_.front();
}

Values Segment::run(const Values& given) {
  Values results;
  for (const TensorId id : graph_.outputs) {
    const GraphTensor& tensor = graph_.tensor(id);
    if (tensor.kind == GraphTensor::Kind::input) results[tensor.name] = given.at(tensor.name);
    if (tensor.kind == GraphTensor::Kind::constant) results[tensor.name] = tensor.data;
  }
  if (computing_.outputs.empty()) return results;
  if (cut_ == nullptr) {
    try {
      Planned& planned = planned_for(given);
      for (NamedTensor& output : planned.session.run(inputs_of(computing_, given))) {
        results[output.name] = std::move(output.tensor);
      }
      for (const TensorId id : computing_.outputs)
        require_tensor_of(computing_.tensor(id), results);
      return results;
    } catch (const NeedsSegments& error) {
      if (context_.options.fallback == CompileOptions::Fallback::refuse) throw;
      cut_ = std::make_unique<CutGraph>(computing_, error, context_, depth_ + 1);
      planned_.clear();
    }
  }
  // cppcheck-suppress nullPointerRedundantCheck ; the catch above makes it
  results.merge(cut_->run(given));
  return results;
}

}  // namespace morton::api
