// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "formats/arrays/idx.hpp"
#include "formats/datasets/dataset_kinds.hpp"

namespace morton::formats {
namespace {

namespace fs = std::filesystem;

/// A part's files: pictures, and what they show.
struct IdxFiles {
  fs::path images;
  fs::path labels;
};

/// `folder`/`name`, packed or not; nothing where neither is there.
std::optional<fs::path> packed_or_not(const fs::path& folder, const std::string& name) {
  for (const char* suffix : {"", ".gz"}) {
    const fs::path path = folder / (name + suffix);
    std::error_code status;
    if (fs::exists(path, status)) return path;
  }
  return std::nullopt;
}

/// "train-images-idx3-ubyte", or with the dot that some copies have instead.
std::optional<fs::path> part_file(const fs::path& folder, Split split, const std::string& what) {
  const std::vector<std::string> parts = split == Split::train
                                             ? std::vector<std::string>{"train"}
                                             : std::vector<std::string>{"t10k", "test"};
  for (const std::string& part : parts) {
    for (const char* joint : {"-", "."}) {
      auto found = packed_or_not(folder, part + "-" + what.substr(0, what.find('-')) + joint +
                                             what.substr(what.find('-') + 1));
      if (found) return found;
    }
  }
  return std::nullopt;
}

/// `text` with the last `from` replaced; unchanged where there is none.
std::string with_last(std::string text, std::string_view from, std::string_view to) {
  const auto at = text.rfind(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

bool is_images_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.find("images") != std::string::npos && name.find("idx3") != std::string::npos;
}

Split split_of_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with("t10k") || name.starts_with("test") ? Split::test : Split::train;
}

bool is_idx(const fs::path& path) {
  if (!fs::is_directory(path)) return is_images_file(path);
  return part_file(path, Split::train, "images-idx3-ubyte").has_value() ||
         part_file(path, Split::test, "images-idx3-ubyte").has_value();
}

bool has_idx(const fs::path& path, Split split) {
  if (!fs::is_directory(path)) return split_of_file(path) == split;
  return part_file(path, split, "images-idx3-ubyte").has_value();
}

/// The files of a part whose pictures are there.
IdxFiles idx_files(const fs::path& path, Split split) {
  const bool folder = fs::is_directory(path);
  const fs::path images = folder ? *part_file(path, split, "images-idx3-ubyte") : path;
  std::string name = with_last(images.filename().string(), "images", "labels");
  name = with_last(std::move(name), "idx3", "idx1");
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  const auto labels = packed_or_not(images.parent_path(), name);
  if (!labels) {
    throw ModelError((images.parent_path() / name).string() + ": the labels of " +
                     images.filename().string() +
                     " are missing; expected this file, or .gz, beside the pictures");
  }
  return {images, *labels};
}

Dataset load_idx(const fs::path& path, Split split, const PictureForm* /*form*/) {
  const IdxFiles files = idx_files(path, split);
  const Tensor images = read_idx(files.images);
  const Tensor labels = read_idx(files.labels);
  const Shape& shape = images.shape();
  if (shape.size() != 3 && shape.size() != 4) {
    throw ModelError(files.images.string() + ": expected pictures [N, H, W] or [N, C, H, W], got " +
                     to_string(shape));
  }
  if (labels.shape() != Shape{shape[0]}) {
    throw ModelError(files.labels.string() + ": expected " + std::to_string(shape[0]) +
                     " labels, one for each picture of " + files.images.filename().string() +
                     ", got " + to_string(labels.shape()));
  }
  Dataset data;
  data.where = files.images.string();
  data.inputs = shape.size() == 4 ? images : images.reshaped({shape[0], 1, shape[1], shape[2]});
  data.targets = labels_from(labels, files.labels.string());
  return data;
}

}  // namespace

DatasetKind idx_dataset() {
  return {
      "IDX files: a folder with train-images-idx3-ubyte and train-labels-idx1-ubyte, t10k-... "
      "for the test part (or .gz), or one such file of images",
      is_idx, has_idx, load_idx};
}

}  // namespace morton::formats
