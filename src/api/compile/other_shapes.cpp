// SPDX-License-Identifier: Apache-2.0
#include "api/compile/other_shapes.hpp"

#include <algorithm>
#include <utility>

#include "api/inside.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"
#include "plan/lower/emit.hpp"
#include "plan/make_plan.hpp"

namespace morton::api {
namespace {

/// Most sizes besides the model's own for which kernels are chosen.
constexpr std::size_t kMostAlso = BuiltKernels::kMostDecisions - 1;

std::string text_of(const InputShapes& shapes) {
  std::string text = shapes.batch > 0 ? "batch " + std::to_string(shapes.batch) : "";
  for (const auto& [name, shape] : shapes.shapes) {
    text += (text.empty() ? "" : ", ") + name + " " + to_string(shape);
  }
  return text;
}

/// Extents that show what others need: where a kernel works in tiles, a whole number of them needs
/// no padding, and a last tile that is not full does.
struct OtherExtents {
  std::int64_t (*of_batch)(std::int64_t own);
  std::int64_t (*of_other)(std::int64_t own);
};

std::int64_t same(std::int64_t own) { return own; }

/// The next that neither 2 nor 3 divides: it fills no tiles that others do not fill.
std::int64_t next_batch(std::int64_t own) {
  do ++own;
  while (own % 2 == 0 || own % 3 == 0);
  return own;
}

/// The next power of two, at least 8: it fills the tiles that other batches leave open.
std::int64_t next_power(std::int64_t own) {
  std::int64_t power = 8;
  while (power <= own) power *= 2;
  return power;
}

/// A power of two and one, which stays odd however often a network halves it: tails everywhere.
std::int64_t halved_to_odd(std::int64_t own) {
  std::int64_t power = 2;
  while (2 * power < own) power *= 2;
  return power + 1;
}

/// What networks take that halve an image five times and join what they halved.
std::int64_t halved_five_times(std::int64_t own) { return 5 * std::min<std::int64_t>(own, 32); }

/// The inputs' shapes with other values of every open extent; no shapes where nothing is open.
InputShapes at_other(const ModelAtShapes& subject, const OtherExtents& extents) {
  const Graph& open = Inside::of(subject.model());
  const Graph& graph = subject.graph();
  InputShapes other;
  std::map<std::string, std::int64_t> symbols;
  for (const TensorId id : graph.inputs) {
    const GraphTensor& bound = graph.tensor(id);
    const TensorId as_loaded = open.find(bound.name);
    if (as_loaded == kNoTensor) continue;  // a list's element, which stays as it is
    const GraphTensor& declared = open.tensor(as_loaded);
    Shape shape = bound.shape;
    bool is_open = false;
    for (std::size_t d = 0; d < declared.declared.size() && d < shape.size(); ++d) {
      const std::string& symbol = declared.declared[d].symbol;
      if (symbol.empty()) continue;
      const bool is_batch = d == 0 || symbol == "batch";
      const auto change = is_batch ? extents.of_batch : extents.of_other;
      shape[d] = symbols.emplace(symbol, change(shape[d])).first->second;
      is_open = true;
    }
    if (is_open) other.shapes[bound.name] = shape;
  }
  // What lists hold, and which optional inputs are there.
  if (!other.shapes.empty()) {
    const auto& given = subject.passes().shapes;
    other.shapes.insert(given.begin(), given.end());
  }
  return other;
}

class Preparation {
 public:
  Preparation(const Job& job, const DeviceInfo& device, Plan& plan)
      : job_(job), device_(device), plan_(plan) {
    built_.add(plan.decisions);
  }

  /// The best kernels for these shapes. Throws what planning throws.
  void choose_for(const InputShapes& shapes) {
    Plan plan = make_plan(job_.subject->at(shapes).graph(), device_, *job_.policy);
    result_.chosen.push_back({shapes, std::make_shared<const Plan>(plan)});
    add(std::move(plan), shapes);
  }

  /// The kernels that are chosen already, at these shapes.
  void carry_to(const InputShapes& shapes) {
    try {
      const ModelAtShapes other = job_.subject->at(shapes);
      const KernelPolicy policy = job_.policy->among(built(), MissingKernels::build);
      add(make_plan(other.graph(), device_, policy), shapes);
    } catch (const Error& error) {
      // The model may not take these extents, or no kernel them; a defect is no reason.
      if (error.error_class() == ErrorClass::internal) throw;
      job_.observer.say("no kernels are prepared for " + text_of(shapes) + ": " + error.message());
    }
  }

  OtherShapes finish() {
    result_.built = built();
    return std::move(result_);
  }

 private:
  std::shared_ptr<const BuiltKernels> built() {
    for (const auto& instance : plan_.instances) built_.instances.insert(instance.key);
    return std::make_shared<const BuiltKernels>(built_);
  }

  void add(Plan plan, const InputShapes& shapes) {
    built_.add(plan.decisions);
    const int added = add_instances(plan_, plan);
    job_.observer.say("kernels for " + text_of(shapes) + ": " + std::to_string(added) + " more");
    if (added == 0) return;
    result_.kernels += added;
    result_.plans.push_back(std::move(plan));
  }

  const Job& job_;
  const DeviceInfo& device_;
  Plan& plan_;
  BuiltKernels built_;
  OtherShapes result_;
};

}  // namespace

OtherShapes prepare_other_shapes(const Job& job, const DeviceInfo& device, Plan& plan) {
  if (job.also.size() > kMostAlso) {
    throw UsageError("compile: kernels are chosen for " + std::to_string(kMostAlso) +
                     " other shapes at most, " + std::to_string(job.also.size()) + " are given");
  }
  Preparation preparation(job, device, plan);
  for (const InputShapes& shapes : job.also) preparation.choose_for(shapes);
  if (job.other_shapes == CompileOptions::OtherShapes::prepare) {
    std::vector<InputShapes> known{at_other(*job.subject, {same, same})};
    for (const OtherExtents& extents :
         {OtherExtents{next_batch, halved_to_odd}, OtherExtents{same, halved_to_odd},
          OtherExtents{next_power, halved_five_times}}) {
      const InputShapes other = at_other(*job.subject, extents);
      if (std::ranges::find(known, other) != known.end()) continue;
      preparation.carry_to(other);
      known.push_back(other);
    }
  }
  return preparation.finish();
}

}  // namespace morton::api
