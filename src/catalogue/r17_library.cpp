// SPDX-License-Identifier: Apache-2.0
#include "catalogue/r17_library.hpp"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "base/text/bare_code.hpp"
#include "catalogue/entry_digest.hpp"
#include "catalogue/r17_call.hpp"
#include "catalogue/r17_restrictions.hpp"
#include "catalogue/reader.hpp"

namespace morton::catalogue {
namespace {

std::string read_codename(const JsonReader& reader) {
  const std::string name = reader.text();
  const bool fits = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
  if (!fits) reader.fail("expected letters, digits, '_', '-' and '.', got '" + name + "'");
  return name;
}

/// The text with R17's types defined. It may define other names too, even the same as another
/// kernel's of the library, so it stands in a program of its own.
void read_text(const JsonReader& reader, Entry& entry,
               const std::function<std::string(const std::string&)>& read_source) {
  entry.program.source_file = reader.at("source").text();
  entry.program.function = reader.at("function").text();
  entry.program.is_shared = false;
  std::string text;
  try {
    text = read_source(entry.program.source_file);
  } catch (const ModelError& error) {
    reader.at("source").fail(error.what());
  }
  if (!declares_function(bare_code(text), entry.program.function)) {
    reader.at("function")
        .fail(entry.program.source_file + " has no function '" + entry.program.function + "'");
  }
  entry.program.source = "#define HON_DATA_TYPE float\n#define HON_DATA_TYPE_VECTOR float4\n" +
                         text + "\n#undef HON_DATA_TYPE_VECTOR\n#undef HON_DATA_TYPE\n";
  entry.program.code = bare_code(entry.program.source);
}

/// An item of "sources" whose text is read, with these restrictions.
Entry entry_of(const JsonReader& item, const JsonReader& restrictions, Entry entry) {
  const R17Call call = read_r17_restrictions(restrictions, entry);
  // A product that states its arguments may declare them as it likes.
  const bool is_stated = restrictions.where() != item.where();
  if (entry.family != families::gemm || !is_stated) {
    check_r17_parameters(call, item.at("function"), entry);
  }
  adopt_r17_kernel(call, entry);
  Json declared = item.json();
  declared["restrictions"] = restrictions.json();
  entry.program.digest.kernel = kernel_digest(declared, entry.program.code);
  return entry;
}

/// An item that states no restrictions.
UnstatedKernel unstated_kernel(const JsonReader& item, const Entry& entry) {
  UnstatedKernel kernel;
  kernel.why = item.where() + ": '" + entry.name +
               "' states no restrictions, so neither what it computes nor its arguments are known";
  kernel.by_convention = [json = item.json(), where = item.where(), entry](Family family) {
    const Json restrictions = parse_json(r17_convention(family), where);
    const JsonReader reader(json, where);
    return entry_of(reader, JsonReader(restrictions, where), entry);
  };
  return kernel;
}

}  // namespace

bool is_r17_library(const Json& json) { return json.is_object() && json.contains("sources"); }

R17Library read_r17_library(const JsonReader& reader,
                            const std::function<std::string(const std::string&)>& read_source) {
  reader.allow_keys({"sources"});
  R17Library library;
  NameSet taken;
  for (const JsonReader& item : reader.at("sources").elements()) {
    item.allow_keys({"codename", "function", "source", "restrictions"});
    Entry entry;
    entry.name = read_codename(item.at("codename"));
    if (!taken.insert(entry.name).second) {
      item.at("codename").fail("'" + entry.name + "' stands twice");
    }
    read_text(item, entry, read_source);
    const JsonReader restrictions = item.at("restrictions");
    entry.origin.file = reader.where();
    entry.program.digest.files = digest_of(reader.json().dump() + entry.program.source);
    if (restrictions.json().is_object() && restrictions.json().empty()) {
      library.left_out.emplace(entry.name, unstated_kernel(item, entry));
    } else {
      library.entries.push_back(entry_of(item, restrictions, std::move(entry)));
    }
  }
  return library;
}

}  // namespace morton::catalogue
