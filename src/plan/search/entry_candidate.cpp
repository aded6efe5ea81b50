// SPDX-License-Identifier: Apache-2.0
#include "plan/search/entry_candidate.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "layout/arrangement.hpp"
#include "plan/search/kernel_choice.hpp"
#include "plan/search/narrow.hpp"

namespace morton::plan {
namespace {

/// An epilogue, cut behind its leading sum.
struct Started {
  Side addend;              ///< varies along one dimension of dst at most
  int dimension = 0;        ///< that one
  Chain rest;               ///< what follows; its input 0 is the sum
  std::vector<Side> sides;  ///< of the rest
};

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
    if (is_new) started.sides.push_back(sides[static_cast<std::size_t>(ref.index) - 1]);
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
BoundProblem spread_problem(const Started& started, const TaskTensor& addend, int start,
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

/// A candidate under construction.
class EntryCandidate {
 public:
  EntryCandidate(const Entry& entry, const Task& task, const PlanContext& context,
                 const std::vector<TaskTensor>& outer)
      : entry_(entry), task_(task), context_(context), known_(outer) {
    candidate_.name = entry.name;
    candidate_.way = entry.name;
    dst_ = tensor_at(tensor_of(task.bound, "dst"), context.tasks, outer);
  }

  /// The entry carries all of the epilogue.
  Candidate whole() && {
    candidate_.kernels.push_back(choose_entry(entry_, task_.bound, task_.name, context_, known_));
    return std::move(candidate_);
  }

  /// The entry carries nothing of it.
  Candidate split() && {
    const BoundProblem& bound = task_.bound;
    return followed_by(bound.problem.epilogue, bound.sides, Chain{}, {});
  }

  /// The entry carries its leading sum.
  Candidate started(const Started& started) && {
    TaskTensor start;
    start.name = task_.name + ":start";
    start.shape = dst_.shape;
    const TaskTensor& addend = tensor_at(started.addend.tensor, context_.tasks, known_);
    const bool fixed = addend.kind == TaskTensor::Kind::constant;
    start.kind = fixed ? TaskTensor::Kind::derived : TaskTensor::Kind::temporary;
    const int id = add_temporary(start);
    const Arrangement from = row_major_arrangement(addend.dtype, addend.shape);
    const Arrangement to = row_major_arrangement(start.dtype, start.shape);
    candidate_.kernels.push_back(choose_pack(spread_problem(started, addend, id, dst_.shape),
                                             start.name, context_, known_, {from, to}));
    Chain sum;
    sum.input_count = 2;
    sum.append(ScalarOp::add, {ScalarRef::input(0), ScalarRef::input(1)});
    return followed_by(started.rest, started.sides, sum, {{id, dst_.shape}});
  }

 private:
  int add_temporary(const TaskTensor& tensor) {
    known_.push_back(tensor);
    candidate_.temporaries.push_back(tensor);
    return kFirstTemporary + static_cast<int>(known_.size()) - 1;
  }

  /// The entry with `carried` behind it, then `rest` as a step of its own, if it does anything.
  Candidate followed_by(const Chain& rest, const std::vector<Side>& rest_sides,
                        const Chain& carried, std::vector<Side> carried_sides) {
    BoundProblem first = task_.bound;
    first.problem.epilogue = carried;
    first.sides = std::move(carried_sides);
    if (rest.is_identity()) {
      candidate_.kernels.push_back(choose_entry(entry_, first, task_.name, context_, known_));
      return std::move(candidate_);
    }
    TaskTensor raw = dst_;
    raw.name += ":raw";
    if (is_integer_sum(task_.bound.problem)) raw.dtype = DType::i32;
    raw.kind = TaskTensor::Kind::temporary;
    raw.is_output = false;
    const int raw_id = add_temporary(raw);
    first.operands["dst"].tensor = raw_id;
    candidate_.kernels.push_back(choose_entry(entry_, first, task_.name, context_, known_));
    BoundProblem second =
        elementwise_problem(raw_id, tensor_of(task_.bound, "dst"), raw.shape, rest, rest_sides);
    second.problem.types["src0"] = raw.dtype;
    second.problem.types["dst"] = dst_.dtype;
    candidate_.kernels.push_back(
        choose_elementary(second, task_.name + ":epilogue", context_, known_));
    return std::move(candidate_);
  }

  const Entry& entry_;
  const Task& task_;
  const PlanContext& context_;
  std::vector<TaskTensor> known_;
  TaskTensor dst_;
  Candidate candidate_;
};

/// True where the entry leaves dst as its start is spread: row-major, as the tensor has it.
bool leaves_row_major(const Candidate& candidate, const Entry& entry, const TaskTensor& dst) {
  const auto own = std::ranges::find(candidate.kernels, &entry, &KernelChoice::entry);
  const Demand& demand = own->demands.at("dst");
  return demand.kind == Demand::Kind::direct &&
         same_memory(demand.arrangement, row_major_arrangement(dst.dtype, dst.shape));
}

}  // namespace

Candidate entry_candidate(const Entry& entry, const Task& task, const PlanContext& context,
                          const std::vector<TaskTensor>& outer) {
  EntryCandidate candidate(entry, task, context, outer);
  // Who names a kernel for biases or activations wants them out of the products' epilogues.
  // What follows sums of integers (a requantisation) is none of those and stays.
  const bool sums_integers = is_integer_sum(task.bound.problem);
  const bool carries =
      entry.carries_epilogue && (sums_integers || !wants_narrow_family(context.options));
  if (carries || task.bound.problem.epilogue.is_identity()) return std::move(candidate).whole();
  const TaskTensor& dst = tensor_at(tensor_of(task.bound, "dst"), context.tasks, outer);
  const auto started = entry.adds_to_start ? start_of(task.bound, dst) : std::nullopt;
  if (started) {
    Candidate adding = EntryCandidate(candidate).started(*started);
    if (leaves_row_major(adding, entry, dst)) return adding;
  }
  return std::move(candidate).split();
}

}  // namespace morton::plan
