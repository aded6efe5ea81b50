// SPDX-License-Identifier: Apache-2.0
//
// An entry's JSON, key by key. Every check that needs no device is made here, so that the plan and
// the generator of sources can trust what they are given.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/device/device_info.hpp"
#include "base/error.hpp"
#include "base/rooms.hpp"
#include "catalogue/library.hpp"
#include "catalogue/reader.hpp"
#include "catalogue/sized_names.hpp"

namespace morton::catalogue {
namespace {

void read_arguments(const JsonReader& reader, const ProblemFamily& family, Entry& entry) {
  NameSet known{"elements_dst"};
  for (const auto& name : extent_names(family)) {
    known.insert(name);
    known.insert(name + "_pad");
  }
  for (const auto& [name, format] : entry.operands) known.insert(name);
  known.merge(structure_names(family));
  if (family.has_any_rank()) known.insert({"part_rows", "part_columns", "work"});
  if (family.id == families::elementwise) known.insert({"side1", "side2", "side3"});
  if (packs_one_layout(entry)) known.insert({"D0", "D1", "dst_pad0", "dst_pad1"});
  NameSet given;
  for (const auto& element : reader.elements()) {
    const std::string name = element.text();
    if (!known.contains(name)) {
      element.fail("unknown argument '" + name + "' (known: " + join(known) + ")");
    }
    if (!given.insert(name).second) element.fail("the argument '" + name + "' stands twice");
    entry.launch.arguments.push_back(name);
  }
  for (const auto& [name, format] : entry.operands) {
    if (!given.contains(name)) reader.fail("the operand '" + name + "' is not among the arguments");
  }
}

/// What the entry's generic form takes as arguments besides (generic_forms).
void read_generic(const JsonReader& reader, const ProblemFamily& family, Entry& entry) {
  const NameSet structure = structure_names(family);
  entry.launch.generic.emplace();
  for (const auto& element : reader.elements()) {
    if (!structure.contains(element.text())) {
      element.fail("unknown structure '" + element.text() + "' (" + entry.family.name() +
                   " has: " + join(structure) + ")");
    }
    entry.launch.generic->push_back(element.text());
  }
}

void read_work_group(const JsonReader& reader, Entry& entry) {
  if (reader.text() != "fewest_idle") {
    reader.fail("expected \"fewest_idle\", or nothing for the standard, got '" + reader.text() +
                "'");
  }
  entry.launch.work_group = Entry::Launch::WorkGroup::fewest_idle;
}

void read_ranges(const JsonReader& reader, const SizedNames& names, Entry& entry) {
  entry.launch.global = read_all_sized(reader.at("global"), names);
  entry.launch.local = read_expressions(reader.at("local"), tunable_names(entry));
  if (entry.launch.local.empty() || entry.launch.local.size() > 3) {
    reader.at("local").fail("expected 1 to 3 dimensions, got " +
                            std::to_string(entry.launch.local.size()));
  }
  if (entry.launch.global.size() != entry.launch.local.size()) {
    reader.at("global").fail("expected as many dimensions as 'local' has (" +
                             std::to_string(entry.launch.local.size()) + "), got " +
                             std::to_string(entry.launch.global.size()));
  }
  for (const auto& size : entry.launch.local) {
    const std::int64_t value = size.evaluate(standard_tunables(entry));
    if (value < 1) {
      reader.at("local").fail("'" + size.print() + "' is " + std::to_string(value) +
                              " where nothing is tuned; expected 1 or more");
    }
  }
}

void read_align(const JsonReader& reader, const ProblemFamily& family, Entry& entry) {
  const NameSet extents = extent_names(family);
  for (const auto& [name, member] : reader.members()) {
    if (!extents.contains(name)) {
      reader.fail("unknown dimension '" + name + "' (" + entry.family.name() + " has " +
                  join(extents) + ")");
    }
    const Expression align = read_expression(member, tunable_names(entry));
    if (align.evaluate(standard_tunables(entry)) < 1) {
      member.fail("'" + align.print() + "' is below 1 where nothing is tuned");
    }
    entry.padding.align.emplace(name, align);
  }
}

/// Operations of a kernel that computes every padded element, else its logical ones.
Expression padded_flop(const Entry& entry) {
  std::map<std::string, Expression> padded;
  if (entry.padding.edges == Entry::Edges::pad) {
    for (const auto& [name, multiple] : entry.padding.align) {
      padded.emplace(name, Expression::variable(name + "_pad"));
    }
  }
  return entry.cost.flop.substitute(padded);
}

void read_cost(const JsonReader& reader, const SizedNames& names, Entry& entry) {
  reader.allow_keys({"flop", "work", "bytes", "pieces", "efficiency"});
  entry.cost.flop = read_sized(reader.at("flop"), names);
  entry.cost.work = reader.has("work") ? read_sized(reader.at("work"), names) : padded_flop(entry);
  if (reader.has("bytes")) entry.cost.bytes = read_sized(reader.at("bytes"), names);
  if (reader.has("pieces")) {
    const auto pieces = reader.at("pieces").members();
    if (pieces.size() != 1 || !entry.operands.contains(pieces.front().first)) {
      reader.at("pieces").fail("expected one operand and the elements of a piece of it");
    }
    entry.cost.in_pieces = pieces.front().first;
    entry.cost.piece = read_sized(pieces.front().second, names);
  }
  const JsonReader efficiency = reader.at("efficiency");
  efficiency.allow_keys({"cpu", "gpu", "low_power_gpu", "gpu_without_local_memory"});
  for (const char* kind : {"cpu", "gpu"}) static_cast<void>(efficiency.at(kind));
  for (const auto& [kind, member] : efficiency.members()) {
    const double share = member.real();
    if (!(share > 0.0 && share <= 1.0)) {
      member.fail("expected a share above 0 and at most 1, got " + member.json().dump());
    }
    entry.cost.efficiency.emplace(kind, share);
  }
}

/// Of a library's routine: none of it, or what it adds to.
void read_start(const JsonReader& reader, Entry& entry) {
  const auto kinds = reader.texts();
  if (!kinds.empty() && kinds != std::vector<std::string>{"start"}) {
    reader.fail("a library carries at most a leading sum: expected [] or [\"start\"], got " +
                reader.json().dump());
  }
  entry.call.adds_to_start = !kinds.empty();
}

void read_epilogue(const JsonReader& reader, Entry& entry) {
  const auto kinds = reader.texts();
  if (!kinds.empty() && kinds != std::vector<std::string>{"any"}) {
    reader.fail("expected [] or [\"any\"], got " + reader.json().dump());
  }
  entry.carries_epilogue = !kinds.empty();
}

Entry::Edges read_edges(const JsonReader& reader) {
  const std::string edges = reader.text();
  if (edges == "pad") return Entry::Edges::pad;
  if (edges == "guard") return Entry::Edges::guard;
  reader.fail("expected 'pad' or 'guard', got '" + edges + "'");
}

/// The name of a file of kernels' text: beside the entry, or in another folder of kernels.
std::string read_file_name(const JsonReader& reader, std::string_view extension) {
  const std::string name = reader.text();
  const bool leaves = name.starts_with('/') || name.find("..") != std::string::npos ||
                      name.find('\\') != std::string::npos;
  if (!name.ends_with(extension) || leaves) {
    reader.fail("expected a " + std::string(extension) + " file beside this one, or folder/file" +
                std::string(extension) + ", got '" + name + "'");
  }
  return name;
}

void read_source(const JsonReader& reader, Entry& entry) {
  entry.program.source_file = read_file_name(reader.at("source"), ".cl");
  if (reader.has("include")) {
    for (const JsonReader& element : reader.at("include").elements()) {
      const std::string name = read_file_name(element, ".clh");
      if (std::ranges::count(entry.program.includes, name) > 0) {
        element.fail("'" + name + "' stands twice");
      }
      entry.program.includes.push_back(name);
    }
  }
  if (reader.has("uses")) entry.program.uses = reader.at("uses").texts();
  entry.program.function = reader.at("function").text();
  if (!is_identifier(entry.program.function)) {
    reader.at("function").fail("'" + entry.program.function + "' is no name of a function");
  }
}

/// Prose for those who read the file: a text, or a list of texts.
void check_notes(const JsonReader& reader) {
  if (!reader.has("notes")) return;
  const JsonReader notes = reader.at("notes");
  if (notes.json().is_string()) return;
  static_cast<void>(notes.texts());
}

/// An entry that names a library and one of its routines in place of a source.
Entry read_library_entry(const JsonReader& reader, const ProblemFamily& family, Entry entry) {
  reader.allow_keys({"schema", "name", "problem", "library", "routine", "operands", "require",
                     "epilogue", "cost", "notes"});
  check_notes(reader);
  entry.call.library = reader.at("library").text();
  const Library* library = find_library(entry.call.library);
  if (library == nullptr) {
    std::string known;
    for (const Library& each : libraries())
      known += (known.empty() ? "" : ", ") + std::string(each.name);
    reader.at("library").fail("unknown library '" + entry.call.library + "' (known: " + known +
                              ")");
  }
  entry.call.routine = reader.at("routine").text();
  if (std::ranges::count(library->routines, entry.call.routine) == 0) {
    reader.at("routine").fail(std::string(library->title) + " has no routine '" +
                              entry.call.routine + "' that Morton calls");
  }
  const SizedNames names = names_of(entry);
  read_operands(reader.at("operands"), family, entry);
  if (reader.has("require")) entry.require = read_all_sized(reader.at("require"), names);
  read_start(reader.at("epilogue"), entry);
  entry.where_named = library->choice == Library::Choice::where_named;
  read_cost(reader.at("cost"), names, entry);
  return entry;
}

/// A number of terms; 0 where the key is not there.
std::int64_t read_terms(const JsonReader& reader, const char* key) {
  if (!reader.has(key)) return 0;
  const JsonReader terms = reader.at(key);
  if (terms.integer() < 1) terms.fail("expected a number of terms of 1 or more");
  return terms.integer();
}

}  // namespace

bool packs_one_layout(const Entry& entry) {
  return entry.family == families::pack &&
         std::any_of(entry.operands.begin(), entry.operands.end(),
                     [](const auto& operand) { return !operand.second.is_any(); });
}

std::vector<std::string> known_names(const Entry& entry) {
  NameSet names = device_names();
  names.merge(tunable_names(entry));
  names.merge(structure_names(*entry.family));
  names.insert({"elements_dst", "products"});
  if (entry.family->has_any_rank()) names.insert({"part_rows", "part_columns"});
  if (packs_one_layout(entry)) names.insert({"D0", "D1"});
  for (const auto& extent : extent_names(*entry.family)) {
    names.insert(extent);
    names.insert(extent + "_pad");
  }
  return {names.begin(), names.end()};
}

Entry read_entry(const JsonReader& reader) {
  if (reader.has("library")) {
    const ProblemFamily& family = read_family(reader.at("problem"));
    Entry entry;
    entry.family = family.id;
    entry.name = read_name(reader.at("name"), family);
    return read_library_entry(reader, family, std::move(entry));
  }
  reader.allow_keys({"schema",    "name",       "problem",  "source",
                     "function",  "operands",   "align",    "edges",
                     "arguments", "global",     "local",    "local_memory_bytes",
                     "tunables",  "require",    "epilogue", "terms_per_truncation",
                     "cost",      "considered", "generic",  "notes",
                     "include",   "sizes",      "uses",     "terms_in_f16",
                     "work_group"});
  check_notes(reader);
  const ProblemFamily& family = read_family(reader.at("problem"));
  Entry entry;
  entry.family = family.id;
  entry.name = read_name(reader.at("name"), family);
  read_source(reader, entry);
  if (reader.has("tunables")) read_tunables(reader.at("tunables"), family, entry);
  read_operands(reader.at("operands"), family, entry);
  SizedNames names = names_of(entry);
  if (reader.has("sizes")) read_sizes(reader.at("sizes"), names);
  if (reader.has("align")) read_align(reader.at("align"), family, entry);
  entry.padding.edges = read_edges(reader.at("edges"));
  read_arguments(reader.at("arguments"), family, entry);
  read_ranges(reader, names, entry);
  if (reader.has("work_group")) read_work_group(reader.at("work_group"), entry);
  if (reader.has("local_memory_bytes")) {
    entry.launch.local_memory_bytes = read_sized(reader.at("local_memory_bytes"), names);
  }
  if (reader.has("require")) entry.require = read_all_sized(reader.at("require"), names);
  read_epilogue(reader.at("epilogue"), entry);
  entry.where_named = read_where_named(reader);
  if (reader.has("generic")) read_generic(reader.at("generic"), family, entry);
  entry.sums.terms_per_truncation = read_terms(reader, "terms_per_truncation");
  entry.sums.terms_in_f16 = read_terms(reader, "terms_in_f16");
  read_cost(reader.at("cost"), names, entry);
  return entry;
}

}  // namespace morton::catalogue
