// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace morton {

/// Throws UnsupportedError for a list of tensors of more elements than are supported: a file of a
/// few bytes may ask for any number. `name` is what the list is called.
void require_list_length(std::int64_t count, const std::string& name);

}  // namespace morton
