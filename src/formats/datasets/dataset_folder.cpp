// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "formats/datasets/dataset_kinds.hpp"
#include "formats/image.hpp"
#include "morton/pictures.hpp"

namespace morton::formats {
namespace {

namespace fs = std::filesystem;

enum class Want : std::uint8_t { folders, files };

/// What lies in `folder`, sorted by name so that the order is the same everywhere; names that begin
/// with a dot are left out.
std::vector<fs::path> entries_of(const fs::path& folder, Want want) {
  std::vector<fs::path> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with('.')) continue;
    std::error_code status;  // of a link that leads nowhere: reading it says so
    if (entry.is_directory(status) == (want == Want::folders)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// `folder`/train and the like, where it holds folders itself.
std::optional<fs::path> part_folder(const fs::path& folder, Split split) {
  const std::vector<std::string> names =
      split == Split::train ? std::vector<std::string>{"train"}
                            : std::vector<std::string>{"test", "val", "validation", "valid"};
  for (const std::string& name : names) {
    const fs::path path = folder / name;
    if (fs::is_directory(path) && !entries_of(path, Want::folders).empty()) return path;
  }
  return std::nullopt;
}

bool is_folder(const fs::path& path) {
  return fs::is_directory(path) && !entries_of(path, Want::folders).empty();
}

bool is_in_parts(const fs::path& path) { return part_folder(path, Split::train).has_value(); }

bool has_folder(const fs::path& path, Split split) {
  if (is_in_parts(path)) return part_folder(path, split).has_value();
  return split == Split::train;
}

/// A picture as [C, H, W] with 1 or 3 channels, on black where it is transparent.
Tensor planes_of(const Tensor& image) {
  const Shape& shape = image.shape();
  const auto from_channels = static_cast<std::size_t>(shape[2]);
  const std::size_t channels = from_channels >= 3 ? 3 : 1;
  const bool alpha = from_channels % 2 == 0;
  const auto pixels = static_cast<std::size_t>(shape[0] * shape[1]);
  Tensor planes =
      Tensor::allocate(DType::u8, {static_cast<std::int64_t>(channels), shape[0], shape[1]});
  const std::uint8_t* from = image.as<std::uint8_t>().data();
  const std::span<std::uint8_t> to = planes.as_mutable<std::uint8_t>();
  for (std::size_t p = 0; p < pixels; ++p, from += from_channels) {
    constexpr unsigned kFull = 255;
    const unsigned opacity = alpha ? from[from_channels - 1] : kFull;
    for (std::size_t c = 0; c < channels; ++c) {
      to[c * pixels + p] = static_cast<std::uint8_t>((from[c] * opacity + kFull / 2) / kFull);
    }
  }
  return planes;
}

/// A picture as the form says, [C, H, W].
Tensor formed(const fs::path& path, const Tensor& image, const PictureForm& form) {
  PicturePreparation levels = form.preparation;
  levels.mean.clear();
  levels.deviation.clear();
  const PictureSize size = picture_size_of(form.input);
  const auto open = [](std::int64_t extent) { return extent > 0 ? extent : -1; };
  const Shape one{picture_channels_of(form.input), open(size.height), open(size.width)};
  try {
    return picture_to_input(image, DType::u8, one, levels);
  } catch (const UsageError& error) {
    throw UsageError(path.string() + ": " + error.message());
  }
}

/// Whether a pixel is not grey.
bool has_colours(const Tensor& image) {
  const auto channels = static_cast<std::size_t>(image.shape()[2]);
  if (channels < 3) return false;
  const auto levels = image.as<std::uint8_t>();
  for (std::size_t at = 0; at + 2 < levels.size(); at += channels) {
    if (levels[at] != levels[at + 1] || levels[at] != levels[at + 2]) return true;
  }
  return false;
}

struct Picture {
  fs::path path;
  std::int32_t label = 0;
  Tensor planes{};
  bool has_lost_colours = false;
};

/// The pictures of a class, read; all of the size of the first.
void read_class(const fs::path& folder, std::int32_t label, const PictureForm* form,
                std::vector<Picture>& pictures) {
  const std::vector<fs::path> inner = entries_of(folder, Want::folders);
  if (!inner.empty()) {
    throw ModelError(folder.string() + ": expected pictures of one class, got the folder " +
                     inner.front().filename().string() + " in it");
  }
  const std::vector<fs::path> files = entries_of(folder, Want::files);
  if (files.empty()) {
    throw ModelError(folder.string() + ": holds no pictures; expected PNG or JPEG files of one " +
                     "class, or no such folder");
  }
  for (const fs::path& file : files) {
    const Tensor image = read_image(file);
    Tensor planes = form ? formed(file, image, *form) : planes_of(image);
    const bool lost = planes.shape()[0] == 1 && has_colours(image);
    pictures.push_back({file, label, std::move(planes), lost});
    const Shape& first = pictures.front().planes.shape();
    const Shape& here = pictures.back().planes.shape();
    if (here[1] == first[1] && here[2] == first[2]) continue;
    const auto size = [](const Shape& shape) {
      return std::to_string(shape[1]) + "x" + std::to_string(shape[2]);
    };
    throw ModelError(file.string() + ": a picture of " + size(here) + " (height x width) among " +
                     "pictures of " + size(first) + " such as " + pictures.front().path.string() +
                     "; " + setting("resize") + " and " + setting("crop") +
                     " bring them to one size");
  }
}

/// All pictures in one tensor [N, C, H, W]; grey ones among coloured ones get three equal channels.
Tensor joined(const std::vector<Picture>& pictures) {
  std::int64_t channels = 1;
  for (const Picture& picture : pictures) channels = std::max(channels, picture.planes.shape()[0]);
  const Shape& shape = pictures.front().planes.shape();
  Tensor all = Tensor::allocate(
      DType::u8, {static_cast<std::int64_t>(pictures.size()), channels, shape[1], shape[2]});
  std::byte* to = all.mutable_data();
  for (const Picture& picture : pictures) {
    const std::int64_t times = channels / picture.planes.shape()[0];
    for (std::int64_t i = 0; i < times; ++i) {
      to = std::copy_n(picture.planes.data(), picture.planes.bytes(), to);
    }
  }
  return all;
}

std::vector<std::string> class_names(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::path& path : entries_of(folder, Want::folders)) {
    names.push_back(path.filename().string());
  }
  return names;
}

Dataset load_folder(const fs::path& path, Split split, const PictureForm* form) {
  const fs::path folder = is_in_parts(path) ? *part_folder(path, split) : path;
  // The classes are those of the training part, so that a label means the same in both.
  const std::vector<std::string> names =
      class_names(is_in_parts(path) ? *part_folder(path, Split::train) : path);
  std::vector<Picture> pictures;
  for (const fs::path& of_class : entries_of(folder, Want::folders)) {
    const auto known = std::find(names.begin(), names.end(), of_class.filename().string());
    if (known == names.end()) {
      throw ModelError(of_class.string() + ": a class that the training part does not have");
    }
    read_class(of_class, static_cast<std::int32_t>(known - names.begin()), form, pictures);
  }
  Dataset data;
  data.where = folder.string();
  data.inputs = joined(pictures);
  data.targets = Tensor::allocate(DType::i32, {static_cast<std::int64_t>(pictures.size())});
  const std::span<std::int32_t> labels = data.targets.as_mutable<std::int32_t>();
  for (std::size_t i = 0; i < pictures.size(); ++i) labels[i] = pictures[i].label;
  data.without_colours = std::ranges::count_if(pictures, &Picture::has_lost_colours);
  data.classes = static_cast<std::int64_t>(names.size());
  for (const std::string& name : names) data.class_names.push_back(printable_name(name));
  return data;
}

}  // namespace

DatasetKind folder_dataset() {
  return {
      "pictures (PNG, JPEG) in a folder for each class, these in train and test (or val, "
      "validation, valid) where there is a test part",
      is_folder, has_folder, load_folder, true};
}

}  // namespace morton::formats
