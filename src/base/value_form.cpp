// SPDX-License-Identifier: Apache-2.0
#include "morton/value_form.hpp"

#include <charconv>

namespace morton {

std::string element_name(std::string_view list, std::int64_t place) {
  return std::string(list) + "[" + std::to_string(place) + "]";
}

std::optional<ListElement> as_list_element(std::string_view name) {
  const std::size_t open = name.rfind('[');
  if (open == std::string_view::npos || open == 0 || !name.ends_with(']')) return std::nullopt;
  ListElement element{std::string(name.substr(0, open)), 0};
  const char* begin = name.data() + open + 1;
  const char* end = name.data() + name.size() - 1;
  const auto [stop, status] = std::from_chars(begin, end, element.place);
  if (status != std::errc() || stop != end) return std::nullopt;
  // A place is written in one way: neither "x[-1]" nor "x[01]" is one.
  if (element.place < 0 || element_name(element.list, element.place) != name) return std::nullopt;
  return element;
}

}  // namespace morton
