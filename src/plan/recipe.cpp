// SPDX-License-Identifier: Apache-2.0
#include "plan/recipe.hpp"

#include "base/error.hpp"
#include "plan/candidates.hpp"

namespace morton {
namespace {

/// Expands one recipe for one task.
class Expansion {
 public:
  Expansion(const Recipe& recipe, const Task& task, std::size_t known)
      : recipe_(recipe), task_(task), known_(known), values_(environment_of(task.bound.problem)) {}

  ExpandedRecipe expand() {
    for (const auto& condition : recipe_.require) {
      if (condition.evaluate(values_) == 0) {
        throw UnsupportedError("it requires " + condition.print());
      }
    }
    make_temporaries();
    for (const auto& step : recipe_.steps) result_.steps.push_back(make_step(step));
    return std::move(result_);
  }

 private:
  void make_temporaries() {
    for (const auto& [name, extents] : recipe_.temporaries) {
      temporary_ids_[name] =
          kFirstTemporary + static_cast<int>(known_ + result_.temporaries.size());
      TaskTensor tensor;
      tensor.name = task_.name + ":" + name;
      tensor.kind = TaskTensor::Kind::temporary;
      for (const auto& extent : extents) tensor.shape.push_back(extent.evaluate(values_));
      result_.temporaries.push_back(std::move(tensor));
    }
  }

  /// What the recipe's names are inside the step: structure is known, extents stay names, under
  /// another one where the step has an extent of the same name.
  std::map<std::string, Expression> names_for(const RecipeStep& step) const {
    std::map<std::string, Expression> names;
    for (const auto& [name, value] : task_.bound.problem.structure) {
      names.emplace(name, Expression(value));
    }
    const auto& extents = task_.bound.problem.extents;
    for (const auto& [name, value] : extents) {
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

  static std::vector<std::string> dimensions_for(const RecipeStep& step, const std::string& role) {
    const ProblemFamily* family = find_problem_family(step.family);
    for (const auto& schema : family->operands) {
      if (schema.name != role) continue;
      if (schema.dimensions.empty()) return numbered_dimensions(step.extents.size());
      return {schema.dimensions.begin(), schema.dimensions.end()};
    }
    throw ModelError("recipe: family " + step.family + " has no operand '" + role + "'");
  }

  Binding bind(const RecipeStep& step, const std::string& role, const RecipeOperand& operand,
               const std::map<std::string, Expression>& names) {
    const auto dimensions = dimensions_for(step, role);
    std::vector<Expression> inner;
    for (const auto& coordinate : operand.coordinates)
      inner.push_back(coordinate.substitute(names));
    Binding binding;
    if (const auto temporary = temporary_ids_.find(operand.target);
        temporary != temporary_ids_.end()) {
      const auto index = static_cast<std::size_t>(temporary->second - kFirstTemporary) - known_;
      std::vector<Expression> extents;
      for (const std::int64_t extent : result_.temporaries[index].shape)
        extents.emplace_back(extent);
      binding.tensor = temporary->second;
      binding.view = View::mapped(dimensions, std::move(inner), extents);
    } else {
      const Binding& own = task_.bound.operands.at(operand.target);
      binding.tensor = own.tensor;
      binding.view = own.view.compose(dimensions, inner, names);
    }
    if (operand.bounded) {
      binding.view.bounded = true;
      binding.view.outside = operand.outside;
    }
    return binding;
  }

  Task make_step(const RecipeStep& step) {
    Task task;
    task.name = task_.name + ":" + step.family;
    Problem& problem = task.bound.problem;
    problem.family = step.family;
    for (const auto& [name, extent] : step.extents)
      problem.extents[name] = extent.evaluate(values_);
    for (const auto& [name, extent] : step.structure) {
      problem.structure[name] = extent.evaluate(values_);
    }
    const auto names = names_for(step);
    for (const auto& [role, operand] : step.operands) {
      task.bound.operands[role] = bind(step, role, operand, names);
      problem.types[role] = DType::f32;
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
  void carry_names(Problem& problem, const BoundProblem& bound,
                   const std::map<std::string, Expression>& names) const {
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

  const Recipe& recipe_;
  const Task& task_;
  std::size_t known_;
  Environment values_;
  std::map<std::string, int> temporary_ids_;
  ExpandedRecipe result_;
};

}  // namespace

ExpandedRecipe expand(const Recipe& recipe, const Task& task, std::size_t known) {
  return Expansion(recipe, task, known).expand();
}

}  // namespace morton
