// SPDX-License-Identifier: Apache-2.0
#include "plan/search/join_attention.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "plan/search/repack.hpp"
#include "problems/sequences/attention.hpp"
#include "problems/softmax.hpp"

namespace morton::plan {
namespace {

constexpr std::size_t kRank = 4;
using Names = std::array<const char*, kRank>;

/// Of a Transpose: dimension d of src is dimension order[d] of dst; nothing for other tasks.
std::optional<std::array<std::size_t, kRank>> order_of(const Task& task) {
  const BoundProblem& bound = task.bound;
  if (bound.problem.family != families::pack || !bound.problem.epilogue.is_identity()) return {};
  const View& from = bound.operands.at("src").view;
  if (!from.grouping || from.bounded || from.coordinates.size() != kRank) return {};
  if (from.dimensions.size() != kRank || !is_plain(bound, "dst")) return {};
  std::array<std::size_t, kRank> order{};
  for (std::size_t i = 0; i < kRank; ++i) {
    const JoinedDimensions& dimensions = (*from.grouping)[i];
    if (dimensions.size() != 1) return {};
    order.at(static_cast<std::size_t>(dimensions.front())) = i;
  }
  return order;
}

/// A tensor whose dimensions have these names, as an operand of `dimensions`.
Binding binding_of(TensorId tensor, const Names& names,
                   const std::vector<std::string>& dimensions) {
  std::vector<Expression> coordinates;
  std::vector<Expression> extents;
  for (const char* name : names) {
    coordinates.push_back(Expression::variable(coordinate_name(name)));
    extents.push_back(Expression::variable(name));
  }
  return {tensor, View::mapped(dimensions, std::move(coordinates), extents)};
}

/// Looks for the tasks behind and before one that computes scores.
class AttentionFinder {
 public:
  AttentionFinder(const TaskList& tasks, TaskId scores) : tasks_(tasks), scores_(scores) {}

  /// Whether the tasks are there and pass on to one another alone what they compute.
  bool find() {
    if (!is_product(scores_) || !is_f32(bound(scores_), tasks_)) return false;
    const auto rule = score_rule_of(bound(scores_).problem.epilogue);
    if (!rule || bound(scores_).sides.size() != (rule->is_masked ? 1U : 0U)) return false;
    rule_ = *rule;
    softmax_ = sole_reader(dst_of(scores_), tasks_);
    if (!softmax_ || !is_softmax_of_rows()) return false;
    context_ = sole_reader(dst_of(softmax_), tasks_);
    if (!context_ || !is_product(context_) || !is_f32(bound(context_), tasks_)) return false;
    if (tensor_of(bound(context_), "lhs") != dst_of(softmax_)) return false;
    if (tensor_of(bound(context_), "rhs") == dst_of(softmax_)) return false;
    return agrees();
  }

  /// Extents of the problem.
  Environment extents() const {
    const Shape& query = shape_of(tensor_of(bound(scores_), "lhs"));
    const Shape& key = shape_of(tensor_of(bound(scores_), "rhs"));
    const Shape& value = shape_of(tensor_of(bound(context_), "rhs"));
    return {{"B", query[0]}, {"H", query[1]}, {"M", query[2]},
            {"D", query[3]}, {"L", key[3]},   {"W", value[3]}};
  }
  bool is_masked() const { return rule_.is_masked; }

  /// Finds the transposes, too, and makes one task of all.
  std::optional<Attention> joined(std::optional<TensorId> zero) {
    Attention attention;
    BoundProblem& bound_problem = attention.task.bound;
    Problem& problem = bound_problem.problem;
    problem.family = families::attention;
    problem.extents = extents();
    problem.structure = numbers_of(AttentionStructure{rule_.scale});
    problem.epilogue = bound(context_).problem.epilogue;
    bound_problem.sides = bound(context_).sides;
    apart_ = {scores_, softmax_, context_};
    bound_problem.operands["query"] =
        read(tensor_of(bound(scores_), "lhs"), {"B", "H", "M", "D"}, {"B", "H", "M", "D"});
    bound_problem.operands["key"] =
        read(tensor_of(bound(scores_), "rhs"), {"B", "H", "D", "L"}, {"B", "H", "L", "D"});
    bound_problem.operands["value"] =
        read(tensor_of(bound(context_), "rhs"), {"B", "H", "L", "W"}, {"B", "H", "L", "W"});
    bound_problem.operands["dst"] = written();
    drop_turned();
    if (!bind_mask(bound_problem, zero)) return std::nullopt;
    for (const auto& [role, binding] : bound_problem.operands) problem.types[role] = DType::f32;
    problem.types["acc"] = DType::f32;
    attention.apart.assign(apart_.begin(), apart_.end());
    attention.turned.assign(turned_.begin(), turned_.end());
    attention.task.name = tasks_.tasks[scores_].name + "+" + tasks_.tasks[softmax_].name + "+" +
                          tasks_.tasks[context_].name;
    return attention;
  }

