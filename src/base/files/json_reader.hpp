// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/for_tools.hpp"

namespace morton {

using Json = nlohmann::json;

/// Parses untrusted JSON text. Throws ModelError that names `file` and the line and column; refuses
/// more than 64 levels of nesting and duplicate keys.
[[nodiscard]] MORTON_FOR_TOOLS Json parse_json(std::string_view text, const std::string& file);

/// A value inside a JSON file that knows where it stands ("gemm/naive.json: operands.lhs"), so that
/// each look-up that fails says where, what was expected and what was found. All throw ModelError.
class JsonReader {
 public:
  /// Keeps a reference to `json`, which must outlive the reader.
  JsonReader(const Json& json, std::string where) : json_(&json), where_(std::move(where)) {}

  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] const Json& json() const { return *json_; }
  /// Fails unless this is an object with no keys but these: an unknown key is an error.
  MORTON_FOR_TOOLS void allow_keys(std::initializer_list<std::string_view> keys) const;
  [[nodiscard]] MORTON_FOR_TOOLS bool has(std::string_view key) const;
  /// The member `key`, which must be there.
  [[nodiscard]] MORTON_FOR_TOOLS JsonReader at(std::string_view key) const;
  [[nodiscard]] MORTON_FOR_TOOLS std::string text() const;
  [[nodiscard]] MORTON_FOR_TOOLS std::int64_t integer() const;
  [[nodiscard]] MORTON_FOR_TOOLS double real() const;
  [[nodiscard]] MORTON_FOR_TOOLS bool boolean() const;
  /// The elements of an array.
  [[nodiscard]] MORTON_FOR_TOOLS std::vector<JsonReader> elements() const;
  /// The members of an object, in the file's order of keys as the library keeps it (by name).
  [[nodiscard]] std::vector<std::pair<std::string, JsonReader>> members() const;
  [[nodiscard]] MORTON_FOR_TOOLS std::vector<std::string> texts() const;
  [[nodiscard]] std::vector<std::int64_t> integers() const;
  [[noreturn]] MORTON_FOR_TOOLS void fail(const std::string& why) const;

 private:
  const Json* json_;
  std::string where_;
};

}  // namespace morton
