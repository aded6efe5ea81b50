// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "morton/export.hpp"

namespace morton {

/// What an input or output of a model is, where it is no plain tensor. Once compiled, a list `x` is
/// as many tensors as it has elements, named `x[0]`, `x[1]` and so on. An optional value that is
/// not there is none.
///
/// CompileOptions::shapes and `values` say which elements a list has, by their names. The shape {n}
/// under the list's own name is its length n, which is enough where the model fixes the shapes of
/// elements. An optional input is there where they name it.
struct ValueForm {
  bool is_list = false;      ///< of tensors
  bool is_optional = false;  ///< it may have no value
  bool any_shape = false;    ///< the model leaves open how many dimensions its tensors have
  [[nodiscard]] bool is_tensor() const { return !is_list && !is_optional; }  ///< a plain one
  bool operator==(const ValueForm&) const = default;
};

/// "x[2]", the element at place 2 of the list "x".
[[nodiscard]] MORTON_API std::string element_name(std::string_view list, std::int64_t place);

/// What such a name says.
struct ListElement {
  std::string list;
  std::int64_t place = 0;
};
/// Nothing where the name is none of an element.
[[nodiscard]] MORTON_API std::optional<ListElement> as_list_element(std::string_view name);

}  // namespace morton
