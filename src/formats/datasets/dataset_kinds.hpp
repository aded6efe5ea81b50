// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/rooms.hpp"
#include "morton/dataset.hpp"
#include "morton/pictures.hpp"

namespace morton::formats {

/// How pictures are prepared as they are read.
struct PictureForm {
  Shape input;
  PicturePreparation preparation;
};

/// A kind of data set: how its files are told from others, and read.
struct DatasetKind {
  std::string_view files;  ///< what they are, for messages
  /// The file or folder is of this kind.
  bool (*recognizes)(const std::filesystem::path& path);
  bool (*has)(const std::filesystem::path& path, Split split);
  /// Only called where `has` is true. Throws ModelError, UnsupportedError. The caller checks labels
  /// and values (`check_dataset`). Null: as the files have them.
  Dataset (*read)(const std::filesystem::path& path, Split split, const PictureForm* form);
  /// Whether it obeys a form.
  bool prepares = false;
};

[[nodiscard]] DatasetKind idx_dataset();
[[nodiscard]] DatasetKind cifar_dataset();
[[nodiscard]] DatasetKind folder_dataset();
[[nodiscard]] DatasetKind npz_dataset();

/// Throws ModelError unless there are examples, as many targets as inputs, of types that a data set
/// may have, and labels are one for each.
void require_examples(const Dataset& data);

/// Labels from integers [N] or [N, 1] of any type, as i32 [N]; `where` names them. Throws
/// ModelError for negative ones and other shapes.
[[nodiscard]] Tensor labels_from(const Tensor& integers, const std::string& where);

/// A name from outside with bytes that steer terminals replaced, for class names.
[[nodiscard]] std::string printable_name(std::string_view name);

}  // namespace morton::formats
