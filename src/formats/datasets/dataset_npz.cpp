// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/rooms.hpp"
#include "base/shape.hpp"
#include "formats/arrays/npy.hpp"
#include "formats/arrays/zip.hpp"
#include "formats/datasets/dataset_kinds.hpp"
#include "formats/input_file.hpp"

namespace morton::formats {
namespace {

namespace fs = std::filesystem;

bool is_npz(const fs::path& path) {
  return fs::is_regular_file(path) && path.extension() == ".npz";
}

/// Names of the arrays, without reading them.
std::vector<std::string> names_in(const fs::path& path) {
  const InputFile file(path);
  const MappedFile mapped(file);
  const ZipReader zip(mapped.bytes(), file.where());
  std::vector<std::string> names;
  for (const ZipEntry& entry : zip.entries()) names.push_back(entry.name);
  return names;
}

bool holds(const std::vector<std::string>& names, const std::string& array) {
  return std::find(names.begin(), names.end(), array + ".npy") != names.end();
}

/// The name of the array `what` ("x" or "y") of a part.
std::string array_name(const std::vector<std::string>& names, Split split,
                       const std::string& what) {
  const std::string full = what + (split == Split::train ? "_train" : "_test");
  const bool plain = split == Split::train && !holds(names, full) && holds(names, what);
  return plain ? what : full;
}

/// Throws ModelError where no array is one of a data set.
void require_known_arrays(const std::vector<std::string>& names, const fs::path& path) {
  for (const char* known : {"x", "x_train", "x_test"}) {
    if (holds(names, known)) return;
  }
  std::string there;
  for (const std::string& name : names) {
    const bool npy = name.ends_with(".npy");
    there +=
        (there.empty() ? "" : ", ") + printable_name(npy ? name.substr(0, name.size() - 4) : name);
  }
  throw ModelError(path.string() + ": holds " + (there.empty() ? "no arrays" : there) +
                   "; expected x and y, or x_train, y_train, x_test and y_test");
}

bool has_npz(const fs::path& path, Split split) {
  const std::vector<std::string> names = names_in(path);
  require_known_arrays(names, path);
  return holds(names, array_name(names, split, "x"));
}

const Tensor& array(const std::vector<NamedTensor>& arrays, const std::string& name,
                    const std::string& where) {
  for (const NamedTensor& named : arrays) {
    if (named.name == name) return named.tensor;
  }
  throw ModelError(where + ": holds no array '" + name +
                   "'; expected x and y, or x_train, y_train, " + "x_test and y_test");
}

bool is_channels(std::int64_t extent) { return extent == 1 || extent == 3 || extent == 4; }

/// [N, H, W, C] as [N, C, H, W].
Tensor channels_first(const Tensor& pictures) {
  const Shape& shape = pictures.shape();
  const auto pixels = static_cast<std::size_t>(shape[1] * shape[2]);
  const auto channels = static_cast<std::size_t>(shape[3]);
  Tensor result = Tensor::allocate(DType::u8, {shape[0], shape[3], shape[1], shape[2]});
  const std::uint8_t* from = pictures.as<std::uint8_t>().data();
  std::uint8_t* to = result.as_mutable<std::uint8_t>().data();
  for (std::int64_t n = 0; n < shape[0]; ++n, from += pixels * channels) {
    for (std::size_t c = 0; c < channels; ++c) {
      for (std::size_t p = 0; p < pixels; ++p) *to++ = from[p * channels + c];
    }
  }
  return result;
}

Tensor inputs_from(const Tensor& x, const std::string& where) {
  const Shape& shape = x.shape();
  if (x.dtype() == DType::f32 && shape.size() >= 2) return x;
  if ((x.dtype() == DType::f64 || x.dtype() == DType::f16) && shape.size() >= 2) {
    return x.converted(DType::f32);
  }
  if (x.dtype() == DType::u8 && shape.size() == 3) {
    return x.reshaped({shape[0], 1, shape[1], shape[2]});
  }
  if (x.dtype() == DType::u8 && shape.size() == 4) {
    return is_channels(shape[3]) && !is_channels(shape[1]) ? channels_first(x) : x;
  }
  throw ModelError(where + ": expected pictures, u8 [N, H, W] or [N, C, H, W], or features, f32 " +
                   "[N, ...], got " + std::string(name_of(x.dtype())) + " " + to_string(shape));
}

Dataset load_npz(const fs::path& path, Split split, const PictureForm* /*form*/) {
  const std::string where = path.string();
  const std::vector<std::string> names = names_in(path);
  const std::vector<NamedTensor> arrays = read_npz(path);
  const std::string x = array_name(names, split, "x");
  const std::string y = "y" + x.substr(1);
  const Tensor& targets = array(arrays, y, where);
  Dataset data;
  data.where = where + (x == "x" ? "" : split == Split::train ? " (train)" : " (test)");
  data.inputs = inputs_from(array(arrays, x, where), where + ": " + x);
  switch (targets.dtype()) {
    case DType::f32:
    case DType::f64:
    case DType::f16:
      data.targets = targets.converted(DType::f32);
      break;
    default:
      data.targets = labels_from(targets, where + ": " + y);
  }
  return data;
}

}  // namespace

DatasetKind npz_dataset() {
  return {"an .npz archive with x and y, or x_train, y_train, x_test and y_test", is_npz, has_npz,
          load_npz};
}

}  // namespace morton::formats