 private:
  static constexpr Names kMask{"E", "F", "G", "S"};

  const BoundProblem& bound(TaskId task) const { return tasks_.tasks[task].bound; }
  TensorId dst_of(TaskId task) const { return tensor_of(bound(task), "dst"); }
  const Shape& shape_of(TensorId tensor) const { return tasks_.tensors[tensor].shape; }

  bool is_product(TaskId task) const {
    if (bound(task).problem.family != families::batched_gemm) return false;
    return std::ranges::all_of(bound(task).operands, [&](const auto& one) {
      return shape_of(one.second.tensor).size() == kRank;
    });
  }
  bool is_softmax_of_rows() const {
    const Problem& problem = bound(softmax_).problem;
    return problem.family == families::softmax && problem.epilogue.is_identity() &&
           structure_of<SoftmaxStructure>(problem.structure).result ==
               SoftmaxStructure::Result::share &&
           problem.extents.at("N") == 1 &&
           problem.extents.at("L") == shape_of(dst_of(scores_)).back() &&
           shape_of(dst_of(softmax_)) == shape_of(dst_of(scores_));
  }
  /// Whether no product is broadcast: there are as many queries' heads as keys' and values'.
  bool agrees() const {
    const Shape& query = shape_of(tensor_of(bound(scores_), "lhs"));
    for (const TensorId other :
         {tensor_of(bound(scores_), "rhs"), tensor_of(bound(context_), "rhs")}) {
      if (!std::equal(query.begin(), query.begin() + 2, shape_of(other).begin())) return false;
    }
    return true;
  }

  /// The tensor, or what it was transposed from.
  Binding read(TensorId tensor, const Names& names, const std::vector<std::string>& dimensions) {
    for (const TaskId t : tasks_.tasks.ids()) {
      if (dst_of(t) != tensor) continue;
      const auto order = order_of(tasks_.tasks[t]);
      if (!order) break;
      const TensorId source = tensor_of(bound(t), "src");
      if (number_type(tasks_.tensors[source]) != DType::f32) break;
      Names before{};
      for (std::size_t d = 0; d < kRank; ++d) before.at(d) = names.at(order->at(d));
      turned_.insert(t);
      return binding_of(source, before, dimensions);
    }
    return binding_of(tensor, names, dimensions);
  }

  /// Transposes that nobody else reads are part of it.
  void drop_turned() {
    for (const TaskId t : turned_) {
      const auto readers = readers_of(dst_of(t), tasks_);
      if (readers && std::ranges::includes(apart_, *readers)) apart_.insert(t);
    }
  }

  /// dst, or what alone it is transposed to, where nothing is added on the way.
  Binding written() {
    const std::vector<std::string> dimensions{"B", "H", "M", "W"};
    const Names names{"B", "H", "M", "W"};
    const TensorId dst = dst_of(context_);
    const TaskId reader = sole_reader(dst, tasks_);
    const auto order = reader ? order_of(tasks_.tasks[reader]) : std::nullopt;
    if (!order || !bound(context_).sides.empty()) return binding_of(dst, names, dimensions);
    Names behind{};
    for (std::size_t d = 0; d < kRank; ++d) behind.at(order->at(d)) = names.at(d);
    apart_.insert(reader);
    return binding_of(dst_of(reader), behind, dimensions);
  }

  /// Adds the mask with its extents; false where one is neither whole nor of one element.
  bool bind_mask(BoundProblem& attention, std::optional<TensorId> zero) const {
    if (!rule_.is_masked && !zero) return false;
    const TensorId tensor = rule_.is_masked ? bound(scores_).sides.front().tensor : *zero;
    const Shape& shape = shape_of(tensor);
    if (rule_.is_masked && bound(scores_).sides.front().shape != shape) return false;
    if (shape.empty() || shape.size() > kRank) return false;
    constexpr std::array kWhole{"B", "H", "M", "L"};
    Environment& extents = attention.problem.extents;
    std::vector<Expression> coordinates;
    std::vector<Expression> own;
    const std::size_t missing = kRank - shape.size();
    for (std::size_t d = 0; d < kRank; ++d) {
      const std::int64_t extent = d < missing ? 1 : shape[d - missing];
      if (extent != 1 && extent != extents.at(kWhole.at(d))) return false;
      extents[kMask.at(d)] = extent;
      if (d < missing) continue;
      coordinates.push_back(Expression::variable(coordinate_name(kMask.at(d))));
      own.push_back(Expression::variable(kMask.at(d)));
    }
    attention.operands["mask"] = {
        tensor, View::mapped({kMask.begin(), kMask.end()}, std::move(coordinates), own)};
    return true;
  }

