// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/rooms.hpp"
#include "morton/tensor.hpp"

namespace morton::formats {

/// The array of bytes in an IDX file, as the MNIST digits are kept ([count, height, width] or
/// [count]), packed by gzip or not. The array must fill the file. Source: Y. LeCun's page on MNIST,
/// "File formats". Throws ModelError, UnsupportedError (elements that are not unsigned bytes).
[[nodiscard]] Tensor read_idx(const std::filesystem::path& path);

}  // namespace morton::formats
