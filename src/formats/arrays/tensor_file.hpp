// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "base/rooms.hpp"
#include "morton/load.hpp"
#include "morton/tensor.hpp"

namespace morton::formats {

/// The tensors in a file. What it is follows from its name: .npy, .npz (NumPy), .pb (ONNX
/// TensorProto), .json (a matrix definition of R17), .png .jpg .jpeg (pictures, u8 [height, width,
/// channels]), .idx or MNIST's
/// "...-idx3-ubyte", each also with .gz. Tensors are named as the file names them, else by an empty
/// string. Throws UsageError for other names, ModelError and UnsupportedError as the readers do. Of
/// `limits` the pixels count.
[[nodiscard]] std::vector<NamedTensor> read_tensors(const std::filesystem::path& path,
                                                    const LoadLimits& limits = {});

/// The one tensor in a file; throws UsageError where it holds several (an .npz) or none.
[[nodiscard]] Tensor read_tensor(const std::filesystem::path& path);

/// Writes to a .npz file, or one tensor to a .npy file, atomically. Throws UsageError for other
/// names, several tensors in a .npy file, or names that an archive cannot hold.
void write_tensors(const std::filesystem::path& path, std::span<const NamedTensor> tensors);

}  // namespace morton::formats
