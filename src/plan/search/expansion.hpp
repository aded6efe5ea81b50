// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "plan/search/recipe.hpp"

namespace morton::plan {

/// Slabs are whole multiples of this, so that the tiles of products fit them.
inline constexpr std::int64_t kSlabStep = 64;

/// Expands one recipe for one task.
class Expansion {
 public:
  /// `names` are the recipe's names and their values. The rest is as `expand` has it.
  Expansion(const Recipe& recipe, const Task& task, std::size_t known, const TaskList& tasks,
            Environment names);

  /// In about so many slabs. It is called once.
  [[nodiscard]] ExpandedRecipe in_slabs(std::int64_t count);

 private:
  /// What the recipe's names are inside a step.
  using InnerNames = std::map<std::string, Expression>;

  [[nodiscard]] bool repeats(const RecipeStep& step) const;
  void add_slabs(std::int64_t count);
  void add_step(std::size_t index, int slab);
  void make_temporary(const std::string& name, const RecipeStep& writer);
  [[nodiscard]] std::optional<DType> rounded_by(const RecipeStep& writer) const;
  [[nodiscard]] DType type_of(const RecipeOperand& operand) const;
  [[nodiscard]] bool is_changed(const std::string& name) const;
  [[nodiscard]] bool reads_fixed(const RecipeOperand& operand) const;
  [[nodiscard]] InnerNames names_for(const RecipeStep& step) const;
  [[nodiscard]] Binding bind(const RecipeStep& step, const std::string& role,
                             const RecipeOperand& operand, const InnerNames& names) const;
  [[nodiscard]] Task make_step(const RecipeStep& step) const;
  void carry_names(Problem& problem, const BoundProblem& bound, const InnerNames& names) const;

  const Recipe& recipe_;
  const Task& task_;
  std::size_t known_;
  const TaskList& tasks_;
  Environment values_;
  std::set<std::string> slab_names_;
  std::set<std::string> own_names_;  ///< of slabs, tunables and sizes
  std::map<std::string, TensorId> temporary_ids_;
  ExpandedRecipe result_;
};

}  // namespace morton::plan
