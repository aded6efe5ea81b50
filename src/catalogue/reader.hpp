// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/json_reader.hpp"
#include "base/rooms.hpp"
#include "catalogue/catalogue.hpp"
#include "problems/problem.hpp"

namespace morton::catalogue {

/// What the two readers of this folder share. Sets of names are sorted, for messages.
using NameSet = std::set<std::string, std::less<>>;

/// "a, b, c".
[[nodiscard]] std::string join(const NameSet& names);

/// An expression written as a string or an integer, whose variables are all in `known`; ModelError
/// otherwise, with the names that would do.
[[nodiscard]] Expression read_expression(const JsonReader& reader, const NameSet& known);
/// An array of them.
[[nodiscard]] std::vector<Expression> read_expressions(const JsonReader& reader,
                                                       const NameSet& known);
/// Fails through `reader` when `expression` uses a name that is not in `known`.
void check_names(const JsonReader& reader, const Expression& expression, const NameSet& known);

/// The family named by the reader's text; ModelError lists the families.
[[nodiscard]] const ProblemFamily& read_family(const JsonReader& reader);
/// The text of "name", which must be "<family>.<lower-case name>".
[[nodiscard]] std::string read_name(const JsonReader& reader, const ProblemFamily& family);
/// Whether an entry or recipe says `"considered": "where_named"`.
[[nodiscard]] bool read_where_named(const JsonReader& reader);

/// The "values" of the tunable `name`, which must be UPPER_CASE and none of the family's names.
[[nodiscard]] std::vector<std::int64_t> read_tunable_values(const JsonReader& reader,
                                                            const std::string& name,
                                                            const ProblemFamily& family);

/// Sizes that are arguments of a kernel: dimensions that are no structure, and parameters.
[[nodiscard]] NameSet extent_names(const ProblemFamily& family);
/// Names of its structure.
[[nodiscard]] NameSet structure_names(const ProblemFamily& family);
/// Everything that a family's expressions may use on any device: extents, structure, "device.*".
[[nodiscard]] NameSet device_names();

/// Where the parenthesis opens behind a function's name, with white space between at most.
[[nodiscard]] std::optional<std::size_t> find_parameters(std::string_view text,
                                                         std::string_view name);

/// True for letters, digits and '_' that do not start with a digit.
[[nodiscard]] bool is_identifier(std::string_view text);
/// True when `name` stands in the text of a kernel as a whole word followed by a parenthesis.
[[nodiscard]] bool declares_function(std::string_view text, std::string_view name);

/// Names of the entry's tunables.
[[nodiscard]] NameSet tunable_names(const Entry& entry);
/// "tunables": the values of each, the one that is standard, and which are tried.
void read_tunables(const JsonReader& reader, const ProblemFamily& family, Entry& entry);
/// "operands": a format for each operand of the family. The entry's tunables are read already.
void read_operands(const JsonReader& reader, const ProblemFamily& family, Entry& entry);
/// An entry without its program's text; ModelError names `reader`'s file and the key.
[[nodiscard]] Entry read_entry(const JsonReader& reader);
/// The text of its program: `read_source` gives that of a file, or throws ModelError.
void read_program(const JsonReader& reader,
                  const std::function<std::string(const std::string&)>& read_source, Entry& entry);
/// A file beside its entry is named alone, one of another folder with that folder.
[[nodiscard]] std::string source_path(const std::string& family, const std::string& name);
[[nodiscard]] Recipe read_recipe(const JsonReader& reader);

}  // namespace morton::catalogue
