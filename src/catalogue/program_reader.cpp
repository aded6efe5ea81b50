// SPDX-License-Identifier: Apache-2.0
//
// The text of an entry's kernel: its own file behind the shared ones, and what it asks of the
// generator of sources.
#include <algorithm>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/text/bare_code.hpp"
#include "base/text/identifiers.hpp"
#include "catalogue/reader.hpp"
#include "catalogue/shared_text.hpp"

namespace morton::catalogue {
namespace {

/// Puts the shared texts, in this order, before the program's, and their macros' ends behind it.
void include(const std::vector<SharedText>& texts, Entry::Program& program) {
  if (texts.empty()) return;
  std::string all, ends;
  for (const SharedText& shared : texts) {
    all += "#line 1 \"" + shared.file + "\"\n" + shared.text + "\n";
    program.shared_names.insert(program.shared_names.end(), shared.names.begin(),
                                shared.names.end());
    for (const std::string& macro : shared.macros) ends += "#undef " + macro + "\n";
  }
  program.source = all + "#line 1 \"" + program.source_file + "\"\n" + program.source + "\n" + ends;
}

/// No two of an entry's shared texts may define the same.
void check_clashes(const JsonReader& reader, const std::vector<SharedText>& texts) {
  std::map<std::string_view, const SharedText*> homes;
  for (const SharedText& shared : texts) {
    for (const auto* names : {&shared.names, &shared.macros}) {
      for (const std::string& name : *names) {
        const SharedText* home = homes.emplace(name, &shared).first->second;
        if (home == &shared) continue;
        reader.fail(home->file + " and " + shared.file + " both define '" + name + "'");
      }
    }
  }
}

/// Definitions that the generator of sources makes only for those who ask for them, and can make
/// for a kernel of this family with these operands.
NameSet optional_definitions(const Entry& entry) {
  if (entry.family->has_any_rank()) {
    NameSet names{"COORDINATES_OF_dst", "COORDINATES_OF_ROW", "STORE4_dst_AT"};
    if (entry.family == families::elementwise) {
      names.insert({"ALIKE_dst", "NEST_dst", "WALK_dst"});
    }
    if (entry.family == families::gather) names.insert("NEST_dst");
    if (entry.family == families::pack) {
      names.insert({"GIVE_dst", "NEST_dst", "NEST_src", "RUN_LENGTH_dst", "WALK_dst"});
    }
    return names;
  }
  NameSet names{"EPILOGUE_VECTOR", "EPILOGUE_EDGE"};
  for (const auto& [operand, format] : entry.operands) {
    if (!format.is_any() || format.is_unbound()) {
      const bool is_by_hand = format.memory == MemoryKind::buffer && !format.has_accessors;
      if (is_by_hand && operand != "dst") names.insert("AT4_FROM_" + operand);
      if (is_by_hand && operand == "dst") names.insert("AT_dst");
    } else if (operand == "dst") {
      names.insert({"STORE4_dst", "STORE_VECTOR_dst", "TOGETHER4_dst"});
    } else {
      names.insert("LOAD_VECTOR_" + operand);
    }
  }
  return names;
}

/// Whether it is of LANES numbers, a tunable then.
bool is_of_vectors(std::string_view definition) {
  return definition.starts_with("EPILOGUE_") ||
         definition.find("_VECTOR_") != std::string_view::npos;
}

/// What "uses" lists and what the text names must be the same.
void check_uses(const JsonReader& reader, const Entry& entry) {
  const NameSet known = optional_definitions(entry);
  const std::unordered_set<std::string_view> named = identifiers_in(entry.program.code);
  const std::vector<std::string>& uses = entry.program.uses;
  for (const std::string& name : uses) {
    if (!known.contains(name)) {
      reader.at("uses").fail("unknown definition '" + name + "' (known: " + join(known) + ")");
    }
    if (!named.contains(name)) {
      reader.at("uses").fail(entry.program.source_file + " does not use '" + name + "'");
    }
    if (is_of_vectors(name) && !entry.tunables.contains("LANES")) {
      reader.at("uses").fail("'" + name + "' needs the tunable LANES, the numbers of a vector");
    }
  }
  for (const std::string& name : known) {
    if (named.contains(name) && std::ranges::count(uses, name) == 0) {
      reader.fail(entry.program.source_file + " uses '" + name + "', which \"uses\" lacks");
    }
  }
}

}  // namespace

std::string source_path(const std::string& family, const std::string& name) {
  return name.find('/') == std::string::npos ? family + "/" + name : name;
}

void read_program(const JsonReader& reader,
                  const std::function<std::string(const std::string&)>& read_source, Entry& entry) {
  Entry::Program& program = entry.program;
  const auto text_of = [&](const char* key, const std::string& name) {
    try {
      return read_source(name);
    } catch (const ModelError& error) {
      reader.at(key).fail(error.what());
    }
  };
  program.source = text_of("source", program.source_file);
  std::vector<SharedText> shared;
  for (const std::string& name : program.includes) {
    shared.push_back(
        read_shared_text(source_path(entry.family.name(), name), text_of("include", name)));
  }
  if (!shared.empty()) check_clashes(reader.at("include"), shared);
  if (!declares_function(bare_code(program.source), program.function)) {
    reader.at("function").fail(program.source_file + " has no function '" + program.function + "'");
  }
  program.source_file = source_path(entry.family.name(), program.source_file);
  include(shared, program);
  program.code = bare_code(program.source);
  program.copies_meanwhile = program.code.find("cp.async") != std::string::npos;
  check_uses(reader, entry);
}

}  // namespace morton::catalogue
