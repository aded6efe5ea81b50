// SPDX-License-Identifier: Apache-2.0
#include "plan/search/expansion.hpp"

#include <algorithm>
#include <set>

#include "base/error.hpp"
#include "base/numbers/checked.hpp"
#include "plan/search/candidates.hpp"

namespace morton::plan {
namespace {

bool uses_any(const Expression& expression, const std::set<std::string>& names) {
  for (const auto& name : expression.variables()) {
    if (names.contains(name)) return true;
  }
  return false;
}

bool uses_any(const std::vector<Expression>& expressions, const std::set<std::string>& names) {
  return std::any_of(expressions.begin(), expressions.end(),
                     [&](const Expression& e) { return uses_any(e, names); });
}

std::vector<std::string> dimensions_for(const RecipeStep& step, const std::string& role) {
  for (const auto& schema : step.family->operands) {
    if (schema.name != role) continue;
    if (schema.dimensions.empty()) return numbered_dimensions(step.extents.size());
    return {schema.dimensions.begin(), schema.dimensions.end()};
  }
  throw ModelError("recipe: family " + step.family.name() + " has no operand '" + role + "'");
}

}  // namespace

Expansion::Expansion(const Recipe& recipe, const Task& task, std::size_t known,
                     const TaskList& tasks, Environment names)
    : recipe_(recipe), task_(task), known_(known), tasks_(tasks), values_(std::move(names)) {
  if (recipe.slabs) slab_names_ = {recipe.slabs->start, recipe.slabs->length};
  own_names_ = slab_names_;
  for (const auto& [name, values] : recipe.tunables) own_names_.insert(name);
  for (const auto& [name, size] : recipe.sizes) own_names_.insert(name);
}

ExpandedRecipe Expansion::in_slabs(std::int64_t count) {
  for (std::size_t i = 0; i < recipe_.steps.size(); ++i) {
    if (!repeats(recipe_.steps[i])) add_step(i, -1);
  }
  if (recipe_.slabs) add_slabs(count);
  return std::move(result_);
}

/// Whether the step runs for each slab: it names the slab, or a temporary that does.
bool Expansion::repeats(const RecipeStep& step) const {
  if (slab_names_.empty()) return false;
  for (const auto& [name, extent] : step.extents) {
    if (uses_any(extent, slab_names_)) return true;
  }
  for (const auto& [role, operand] : step.operands) {
    if (uses_any(operand.coordinates, slab_names_)) return true;
    const auto temporary = recipe_.temporaries.find(operand.target);
    if (temporary != recipe_.temporaries.end() && uses_any(temporary->second, slab_names_)) {
      return true;
    }
  }
  return false;
}

void Expansion::add_slabs(std::int64_t count) {
  const std::int64_t whole = recipe_.slabs->extent.evaluate(values_);
  const std::int64_t length = round_up(ceil_div(whole, count), kSlabStep);
  int slab = 0;
  for (std::int64_t start = 0; start < whole; start += length, ++slab) {
    values_[recipe_.slabs->start] = start;
    values_[recipe_.slabs->length] = std::min(length, whole - start);
    // Those of the last slab are forgotten; every slab has its own.
    for (const auto& [name, extents] : recipe_.temporaries) {
      if (uses_any(extents, slab_names_)) temporary_ids_.erase(name);
    }
    for (std::size_t i = 0; i < recipe_.steps.size(); ++i) {
      if (repeats(recipe_.steps[i])) add_step(i, slab);
    }
  }
}

void Expansion::add_step(std::size_t index, int slab) {
  const RecipeStep& step = recipe_.steps[index];
  const RecipeOperand& dst = step.operands.at("dst");
  const bool makes_temporary = recipe_.temporaries.contains(dst.target);
  if (makes_temporary && !temporary_ids_.contains(dst.target)) make_temporary(dst.target, step);
  result_.steps.push_back({make_step(step), index, slab});
}

void Expansion::make_temporary(const std::string& name, const RecipeStep& writer) {
  temporary_ids_[name] = temporary_id(known_ + result_.temporaries.size());
  TaskTensor tensor;
  tensor.name = task_.name + ":" + name;
  tensor.kind = TaskTensor::Kind::temporary;
  const bool fixed =
      !is_changed(name) && std::ranges::all_of(writer.operands, [&](const auto& operand) {
        return operand.first == "dst" || reads_fixed(operand.second);
      });
  if (fixed) tensor.kind = TaskTensor::Kind::derived;
  if (const auto type = rounded_by(writer)) {
    tensor.dtype = *type;
    tensor.is_rounded = true;
  }
  for (const auto& extent : recipe_.temporaries.at(name)) {
    tensor.shape.push_back(extent.evaluate(values_));
  }
  result_.temporaries.push_back(std::move(tensor));
}

/// The shorter type of what the step copies; of a recipe that is exact enough with it, of whatever
/// it computes with.
std::optional<DType> Expansion::rounded_by(const RecipeStep& writer) const {
  const auto type_of_operand = [&](const std::string& name) -> std::optional<DType> {
    const auto operand = task_.bound.operands.find(name);
    if (operand == task_.bound.operands.end() || name == "dst") return std::nullopt;
    if (is_temporary(operand->second.tensor)) return std::nullopt;
    const TaskTensor& tensor = tasks_.tensors[operand->second.tensor];
    return tensor.is_rounded ? std::optional(tensor.dtype) : std::nullopt;
  };
  if (writer.family == families::pack) return type_of_operand(writer.operands.at("src").target);
  if (recipe_.significant_bits == 0) return std::nullopt;
  for (const auto& [name, binding] : task_.bound.operands) {
    if (const auto type = type_of_operand(name)) return type;
  }
  return std::nullopt;
}

/// Whether a step writes what the temporary has been filled with.
bool Expansion::is_changed(const std::string& name) const {
  return std::ranges::any_of(recipe_.steps, [&](const RecipeStep& step) {
    return std::ranges::any_of(step.family->operands, [&](const OperandSchema& schema) {
      return schema.role == OperandSchema::Role::changed &&
             step.operands.at(std::string(schema.name)).target == name;
    });
  });
}

bool Expansion::reads_fixed(const RecipeOperand& operand) const {
  if (const auto id = temporary_ids_.find(operand.target); id != temporary_ids_.end()) {
    const auto index = temporary_index(id->second) - known_;
    return result_.temporaries[index].kind == TaskTensor::Kind::derived;
  }
  const TensorId tensor = task_.bound.operands.at(operand.target).tensor;
  if (is_temporary(tensor)) return false;
  const TaskTensor& facts = tasks_.tensors[tensor];
  return facts.kind == TaskTensor::Kind::constant;
}

/// What the recipe's names are inside the step: structure is known, extents stay names, under
/// another one where the step has an extent of the same name.
Expansion::InnerNames Expansion::names_for(const RecipeStep& step) const {
  std::map<std::string, Expression> names;
  for (const auto& [name, value] : task_.bound.problem.structure) {
    names.emplace(name, Expression(value));
  }
  const auto& extents = task_.bound.problem.extents;
  for (const auto& [name, value] : values_) {
    if (!extents.contains(name) && !own_names_.contains(name)) continue;
    std::string inside = name;
    // A recipe within a recipe may have an "outer_N" of its own already.
    while (step.extents.contains(inside) || step.structure.contains(inside) ||
           (inside != name && extents.contains(inside))) {
      inside = "outer_" + inside;
    }
    names.emplace(name, Expression::variable(inside));
  }
  return names;
}

Binding Expansion::bind(const RecipeStep& step, const std::string& role,
                        const RecipeOperand& operand, const InnerNames& names) const {
  const auto dimensions = dimensions_for(step, role);
  std::vector<Expression> inner;
  for (const auto& coordinate : operand.coordinates) inner.push_back(coordinate.substitute(names));
  Binding binding;
  if (const auto temporary = temporary_ids_.find(operand.target);
      temporary != temporary_ids_.end()) {
    const auto index = temporary_index(temporary->second) - known_;
    std::vector<Expression> extents;
    for (const std::int64_t extent : result_.temporaries[index].shape) extents.emplace_back(extent);
    binding.tensor = temporary->second;
    binding.view = View::mapped(dimensions, std::move(inner), extents);
  } else {
    const Binding& own = task_.bound.operands.at(operand.target);
    binding.tensor = own.tensor;
    binding.view = own.view.compose(dimensions, inner, names);
  }
  if (operand.bounded) {
    // Padding behind alone leaves coordinates that spell the whole tensor, which it is not.
    binding.view.grouping.reset();
    binding.view.bounded = true;
    binding.view.outside = operand.outside;
  }
  return binding;
}

/// The problems of steps are of f32. Numbers of steps beside real numbers (`lengths` of recurrence)
/// stay what they are.
DType Expansion::type_of(const RecipeOperand& operand) const {
  const auto& types = task_.bound.problem.types;
  const auto own = types.find(operand.target);
  const bool counts = own != types.end() && own->second == DType::i64;
  return counts && types.at("dst") == DType::f32 ? DType::i64 : DType::f32;
}

Task Expansion::make_step(const RecipeStep& step) const {
  Task task;
  task.name = task_.name + ":" + step.family.name();
  Problem& problem = task.bound.problem;
  problem.family = step.family;
  for (const auto& [name, extent] : step.extents) problem.extents[name] = extent.evaluate(values_);
  for (const auto& [name, extent] : step.structure) {
    problem.structure[name] = extent.evaluate(values_);
  }
  const auto names = names_for(step);
  for (const auto& [role, operand] : step.operands) {
    task.bound.operands[role] = bind(step, role, operand, names);
    problem.types[role] = type_of(operand);
    if (role == "dst" && operand.target == "dst") {
      problem.epilogue = task_.bound.problem.epilogue;
      task.bound.sides = task_.bound.sides;
      task.name = task_.name;
    }
  }
  problem.types["acc"] = DType::f32;
  carry_names(problem, task.bound, names);
  return task;
}

/// The step's views may use the recipe's extents: they become extents of the step's problem.
void Expansion::carry_names(Problem& problem, const BoundProblem& bound,
                            const InnerNames& names) const {
  std::set<std::string> used;
  for (const auto& [role, binding] : bound.operands) {
    for (const auto& coordinate : binding.view.coordinates) used.merge(coordinate.variables());
    for (const auto& extent : binding.view.extents) used.merge(extent.variables());
  }
  for (const auto& [name, inner] : names) {
    std::int64_t constant = 0;
    if (inner.is_constant(&constant) || !used.contains(inner.print())) continue;
    problem.extents.emplace(inner.print(), values_.at(name));
  }
}

}  // namespace morton::plan
