// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "morton/export.hpp"
#include "morton/load.hpp"
#include "morton/tensor.hpp"
#include "morton/value_form.hpp"

namespace morton {

/// Reads tensors from .npy, .npz, .pb (ONNX TensorProto), IDX (.gz or not), .png, .jpg; a
/// file with one tensor gives it an empty name. Images come as u8 [H, W, C]. Throws ModelError, and
/// UnsupportedError for an image of more pixels than the limit.
[[nodiscard]] MORTON_API std::vector<NamedTensor> read_tensors(const std::string& path,
                                                               const LoadLimits& limits = {});
/// The tensors in a file of ONNX's test data (.pb) of an input or output of this form: a list's
/// elements (SequenceProto), or one tensor; nothing where an optional value (OptionalProto) is not
/// there. Throws ModelError, UnsupportedError.
[[nodiscard]] MORTON_API std::optional<std::vector<Tensor>> read_value(const std::string& path,
                                                                       const ValueForm& form);
/// Writes .npy (one tensor) or .npz, atomically. Throws UsageError where that cannot be written.
MORTON_API void write_tensors(const std::string& path, std::span<const NamedTensor> tensors);
/// An image (u8 [H, W, C]) as an f32 input of shape [1, C, H', W'] or [1, H', W', C]: levels / 255
/// in the order red, green, blue, colours turned to grey where C is 1; a smaller image is centred
/// on zeros, a larger one is a UsageError. `picture_to_input` (pictures.hpp) does more.
[[nodiscard]] MORTON_API Tensor image_to_input(const Tensor& image, const Shape& shape);

}  // namespace morton
