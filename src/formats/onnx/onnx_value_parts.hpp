// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "morton/value_form.hpp"

namespace morton::formats {

/// The messages TensorProto in a value of this form: an OptionalProto, a SequenceProto or a
/// TensorProto, which do not say of themselves which they are. Nothing where an optional value is
/// not there. Throws ModelError, and UnsupportedError for what is no dense tensor and for lists
/// that are too long. `where` names the file.
[[nodiscard]] std::optional<std::vector<std::string_view>> tensors_in_value(
    std::string_view bytes, const ValueForm& form, const std::string& where);

}  // namespace morton::formats
