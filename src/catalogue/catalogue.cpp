// SPDX-License-Identifier: Apache-2.0
#include "catalogue/catalogue.hpp"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/environment_variables.hpp"
#include "base/error.hpp"
#include "base/files/file.hpp"
#include "catalogue/batched.hpp"
#include "catalogue/embedded.hpp"
#include "catalogue/entry_digest.hpp"
#include "catalogue/r17_library.hpp"
#include "catalogue/r17_restrictions.hpp"
#include "catalogue/reader.hpp"
#include "formats/input_file.hpp"

namespace morton::catalogue {
namespace {

namespace fs = std::filesystem;

/// Far above any kernel; refuses a file that was named by mistake.
constexpr std::int64_t kFileLimitBytes = std::int64_t{4} << 20;
/// Whether a folder of kernels is a family's: tuned values and boards' costs stand beside those.
bool is_of_family(std::string_view folder) { return folder != "tuned" && folder != "boards"; }

/// Files by their path relative to the folder of kernels, such as "gemm/naive.cl".
using FileTexts = std::map<std::string, std::string, std::less<>>;

std::string folder_of(const std::string& path) {
  return path.substr(0, path.find('/') == std::string::npos ? 0 : path.find('/'));
}

void check_place(const std::string& path, const std::string& name) {
  std::string expected = name + ".json";
  expected[expected.find('.')] = '/';
  if (path != expected) {
    throw ModelError(path + ": name: '" + name + "' belongs into " + expected);
  }
}

/// Reads every entry of a folder of kernels, and sees that each .cl file is named by one.
Catalogue from_texts(const FileTexts& files) {
  Catalogue catalogue;
  std::set<std::string> used;
  for (const auto& [path, text] : files) {
    if (!path.ends_with(".json")) continue;
    const std::string folder = folder_of(path);
    const auto read_source = [&](const std::string& name) {
      const std::string path_of_source = source_path(folder, name);
      const auto found = files.find(path_of_source);
      if (found == files.end()) throw ModelError("there is no file " + path_of_source);
      used.insert(found->first);
      return found->second;
    };
    catalogue.add_text(text, path, read_source);
  }
  for (const auto& entry : catalogue.entries()) {
    if (entry.origin.batch_of.empty()) check_place(entry.origin.file, entry.name);
  }
  for (const auto& recipe : catalogue.recipes()) check_place(recipe.file, recipe.name);
  for (const auto& [path, text] : files) {
    if (path.ends_with(".cl") && !used.contains(path)) {
      throw ModelError(path + ": no entry names it as its source");
    }
    if (path.ends_with(".clh") && !used.contains(path)) {
      throw ModelError(path + ": no entry includes it");
    }
  }
  return catalogue;
}

/// A shared text of the program's own, which other files' entries may include too.
std::optional<std::string_view> embedded_text(std::string_view path) {
  for (const EmbeddedFile& file : embedded_kernels()) {
    if (file.path == path) return file.content;
  }
  return std::nullopt;
}

Catalogue from_embedded() {
  FileTexts files;
  for (const EmbeddedFile& file : embedded_kernels()) {
    if (!is_of_family(folder_of(std::string(file.path)))) continue;
    files.emplace(file.path, file.content);
  }
  return from_texts(files);
}

template <class Named>
const Named* find_named(const std::vector<Named>& all, std::string_view name) {
  const auto found = std::ranges::lower_bound(all, name, {}, &Named::name);
  return found != all.end() && found->name == name ? &*found : nullptr;
}

template <class Named>
void insert_named(std::vector<Named>& all, Named named) {
  all.insert(std::ranges::lower_bound(all, named.name, {}, &Named::name), std::move(named));
}

}  // namespace

bool Entry::uses(std::string_view definition) const {
  return std::ranges::count(program.uses, definition) > 0;
}

bool Entry::takes_work() const { return std::ranges::count(launch.arguments, "work") > 0; }

std::shared_ptr<const Catalogue> Catalogue::shared() {
  if (const auto folder = environment_variable("MORTON_KERNEL_DIR")) {
    return std::make_shared<const Catalogue>(from_folder(*folder));
  }
  static const auto kBuiltIn = std::make_shared<const Catalogue>(from_embedded());
  return kBuiltIn;
}

Catalogue Catalogue::from_folder(const fs::path& folder) {
  std::error_code status;
  if (!fs::is_directory(folder, status)) {
    throw ModelError(folder.string() + ": is no folder of kernels (MORTON_KERNEL_DIR names one)");
  }
  FileTexts files;
  for (const auto& family : fs::directory_iterator(folder)) {
    if (!family.is_directory() || !is_of_family(family.path().filename().string())) continue;
    for (const auto& file : fs::directory_iterator(family.path())) {
      const auto extension = file.path().extension();
      if (extension != ".cl" && extension != ".clh" && extension != ".json") continue;
      const auto name = family.path().filename() / file.path().filename();
      files.emplace(name.generic_string(), read_file(file.path(), kFileLimitBytes));
    }
  }
  return from_texts(files);
}

void Catalogue::add_file(const fs::path& json) {
  const auto read_source = [&](const std::string& name) {
    std::error_code status;
    if (name.ends_with(".clh") && !fs::exists(json.parent_path() / name, status)) {
      if (const auto own = embedded_text(name)) return std::string(*own);
    }
    const InputFile file = InputFile::beneath(json.parent_path(), name);
    if (file.bytes() > kFileLimitBytes) throw ModelError(file.where() + ": is too large");
    return std::string(MappedFile(file).bytes());
  };
  add_text(read_file(json, kFileLimitBytes), json.string(), read_source);
}

void Catalogue::add_text(std::string_view json, const std::string& file,
                         const std::function<std::string(const std::string&)>& read_source) {
  const Json parsed = parse_json(json, file);
  const JsonReader reader(parsed, file);
  if (!parsed.is_object())
    reader.fail("expected an object, got " + std::string(parsed.type_name()));
  if (is_r17_library(parsed)) return add_library(reader, read_source);
  if (reader.at("schema").integer() != 1) {
    reader.at("schema").fail("expected 1, the only schema there is, got " +
                             parsed.at("schema").dump());
  }
  const std::string name = reader.at("name").text();
  if (is_taken(name)) {
    reader.at("name").fail("'" + name + "' is taken: choose another name");
  }
  if (reader.has("steps")) {
    Recipe recipe = read_recipe(reader);
    recipe.file = file;
    insert_named(recipes_, std::move(recipe));
    return;
  }
  Entry entry = read_entry(reader);
  entry.origin.file = file;
  if (!entry.call.library.empty()) {
    entry.program.digest = {kernel_digest(parsed, ""), files_digest(json)};
    insert_named(entries_, std::move(entry));
    return;
  }
  read_program(reader, read_source, entry);
  entry.program.digest = {kernel_digest(parsed, entry.program.code),
                          files_digest(json, entry.program.source)};
  if (auto twin = batched(entry)) insert_named(entries_, std::move(*twin));
  insert_named(entries_, std::move(entry));
}

void Catalogue::add_library(const JsonReader& reader,
                            const std::function<std::string(const std::string&)>& read_source) {
  R17Library library = read_r17_library(reader, read_source);
  for (const auto& [name, kernel] : library.left_out) {
    if (is_taken(name)) reader.fail("the codename '" + name + "' is taken: choose another");
  }
  for (Entry& entry : library.entries) {
    if (is_taken(entry.name)) {
      reader.fail("the codename '" + entry.name + "' is taken: choose another");
    }
    insert_named(entries_, std::move(entry));
  }
  left_out_.merge(library.left_out);
}

void Catalogue::take_by_convention(const std::map<std::string, std::string>& use) {
  for (const auto& [family_name, name] : use) {
    const ProblemFamily* family = find_problem_family(family_name);
    const auto found = left_out_.find(name);
    if (family == nullptr || found == left_out_.end() || r17_convention(family->id).empty())
      continue;
    insert_named(entries_, found->second.by_convention(family->id));
    left_out_.erase(found);
  }
}

bool Catalogue::is_taken(const std::string& name) const {
  return find_entry(name) != nullptr || find_recipe(name) != nullptr || left_out_.contains(name);
}

const Entry* Catalogue::find_entry(std::string_view name) const {
  return find_named(entries_, name);
}

const Recipe* Catalogue::find_recipe(std::string_view name) const {
  return find_named(recipes_, name);
}

}  // namespace morton::catalogue
