// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/rooms.hpp"
#include "formats/load_budget.hpp"
#include "formats/named_files.hpp"
#include "morton/tensor.hpp"

namespace morton::formats {

/// How the data file of a matrix definition holds its elements.
enum class MatrixData : std::uint8_t {
  csv,     ///< a line for each row, values separated by commas
  binary,  ///< f32, little-endian, row-major, nothing else
};

/// The matrix of a matrix definition, as f32 [rows, cols] (R17, section 5.1.1):
///
///     {"rows": 50, "cols": 100, "data_type": "csv", "file": "sample.csv"}
///
/// `file` lies beneath the definition's folder. R17 leaves open what "binary" holds; see
/// MatrixData. Binary data are mapped: the file must not shrink while the tensor is in use. Throws
/// ModelError that names the file and the key or line: paths that lead out of the folder, a number
/// of values that is not rows x cols, text that is no number.
[[nodiscard]] Tensor read_r17_matrix(const std::filesystem::path& definition);

/// The same for a definition that another file names, which takes its parts from the budget.
[[nodiscard]] Tensor read_r17_matrix(const NamedFiles& files, const std::string& name,
                                     LoadBudget& budget);

/// Writes an f32 matrix [rows, cols] and then its definition, each atomically; the data go to a
/// file of the definition's name with .csv or .bin. Values in csv read back as the same floats.
void write_r17_matrix(const std::filesystem::path& definition, const Tensor& matrix,
                      MatrixData data);

}  // namespace morton::formats
