// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "catalogue/reader.hpp"
#include "catalogue/sized_names.hpp"

namespace morton::catalogue {
namespace {

/// What a recipe's steps may bind to, filled as its keys are read.
struct Scope {
  const ProblemFamily* family = nullptr;
  NameSet names;    ///< the recipe's extents, structure, tunables and sizes
  NameSet written;  ///< temporaries and dst, once a step has written them
};

const OperandSchema* find_operand(const ProblemFamily& family, std::string_view name) {
  for (const auto& schema : family.operands) {
    if (schema.name == name) return &schema;
  }
  return nullptr;
}

/// Dimensions of the operands of a step; those of a family of any rank are D0, D1, ...
std::size_t rank_of(const RecipeStep& step, const OperandSchema& schema) {
  return schema.dimensions.empty() ? step.extents.size() : schema.dimensions.size();
}

/// An expression for each of the names `expected`, and for no other.
std::map<std::string, Expression> read_expected(const JsonReader& reader, const NameSet& expected,
                                                const NameSet& known) {
  std::map<std::string, Expression> sizes;
  for (const auto& [name, member] : reader.members()) {
    if (!expected.contains(name)) {
      reader.fail("unknown name '" + name + "' (expected: " + join(expected) + ")");
    }
    sizes.emplace(name, read_expression(member, known));
  }
  for (const auto& name : expected) {
    if (!sizes.contains(name)) reader.fail("'" + name + "' is missing");
  }
  return sizes;
}

NameSet expected_extents(const JsonReader& reader, const ProblemFamily& family) {
  if (!family.has_any_rank()) return extent_names(family);
  NameSet names;
  for (std::size_t d = 0; d < std::max<std::size_t>(reader.json().size(), 1); ++d) {
    names.insert("D" + std::to_string(d));
  }
  return names;
}

/// Names that the coordinates of one operand of a step may use: the operand's own coordinates and
/// the recipe's names. A name that the step gives another meaning (the N of a gemm inside a
/// convolution) is left out, because the step's problem could not tell the two apart.
NameSet coordinate_scope(const RecipeStep& step, const OperandSchema& schema, const Scope& scope) {
  NameSet names = scope.names;
  for (const auto* sizes : {&step.extents, &step.structure}) {
    for (const auto& [name, value] : *sizes) {
      if (!(value == Expression::variable(name))) names.erase(name);
    }
  }
  for (std::size_t d = 0; d < rank_of(step, schema); ++d) {
    names.insert(schema.dimensions.empty() ? "d" + std::to_string(d)
                                           : coordinate_name(std::string(schema.dimensions[d])));
  }
  return names;
}

/// The texts between the commas of "target(a, b(c, d))" that no inner parenthesis holds.
std::vector<std::string> split_arguments(std::string_view text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

void read_reference(const JsonReader& reader, const NameSet& known, RecipeOperand& operand) {
  const std::string text = reader.text();
  const std::size_t open = text.find('(');
  if (open == std::string::npos || open == 0 || text.back() != ')') {
    reader.fail("expected a name and its coordinates, such as 'src(n, c)', got '" + text + "'");
  }
  operand.target = text.substr(0, open);
  const std::string_view inside = std::string_view(text).substr(open + 1, text.size() - open - 2);
  for (const auto& part : split_arguments(inside)) {
    operand.coordinates.push_back(Expression::parse(part, reader.where()));
    check_names(reader, operand.coordinates.back(), known);
  }
}

std::size_t target_rank(const JsonReader& reader, const Recipe& recipe, const Scope& scope,
                        const std::string& target) {
  if (const auto found = recipe.temporaries.find(target); found != recipe.temporaries.end()) {
    return found->second.size();
  }
  if (const OperandSchema* schema = find_operand(*scope.family, target)) {
    return schema->dimensions.size();
  }
  NameSet known;
  for (const auto& schema : scope.family->operands) known.emplace(schema.name);
  for (const auto& [name, extents] : recipe.temporaries) known.insert(name);
  reader.fail("unknown target '" + target + "' (known: " + join(known) + ")");
}

/// An input must be there when the step runs; an output must be written once.
void check_flow(const JsonReader& reader, const OperandSchema& schema, const RecipeOperand& operand,
                const Recipe& recipe, Scope& scope) {
  const OperandSchema* outer = find_operand(*scope.family, operand.target);
  const bool is_input = outer != nullptr && outer->role != OperandSchema::Role::output;
  if (schema.role == OperandSchema::Role::output) {
    if (is_input)
      reader.fail("writes '" + operand.target + "', an input of " + recipe.family.name());
    if (!scope.written.insert(operand.target).second) {
      reader.fail("'" + operand.target + "' is written by two steps");
    }
  } else if (!is_input && !scope.written.contains(operand.target)) {
    reader.fail("reads '" + operand.target + "', which no earlier step writes");
  }
}

RecipeOperand read_operand(const JsonReader& reader, const NameSet& known,
                           OperandSchema::Role role) {
  RecipeOperand operand;
  if (!reader.json().is_object()) {
    read_reference(reader, known, operand);
    return operand;
  }
  if (role == OperandSchema::Role::output) {
    // {"to": ..., "outside": "drop"}: what falls outside of the target is not written.
    reader.allow_keys({"to", "outside"});
    read_reference(reader.at("to"), known, operand);
    const JsonReader outside = reader.at("outside");
    if (outside.text() != "drop") {
      outside.fail("expected 'drop' for an output, got '" + outside.text() + "'");
    }
    operand.bounded = true;
    return operand;
  }
  reader.allow_keys({"from", "outside"});
  read_reference(reader.at("from"), known, operand);
  operand.bounded = reader.has("outside");
  if (operand.bounded) operand.outside = reader.at("outside").real();
  return operand;
}

void read_operands(const JsonReader& reader, const Recipe& recipe, Scope& scope, RecipeStep& step) {
  const ProblemFamily& family = *step.family;
  for (const auto& [name, member] : reader.members()) {
    if (find_operand(family, name) == nullptr) {
      reader.fail(step.family.name() + " has no operand '" + name + "'");
    }
  }
  for (const auto& schema : family.operands) {
    const JsonReader member = reader.at(schema.name);
    RecipeOperand operand =
        read_operand(member, coordinate_scope(step, schema, scope), schema.role);
    const std::size_t rank = target_rank(member, recipe, scope, operand.target);
    if (operand.coordinates.size() != rank) {
      member.fail("'" + operand.target + "' has " + std::to_string(rank) + " dimensions, got " +
                  std::to_string(operand.coordinates.size()) + " coordinates");
    }
    check_flow(member, schema, operand, recipe, scope);
    step.operands.emplace(schema.name, std::move(operand));
  }
}

RecipeStep read_step(const JsonReader& reader, const Recipe& recipe, Scope& scope) {
  reader.allow_keys({"problem", "kernel", "extents", "structure", "operands"});
  const ProblemFamily& family = read_family(reader.at("problem"));
  RecipeStep step;
  step.family = family.id;
  if (reader.has("kernel")) step.kernel = read_name(reader.at("kernel"), family);
  const JsonReader extents = reader.at("extents");
  step.extents = read_expected(extents, expected_extents(extents, family), scope.names);
  const NameSet structure = structure_names(family);
  if (reader.has("structure") || !structure.empty()) {
    step.structure = read_expected(reader.at("structure"), structure, scope.names);
  }
  read_operands(reader.at("operands"), recipe, scope, step);
  return step;
}

void read_temporaries(const JsonReader& reader, const Scope& scope, Recipe& recipe) {
  for (const auto& [name, member] : reader.members()) {
    if (find_operand(*scope.family, name) != nullptr) {
      member.fail("'" + name + "' is an operand of " + recipe.family.name());
    }
    auto extents = read_expressions(member, scope.names);
    if (extents.empty()) member.fail("expected one extent for each dimension");
    recipe.temporaries.emplace(name, std::move(extents));
  }
}

/// Reads the repetition; its two names are known from then on.
RecipeSlabs read_slabs(const JsonReader& reader, Scope& scope) {
  reader.allow_keys({"of", "start", "length"});
  RecipeSlabs slabs;
  slabs.extent = read_expression(reader.at("of"), scope.names);
  slabs.start = reader.at("start").text();
  slabs.length = reader.at("length").text();
  for (const auto& name : {slabs.start, slabs.length}) {
    if (name.empty() || !scope.names.insert(name).second) {
      reader.fail("'" + name + "' is no new name");
    }
  }
  return slabs;
}

}  // namespace

Recipe read_recipe(const JsonReader& reader) {
  reader.allow_keys({"schema", "name", "problem", "considered", "significant_bits", "tunables",
                     "sizes", "require", "slabs", "temporaries", "steps"});
  Scope scope;
  scope.family = &read_family(reader.at("problem"));
  if (scope.family->has_any_rank()) {
    reader.at("problem").fail("a recipe needs a problem with named dimensions");
  }
  scope.names = extent_names(*scope.family);
  scope.names.merge(structure_names(*scope.family));
  Recipe recipe;
  recipe.family = scope.family->id;
  recipe.name = read_name(reader.at("name"), *scope.family);
  recipe.where_named = read_where_named(reader);
  if (reader.has("significant_bits")) {
    recipe.significant_bits = static_cast<int>(reader.at("significant_bits").integer());
  }
  if (reader.has("tunables")) {
    for (const auto& [name, member] : reader.at("tunables").members()) {
      member.allow_keys({"values"});
      recipe.tunables.emplace(name, read_tunable_values(member, name, *scope.family));
      if (recipe.tunables.at(name).empty()) member.at("values").fail("expected some values");
      scope.names.insert(name);
    }
  }
  if (reader.has("sizes")) {
    SizedNames sized{std::move(scope.names), {}};
    read_sizes(reader.at("sizes"), sized);
    scope.names = std::move(sized.known);
    recipe.sizes = std::move(sized.sizes);
  }
  if (reader.has("require")) {
    NameSet known = device_names();
    known.insert(scope.names.begin(), scope.names.end());
    recipe.require = read_expressions(reader.at("require"), known);
  }
  if (reader.has("slabs")) recipe.slabs = read_slabs(reader.at("slabs"), scope);
  if (reader.has("temporaries")) read_temporaries(reader.at("temporaries"), scope, recipe);
  const JsonReader steps = reader.at("steps");
  for (const auto& element : steps.elements()) {
    recipe.steps.push_back(read_step(element, recipe, scope));
  }
  if (!scope.written.contains("dst")) steps.fail("no step writes dst");
  for (const auto& [name, extents] : recipe.temporaries) {
    if (!scope.written.contains(name)) steps.fail("no step writes the temporary '" + name + "'");
  }
  return recipe;
}

}  // namespace morton::catalogue
