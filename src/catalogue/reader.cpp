// SPDX-License-Identifier: Apache-2.0
#include "catalogue/reader.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/device/device_info.hpp"
#include "base/text/identifiers.hpp"

namespace morton::catalogue {

bool is_identifier(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) return false;
  return std::ranges::all_of(text, is_in_identifiers);
}

std::string join(const NameSet& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

void check_names(const JsonReader& reader, const Expression& expression, const NameSet& known) {
  for (const auto& name : expression.variables()) {
    if (known.contains(name)) continue;
    reader.fail("expression '" + expression.print() + "' uses the unknown name '" + name +
                "' (known here: " + join(known) + ")");
  }
}

Expression read_expression(const JsonReader& reader, const NameSet& known) {
  if (reader.json().is_number_integer()) return Expression(reader.integer());
  if (!reader.json().is_string()) {
    reader.fail("expected an expression (a string or an integer), got " +
                std::string(reader.json().type_name()));
  }
  const Expression expression = Expression::parse(reader.text(), reader.where());
  check_names(reader, expression, known);
  return expression;
}

std::vector<Expression> read_expressions(const JsonReader& reader, const NameSet& known) {
  std::vector<Expression> expressions;
  for (const auto& element : reader.elements()) {
    expressions.push_back(read_expression(element, known));
  }
  return expressions;
}

const ProblemFamily& read_family(const JsonReader& reader) {
  const std::string name = reader.text();
  if (const ProblemFamily* family = find_problem_family(name)) return *family;
  NameSet known;
  for (const auto& family : problem_families()) known.insert(family.name());
  reader.fail("unknown problem '" + name + "' (known: " + join(known) + ")");
}

bool read_where_named(const JsonReader& reader) {
  if (!reader.has("considered")) return false;
  const JsonReader considered = reader.at("considered");
  if (considered.text() == "where_named") return true;
  considered.fail("expected 'where_named', got '" + considered.text() + "'");
}

std::string read_name(const JsonReader& reader, const ProblemFamily& family) {
  std::string name = reader.text();
  const std::string prefix = family.name() + ".";
  const bool letters = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_' || c == '.';
  });
  if (!name.starts_with(prefix) || name.size() == prefix.size() || !letters ||
      name.find('.', prefix.size()) != std::string::npos) {
    reader.fail("expected '" + prefix + "' and lower-case letters, digits and '_', got '" + name +
                "'");
  }
  return name;
}

std::optional<std::size_t> find_parameters(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    if (at > 0 && is_in_identifiers(text[at - 1])) continue;
    std::size_t next = at + name.size();
    while (next < text.size() && std::isspace(static_cast<unsigned char>(text[next])) != 0) ++next;
    if (next < text.size() && text[next] == '(') return next;
  }
  return std::nullopt;
}

bool declares_function(std::string_view text, std::string_view name) {
  return find_parameters(text, name).has_value();
}

std::vector<std::int64_t> read_tunable_values(const JsonReader& reader, const std::string& name,
                                              const ProblemFamily& family) {
  const bool upper =
      std::none_of(name.begin(), name.end(), [](unsigned char c) { return std::islower(c) != 0; });
  if (!is_identifier(name) || !upper) reader.fail("a tunable's name is written in UPPER_CASE");
  if (extent_names(family).contains(name) || structure_names(family).contains(name)) {
    reader.fail("the problem has a dimension or structure of that name");
  }
  const std::vector<std::int64_t> values = reader.at("values").integers();
  for (const std::int64_t value : values) {
    if (value < 0) reader.fail("the value " + std::to_string(value) + " is negative");
    if (std::ranges::count(values, value) > 1) {
      reader.fail("the value " + std::to_string(value) + " stands twice");
    }
  }
  return values;
}

NameSet structure_names(const ProblemFamily& family) {
  return {family.structure.begin(), family.structure.end()};
}

NameSet extent_names(const ProblemFamily& family) {
  const NameSet structure = structure_names(family);
  NameSet names(family.parameters.begin(), family.parameters.end());
  for (const auto& operand : family.operands) {
    for (const auto dimension : operand.dimensions) {
      if (!structure.contains(dimension)) names.emplace(dimension);
    }
  }
  return names;
}

NameSet device_names() {
  NameSet names;
  for (const auto& [name, value] : environment_of(DeviceInfo{})) names.insert(name);
  return names;
}

}  // namespace morton::catalogue
