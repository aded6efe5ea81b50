// SPDX-License-Identifier: Apache-2.0
#include "base/files/json_reader.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/error.hpp"

namespace morton {
namespace {

constexpr std::size_t kMaxDepth = 64;

/// Looks at a text before it is read: how deep it goes, and that no object has a key twice. (The
/// parser's own callback takes a time quadratic in an object's members.)
class Inspector : public nlohmann::json_sax<Json> {
 public:
  explicit Inspector(const std::string& file) : file_(file) {}

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*elements*/) override { return enter(); }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t /*elements*/) override { return enter(); }
  bool end_array() override { return leave(); }
  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    throw ModelError(file_ + ": the key '" + name + "' stands twice");
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    // The library's message carries line and column after a tag of its own: "[...101] parse error".
    const std::string text = error.what();
    const std::size_t tag_end = text.starts_with('[') ? text.find("] ") : std::string::npos;
    throw ModelError(file_ + ": is no valid JSON: " +
                     (tag_end == std::string::npos ? text : text.substr(tag_end + 2)));
  }

 private:
  bool enter() {
    keys_.emplace_back();
    if (keys_.size() <= kMaxDepth + 1) return true;
    throw ModelError(file_ + ": nested more than " + std::to_string(kMaxDepth) + " levels deep");
  }
  bool leave() {
    keys_.pop_back();
    return true;
  }

  const std::string& file_;
  std::vector<std::unordered_set<std::string>> keys_;  ///< of the objects around
};

}  // namespace

Json parse_json(std::string_view text, const std::string& file) {
  Inspector inspector(file);
  Json::sax_parse(text, &inspector);
  return Json::parse(text);
}

void JsonReader::fail(const std::string& why) const { throw ModelError(where_ + ": " + why); }

void JsonReader::allow_keys(std::initializer_list<std::string_view> keys) const {
  if (!json_->is_object()) fail("expected an object, got " + std::string(json_->type_name()));
  for (const auto& [key, value] : json_->items()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    std::string known;
    for (const auto allowed : keys) known += (known.empty() ? "" : ", ") + std::string(allowed);
    fail("unknown key '" + key + "' (known: " + known + ")");
  }
}

bool JsonReader::has(std::string_view key) const {
  return json_->is_object() && json_->contains(std::string(key));
}

JsonReader JsonReader::at(std::string_view key) const {
  if (!has(key)) fail("the key '" + std::string(key) + "' is missing");
  const bool top = where_.find(": ") == std::string::npos;
  return {json_->at(std::string(key)), where_ + (top ? ": " : ".") + std::string(key)};
}

std::string JsonReader::text() const {
  if (!json_->is_string()) fail("expected a string, got " + std::string(json_->type_name()));
  return json_->get<std::string>();
}

std::int64_t JsonReader::integer() const {
  if (!json_->is_number_integer()) {
    fail("expected an integer, got " + std::string(json_->type_name()));
  }
  if (json_->is_number_unsigned() && json_->get<std::uint64_t>() > INT64_MAX) {
    fail("the number does not fit 64 bits");
  }
  return json_->get<std::int64_t>();
}

double JsonReader::real() const {
  if (!json_->is_number()) fail("expected a number, got " + std::string(json_->type_name()));
  return json_->get<double>();
}

bool JsonReader::boolean() const {
  if (!json_->is_boolean()) fail("expected true or false, got " + std::string(json_->type_name()));
  return json_->get<bool>();
}

std::vector<JsonReader> JsonReader::elements() const {
  if (!json_->is_array()) fail("expected an array, got " + std::string(json_->type_name()));
  std::vector<JsonReader> readers;
  for (std::size_t i = 0; i < json_->size(); ++i) {
    readers.emplace_back(json_->at(i), where_ + "[" + std::to_string(i) + "]");
  }
  return readers;
}

std::vector<std::pair<std::string, JsonReader>> JsonReader::members() const {
  if (!json_->is_object()) fail("expected an object, got " + std::string(json_->type_name()));
  std::vector<std::pair<std::string, JsonReader>> readers;
  for (const auto& item : json_->items()) readers.emplace_back(item.key(), at(item.key()));
  return readers;
}

std::vector<std::string> JsonReader::texts() const {
  std::vector<std::string> values;
  for (const auto& element : elements()) values.push_back(element.text());
  return values;
}

std::vector<std::int64_t> JsonReader::integers() const {
  std::vector<std::int64_t> values;
  for (const auto& element : elements()) values.push_back(element.integer());
  return values;
}

}  // namespace morton
