// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rooms.hpp"
#include "morton/tensor.hpp"

namespace morton::formats {

/// What a .safetensors file holds: tensors by name, and named texts.
struct SafeTensors {
  std::vector<NamedTensor> tensors;  ///< in the order of their bytes
  std::map<std::string, std::string> texts;
};

/// Reads a .safetensors file. Source: Hugging Face, "safetensors", section "Format": the length of
/// a JSON header, the header, the bytes of all tensors without gaps. Throws ModelError for whatever
/// that does not allow, UnsupportedError for element types that Morton lacks.
[[nodiscard]] SafeTensors read_safetensors(const std::filesystem::path& path);
/// The same of a file's bytes; `where` is for messages.
[[nodiscard]] SafeTensors parse_safetensors(std::string_view bytes, const std::string& where);

/// The length and the header of a file with these tensors; their bytes follow one after the other.
/// Throws UsageError for a name that is there twice, or that the format keeps for itself, and for
/// more of them than `read_safetensors` takes.
[[nodiscard]] std::string safetensors_header(std::span<const NamedTensor> tensors,
                                             const std::map<std::string, std::string>& texts);

/// Writes atomically; throws UsageError.
void write_safetensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors,
                       const std::map<std::string, std::string>& texts);

}  // namespace morton::formats
