// SPDX-License-Identifier: Apache-2.0
#include "plan/search/entry_candidate.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "layout/arrangement.hpp"
#include "plan/kernel/kernel_choice.hpp"
#include "plan/policy/plan_options.hpp"
#include "plan/search/elementary.hpp"
#include "plan/tasks/narrow.hpp"

namespace morton::plan {

/// An epilogue, cut behind its leading sum.
struct EntryCandidates::Started {
  Side addend;              ///< varies along one dimension of dst at most
  int dimension = 0;        ///< that one
  Chain rest;               ///< what follows; its input 0 is the sum
  std::vector<Side> sides;  ///< of the rest
};

namespace {

using Started = EntryCandidates::Started;

bool is_integer_sum(const Problem& problem) {
  const auto sum = problem.types.find("acc");
  return sum != problem.types.end() && sum->second == DType::i32;
}

bool wants_narrow_family(const PlanOptions& options) {
  return std::any_of(options.use.begin(), options.use.end(),
                     [](const auto& wanted) { return is_narrow_family(wanted.first); });
}

bool is_input(const ScalarRef& ref, int index) {
  return ref.kind == ScalarRef::Kind::input && ref.index == index;
}

/// The input that the chain's first step adds to input 0, which nothing else reads; 0 where it does
/// something else.
int leading_addend(const Chain& chain) {
  if (chain.steps.empty() || chain.steps.front().op != ScalarOp::add) return 0;
  const auto& arguments = chain.steps.front().arguments;
  const std::size_t other = is_input(arguments[0], 0) ? 1 : 0;
  const bool adds = is_input(arguments[1 - other], 0) && !is_input(arguments[other], 0) &&
                    arguments[other].kind == ScalarRef::Kind::input;
  const auto reads_value = [](const ScalarStep& step) {
    return std::any_of(step.arguments.begin(), step.arguments.end(),
                       [](const ScalarRef& ref) { return is_input(ref, 0); });
  };
  if (!adds || std::any_of(chain.steps.begin() + 1, chain.steps.end(), reads_value)) return 0;
  return arguments[other].index;
}

/// The chain without its first step, whose result becomes input 0.
void drop_first(const Chain& chain, const std::vector<Side>& sides, Started& started) {
  std::map<int, int> inputs{{0, 0}};
  const auto renumber = [&](const ScalarRef& ref) {
    if (ref.kind == ScalarRef::Kind::constant) return ref;
    if (ref.kind == ScalarRef::Kind::step) {
      return ref.index == 0 ? ScalarRef::input(0) : ScalarRef::step(ref.index - 1);
    }
    const auto [known, is_new] = inputs.emplace(ref.index, static_cast<int>(inputs.size()));
    if (is_new) started.sides.push_back(sides[ref.place() - 1]);
    return ScalarRef::input(known->second);
  };
  for (std::size_t i = 1; i < chain.steps.size(); ++i) {
    ScalarStep step = chain.steps[i];
    for (ScalarRef& ref : step.arguments) ref = renumber(ref);
    started.rest.steps.push_back(std::move(step));
  }
  started.rest.result = renumber(chain.result);
  started.rest.input_count = static_cast<int>(inputs.size());
}

/// The task's epilogue cut so, if it starts with a sum that varies along one dimension.
std::optional<Started> start_of(const BoundProblem& bound, const TaskTensor& dst) {
  const Chain& chain = bound.problem.epilogue;
  const int input = leading_addend(chain);
  if (input == 0 || dst.dtype != DType::f32) return std::nullopt;
  Started started;
  started.addend = bound.sides[static_cast<std::size_t>(input) - 1];
  const Shape& shape = started.addend.shape;
  int varying = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    ++varying;
    started.dimension = static_cast<int>(dst.shape.size() - shape.size() + i);
  }
  if (varying > 1 || shape.size() > dst.shape.size()) return std::nullopt;
  drop_first(chain, bound.sides, started);
  return started;
}

/// The problem of spreading the addend over the whole of dst's shape.
BoundProblem spread_problem(const Started& started, const TaskTensor& addend, TensorId start,
                            const Shape& shape) {
  BoundProblem bound;
  bound.problem.family = families::pack;
  bound.problem.types = {{"src", DType::f32}, {"dst", DType::f32}, {"acc", DType::f32}};
  const auto dimensions = numbered_dimensions(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) bound.problem.extents[dimensions[d]] = shape[d];
  const std::string& along = dimensions[static_cast<std::size_t>(started.dimension)];
  View view;
  view.dimensions = dimensions;
  for (const std::int64_t extent : addend.shape) {
    view.coordinates.push_back(extent == 1 ? Expression(0)
                                           : Expression::variable(coordinate_name(along)));
    view.extents.push_back(extent == 1 ? Expression(1) : Expression::variable(along));
  }
  bound.operands["src"] = {started.addend.tensor, std::move(view)};
  bound.operands["dst"] = {start, View::identity(dimensions)};
  return bound;
}

/// True where the entry leaves dst as its start is spread: row-major, as the tensor has it.
bool leaves_row_major(const Candidate& candidate, const Entry& entry, const TaskTensor& dst) {
  const auto own = std::ranges::find(candidate.kernels, &entry, &KernelChoice::entry);
  const Demand& demand = own->demands.at("dst");
  return demand.kind == Demand::Kind::direct &&
         same_memory(demand.arrangement, row_major_arrangement(dst.dtype, dst.shape));
}

}  // namespace

