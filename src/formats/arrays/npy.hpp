// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "formats/input_file.hpp"
#include "morton/tensor.hpp"

namespace morton::formats {

/// Reads NumPy's array format, versions 1.0 to 3.0: little-endian f2 f4 f8 i1 u1 i4 i8 and b1;
/// arrays in Fortran order are put into row-major order. `bytes` is the length of all that `read`
/// can give; the array must fill it. Source: NumPy's documentation, numpy.lib.format. Throws
/// ModelError, UnsupportedError (other element types, big-endian ones).
[[nodiscard]] Tensor read_npy(const ReadBytes& read, std::int64_t bytes, const std::string& where);
[[nodiscard]] Tensor read_npy(const std::filesystem::path& path);

/// The header of a version 1.0 file that holds `tensor` (a multiple of 64 bytes); the elements
/// follow it.
[[nodiscard]] std::string npy_header(const Tensor& tensor);

/// The arrays of an .npz archive in its order, named without ".npy". Throws as `read_npy` does;
/// every file in the archive must be an array.
[[nodiscard]] std::vector<NamedTensor> read_npz(const std::filesystem::path& path);

/// Write atomically. Elements of a type that NumPy lacks are written as f32, i8 or u8, which hold
/// all their values. Throw UsageError for names that an archive cannot hold (empty, twice),
/// ModelError when the file cannot be written.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);
void write_npz(const std::filesystem::path& path, std::span<const NamedTensor> tensors);

}  // namespace morton::formats
