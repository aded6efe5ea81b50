// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace morton::serve {

// Members of JSON. Each throws UsageError where it is another kind of value; `place` is what
// messages call it.

/// "inputs[0].shape"
[[nodiscard]] std::string place_of(std::string_view list, std::size_t i, std::string_view key);

/// A member of an object; none where it is missing or null.
[[nodiscard]] std::optional<simdjson::dom::element> member(const simdjson::dom::object& object,
                                                           std::string_view key);
[[nodiscard]] std::string text_of(const simdjson::dom::element& element, const std::string& place);
/// A whole number of 0 or more.
[[nodiscard]] std::int64_t integer_of(const simdjson::dom::element& element,
                                      const std::string& place);
[[nodiscard]] bool truth_of(const simdjson::dom::element& element, const std::string& place);
[[nodiscard]] simdjson::dom::array array_of(const simdjson::dom::element& element,
                                            const std::string& place);
[[nodiscard]] simdjson::dom::object object_of(const simdjson::dom::element& element,
                                              const std::string& place);

/// Throws UsageError where parameters name memory that the server does not share with its clients.
void refuse_shared_memory(const simdjson::dom::object& parameters, const std::string& place);

}  // namespace morton::serve