EntryCandidates::EntryCandidates(const Task& task, const PlanContext& context,
                                 const Temporaries& outer)
    : task_(task),
      context_(context),
      outer_(outer),
      dst_(tensor_at(tensor_of(task.bound, "dst"), context.tasks, outer)),
      bound_(std::make_shared<const BoundProblem>(task.bound)),
      whole_{bound_, nullptr, outer, std::nullopt} {}

OrReason<Candidate> EntryCandidates::of(const Entry& entry) {
  const Problem& problem = bound_->problem;
  // Who names a kernel for biases or activations wants them out of the products' epilogues.
  // What follows sums of integers (a requantisation) is none of those and stays.
  const bool carries =
      entry.carries_epilogue && (is_integer_sum(problem) || !wants_narrow_family(context_.options));
  if (carries || problem.epilogue.is_identity()) return candidate(entry, whole_, {});
  const auto started = entry.call.adds_to_start ? start_of(*bound_, dst_) : std::nullopt;
  if (started) {
    OrReason<Candidate> adding = behind_start(entry, *started);
    const auto* made = std::get_if<Candidate>(&adding);
    if (made == nullptr || leaves_row_major(*made, entry, dst_)) return adding;
  }
  // The entry carries nothing of it.
  if (!split_) split_ = parts(problem.epilogue, bound_->sides, {{}, {}}, outer_);
  return candidate(entry, *split_, {});
}

OrReason<Candidate> EntryCandidates::behind_start(const Entry& entry, const Started& started) {
  TaskTensor start;
  start.name = task_.name + ":start";
  start.shape = dst_.shape;
  const TaskTensor& addend = tensor_at(started.addend.tensor, context_.tasks, outer_);
  const bool fixed = addend.kind == TaskTensor::Kind::constant;
  start.kind = fixed ? TaskTensor::Kind::derived : TaskTensor::Kind::temporary;
  Temporaries known = outer_;
  known.push_back(start);
  const TensorId id = temporary_id(outer_.size());
  const Arrangement from = row_major_arrangement(addend.dtype, addend.shape);
  const Arrangement to = row_major_arrangement(start.dtype, start.shape);
  const auto spread =
      std::make_shared<const BoundProblem>(spread_problem(started, addend, id, dst_.shape));
  OrReason<KernelChoice> pack = choose_pack(spread, start.name, context_, known, {from, to});
  if (auto* reason = std::get_if<Reason>(&pack)) return std::move(*reason);
  Chain sum;
  sum.input_count = 2;
  sum.append(ScalarOp::add, {ScalarRef::input(0), ScalarRef::input(1)});
  Parts split =
      parts(started.rest, started.sides, {std::move(sum), {{id, dst_.shape}}}, std::move(known));
  KernelChoices first;
  first.push_back(std::get<KernelChoice>(std::move(pack)));
  return candidate(entry, split, std::move(first));
}

EntryCandidates::Parts EntryCandidates::parts(const Chain& rest, const std::vector<Side>& sides,
                                              Carried carried, Temporaries known) const {
  BoundProblem first = *bound_;
  first.problem.epilogue = std::move(carried.chain);
  first.sides = std::move(carried.sides);
  if (rest.is_identity()) {
    return {std::make_shared<const BoundProblem>(std::move(first)), nullptr, std::move(known),
            std::nullopt};
  }
  TaskTensor raw = dst_;
  raw.name += ":raw";
  raw.dtype = number_type(dst_);
  raw.is_rounded = false;
  if (first.problem.family == families::elementwise) {
    raw.dtype = first.problem.types.at("src0");
    first.problem.types["dst"] = raw.dtype;
  } else if (is_integer_sum(first.problem)) {
    raw.dtype = DType::i32;
  }
  raw.kind = TaskTensor::Kind::temporary;
  raw.is_output = false;
  const TensorId raw_id = temporary_id(known.size());
  const TensorId dst_id = first.operands.at("dst").tensor;
  first.operands["dst"].tensor = raw_id;
  BoundProblem second = elementwise_problem(raw_id, dst_id, raw.shape, rest, sides);
  second.problem.types["src0"] = raw.dtype;
  second.problem.types["dst"] = number_type(dst_);
  known.push_back(std::move(raw));
  return {std::make_shared<const BoundProblem>(std::move(first)),
          std::make_shared<const BoundProblem>(std::move(second)), std::move(known), std::nullopt};
}

OrReason<Candidate> EntryCandidates::candidate(const Entry& entry, Parts& parts,
                                               KernelChoices before) const {
  OrReason<KernelChoice> own = choose_entry(entry, parts.first, task_.name, context_, parts.known);
  if (auto* reason = std::get_if<Reason>(&own)) return std::move(*reason);
  Candidate candidate;
  candidate.kernels = std::move(before);
  candidate.kernels.push_back(std::get<KernelChoice>(std::move(own)));
  if (parts.rest != nullptr) {
    if (!parts.epilogue) parts.epilogue = epilogue(parts);
    if (const auto* reason = std::get_if<Reason>(&*parts.epilogue)) return *reason;
    candidate.kernels.push_back(std::get<KernelChoices::Shared>(*parts.epilogue));
  }
  candidate.name = entry.name;
  candidate.way = entry.name;
  candidate.temporaries.append(parts.known, outer_.size());
  return candidate;
}

OrReason<KernelChoices::Shared> EntryCandidates::epilogue(const Parts& parts) const {
  OrReason<KernelChoice> choice =
      choose_elementary(parts.rest, task_.name + ":epilogue", context_, parts.known);
  if (auto* reason = std::get_if<Reason>(&choice)) return std::move(*reason);
  return std::make_shared<const KernelChoice>(std::get<KernelChoice>(std::move(choice)));
}

}  // namespace morton::plan
