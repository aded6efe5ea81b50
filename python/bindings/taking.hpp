// SPDX-License-Identifier: Apache-2.0
//
// Options by name, taken from a dict.
#pragma once

#include <utility>
#include <vector>

#include "bindings.hpp"

namespace morton::python {

/// Words that stand for enumerators.
template <typename Enumeration>
using Words = std::vector<std::pair<const char*, Enumeration>>;

/// Throws UsageError: the option takes no value of this type.
[[noreturn]] inline void refuse_type(const std::string& option, py::handle value) {
  throw UsageError(setting(option) + ": a value of " + type_of(value) + " does not fit");
}

/// The enumerator that a word stands for. Throws UsageError, which lists the words.
template <typename Enumeration>
Enumeration choice(py::handle value, const char* option, const Words<Enumeration>& words) {
  if (!py::isinstance<py::str>(value)) refuse_type(option, value);
  const auto word = value.cast<std::string>();
  std::string known;
  for (const auto& [name, meant] : words) {
    if (word == name) return meant;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw UsageError(setting(option, word) + ": expected one of " + known);
}

/// Takes an option out of the dict, where it is there. Throws UsageError for a value of another
/// type.
template <typename Value>
void take(py::dict& given, const char* name, Value& into) {
  if (!given.contains(name)) return;
  try {
    into = given[name].cast<Value>();
  } catch (const py::cast_error&) {
    refuse_type(name, given[name]);
  }
  given.attr("pop")(name);
}

template <typename Enumeration>
void take_word(py::dict& given, const char* name, Enumeration& into,
               const Words<Enumeration>& words) {
  if (!given.contains(name)) return;
  into = choice(given[name], name, words);
  given.attr("pop")(name);
}

/// Throws UsageError for an option that nobody has taken; `of` says of what it would be.
inline void require_taken(const py::dict& given, const std::string& of) {
  for (const auto& [name, value] : given) {
    throw UsageError(setting(text_of_name(name, "options")) + ": there is no such option of " + of);
  }
}

}  // namespace morton::python
