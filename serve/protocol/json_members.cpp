// SPDX-License-Identifier: Apache-2.0
#include "protocol/json_members.hpp"

#include <fmt/format.h>

#include <morton/error.hpp>

namespace morton::serve {

namespace dom = simdjson::dom;

std::string place_of(std::string_view list, std::size_t i, std::string_view key) {
  return fmt::format("{}[{}].{}", list, i, key);
}

std::optional<dom::element> member(const dom::object& object, std::string_view key) {
  dom::element found;
  if (object.at_key(key).get(found) != simdjson::SUCCESS || found.is_null()) return std::nullopt;
  return found;
}

std::string text_of(const dom::element& element, const std::string& place) {
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) throw UsageError(place + ": expected a text");
  return std::string(text);
}

std::int64_t integer_of(const dom::element& element, const std::string& place) {
  std::int64_t number = 0;
  if (element.get(number) != simdjson::SUCCESS || number < 0) {
    throw UsageError(place + ": expected a whole number of 0 or more");
  }
  return number;
}

bool truth_of(const dom::element& element, const std::string& place) {
  bool truth = false;
  if (element.get(truth) != simdjson::SUCCESS) throw UsageError(place + ": expected true or false");
  return truth;
}

dom::array array_of(const dom::element& element, const std::string& place) {
  dom::array array;
  if (element.get(array) != simdjson::SUCCESS) throw UsageError(place + ": expected an array");
  return array;
}

dom::object object_of(const dom::element& element, const std::string& place) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) throw UsageError(place + ": expected an object");
  return object;
}

void refuse_shared_memory(const dom::object& parameters, const std::string& place) {
  dom::element found;
  if (parameters.at_key("shared_memory_region").get(found) != simdjson::SUCCESS) return;
  throw UsageError(place + ".shared_memory_region: the extension for shared memory is not served");
}

}  // namespace morton::serve