  const TaskList& tasks_;
  TaskId scores_, softmax_, context_;
  ScoreRule rule_;
  std::set<TaskId> apart_, turned_;
};

/// What it takes to bring tensors that lie as they are written into the formats that the best
/// kernel demands: the products before attention leave rows.
double copies_us(const Task& task, const PlanContext& context, CandidateMemo& memo) {
  const auto list = memo.find(task);
  if (list->candidates.empty()) return 0.0;
  double us = 0.0;
  for (const auto& [role, demand] : (*list->candidates.front().kernels.begin()).demands) {
    if (demand.kind != Demand::Kind::direct) continue;
    const TaskTensor& tensor = context.tasks.tensors[tensor_of(task.bound, role)];
    const Arrangement rows = row_major_arrangement(tensor.dtype, tensor.shape);
    if (!same_memory(rows, demand.arrangement)) {
      us += repack_cost_us(rows, demand.arrangement, context);
    }
  }
  return us;
}

/// What has been joined so far.
struct Joined {
  std::set<TaskId> apart;   ///< tasks that are part of an attention
  std::set<TaskId> turned;  ///< transposes whose source an attention reads

  /// Whether the attention would take or read what is part of one already.
  bool meets(const Attention& attention) const {
    const auto is_taken = [&](TaskId task) { return apart.contains(task); };
    const auto is_read_through = [&](TaskId task) { return turned.contains(task); };
    return std::ranges::any_of(attention.apart, is_taken) ||
           std::ranges::any_of(attention.turned, is_taken) ||
           std::ranges::any_of(attention.apart, is_read_through);
  }
};

}  // namespace

std::optional<TensorId> add_zero_mask(TaskList& tasks) {
  for (const TaskId t : tasks.tasks.ids()) {
    AttentionFinder finder(tasks, t);
    if (!finder.find() || finder.is_masked()) continue;
    TaskTensor zero;
    zero.kind = TaskTensor::Kind::constant;
    zero.name = "no mask";
    zero.shape = {1};
    zero.data = Tensor::allocate(DType::f32, zero.shape);
    return tasks.tensors.add(std::move(zero));
  }
  return std::nullopt;
}

std::optional<Attention> attention_of(TaskId scores, const TaskList& tasks,
                                      std::optional<TensorId> zero) {
  AttentionFinder finder(tasks, scores);
  if (!finder.find()) return std::nullopt;
  return finder.joined(zero);
}

TaskList join_attention(const PlanContext& context, std::optional<TensorId> zero,
                        CandidateMemo& memo, JoinNotes& notes) {
  TaskList list = context.tasks;
  if (is_asked_apart(context.policy, families::attention,
                     {families::batched_gemm, families::softmax, families::pack})) {
    return list;
  }
  TaskJoiner joiner(context, memo, notes);
  Joined joined;
  std::set<TaskId> dropped;
  for (const TaskId t : context.tasks.tasks.ids()) {
    if (context.tasks.tasks[t].bound.problem.family != families::batched_gemm) continue;
    std::optional<Attention> attention = attention_of(t, context.tasks, zero);
    if (!attention) continue;
    const std::string what = context.tasks.tasks[t].name + " and its attention: ";
    if (joined.meets(*attention)) {
      notes.considered.push_back(what + "apart, since a transpose is part of another attention");
      continue;
    }
    std::vector<const Task*> apart;
    for (const TaskId one : attention->apart) apart.push_back(&context.tasks.tasks[one]);
    const JoinExtras extras{.copies_us = copies_us(attention->task, context, memo)};
    if (!joiner.pays(apart, attention->task, what, extras)) continue;
    const TaskId last = attention->apart.back();
    list.tasks[last] = std::move(attention->task);
    joined.apart.insert(attention->apart.begin(), attention->apart.end());
    joined.turned.insert(attention->turned.begin(), attention->turned.end());
    dropped.insert(attention->apart.begin(), attention->apart.end());
    dropped.erase(last);
  }
  // Several may share a transpose that nobody else reads.
  for (const TaskId t : joined.turned) {
    const auto readers = readers_of(tensor_of(context.tasks.tasks[t].bound, "dst"), list);
    if (readers && std::ranges::includes(dropped, *readers)) dropped.insert(t);
  }
  return without(std::move(list), dropped);
}

}  // namespace morton::plan
