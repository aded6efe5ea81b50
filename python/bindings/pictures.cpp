// SPDX-License-Identifier: Apache-2.0
//
// Pictures as inputs.
#include "pictures.hpp"

#include <optional>
#include <tuple>
#include <utility>

#include "taking.hpp"

namespace morton::python {
namespace {

using Resize = PicturePreparation::Resize;

bool is_number(py::handle value) {
  return py::isinstance<py::int_>(value) && !py::isinstance<py::bool_>(value);
}

/// One number twice, or (height, width). Throws UsageError for what is neither.
PictureSize size_from(py::handle value, const char* option) {
  PictureSize size;
  try {
    if (is_number(value)) {
      size.height = size.width = value.cast<std::int64_t>();
    } else {
      std::tie(size.height, size.width) = value.cast<std::pair<std::int64_t, std::int64_t>>();
    }
  } catch (const py::cast_error&) {
    refuse_type(option, value);
  }
  if (size.height > 0 && size.width > 0) return size;
  throw UsageError(setting(option) + ": expected pixels, above 0");
}

void take_resize(py::dict& given, PicturePreparation& preparation) {
  if (!given.contains("resize")) return;
  const py::object value = given.attr("pop")("resize");
  preparation.resized = {};
  if (py::isinstance<py::str>(value)) {
    preparation.resize = choice<Resize>(value, "resize",
                                        {{"stretch", Resize::stretch},
                                         {"fit", Resize::fit},
                                         {"cover", Resize::cover},
                                         {"none", Resize::keep}});
    return;
  }
  preparation.resized = size_from(value, "resize");
  preparation.resize = is_number(value) ? Resize::shorter_side : Resize::stretch;
}

void take_crop(py::dict& given, PicturePreparation& preparation) {
  if (!given.contains("crop")) return;
  const py::object value = given.attr("pop")("crop");
  if (!py::isinstance<py::str>(value)) {
    preparation.crop = size_from(value, "crop");
    return;
  }
  using Crop = std::optional<PictureSize>;
  preparation.crop = choice<Crop>(value, "crop", {{"input", PictureSize{}}, {"none", {}}});
}

void take_filter(py::dict& given, PicturePreparation& preparation) {
  using Filter = PicturePreparation::Filter;
  if (given.contains("filter") && preparation.resize == Resize::keep) {
    throw UsageError(setting("filter") + ": nothing is resized; give " + setting("resize") +
                     " or " + setting("preset"));
  }
  take_word<Filter>(given, "filter", preparation.filter,
                    {{"bilinear", Filter::bilinear}, {"bicubic", Filter::bicubic}});
}

DType type_named(py::handle type) {
  py::object name;
  try {
    name = py::dtype::from_args(py::reinterpret_borrow<py::object>(type)).attr("name");
  } catch (const py::error_already_set&) {
    refuse_type("dtype", type);
  }
  return choice<DType>(name, "dtype",
                       {{"float32", DType::f32},
                        {"float16", DType::f16},
                        {"float64", DType::f64},
                        {"uint8", DType::u8}});
}

/// The picture of a file, u8 [H, W, C]. Throws ModelError, and UsageError for other files.
Tensor picture_of_file(const std::string& path) {
  const std::vector<NamedTensor> read = read_tensors(path);
  if (read.size() == 1 && read[0].tensor.dtype() == DType::u8 &&
      read[0].tensor.shape().size() == 3) {
    return read[0].tensor;
  }
  throw UsageError(path + ": expected a picture, PNG or JPEG");
}

/// A path, or an array of levels, [H, W, C] or [H, W].
Tensor picture_from(py::handle picture, std::vector<py::array>& kept) {
  const bool is_path = py::isinstance<py::str>(picture) || py::hasattr(picture, "__fspath__");
  if (is_path) {
    const auto path = py::module_::import("os").attr("fspath")(picture).cast<std::string>();
    const py::gil_scoped_release released;
    return picture_of_file(path);
  }
  const Tensor levels = tensor_of(picture, "picture", kept);
  if (levels.shape().size() != 2) return levels;
  return levels.reshaped({levels.shape()[0], levels.shape()[1], 1});
}

py::array input_of_picture(py::handle picture, py::handle shape, py::handle dtype,
                           const py::kwargs& given) {
  const PicturePreparation preparation = picture_preparation(py::dict(**given), "picture_to_input");
  const DType type = type_named(dtype);
  Shape extents = input_shape(shape);
  if (extents.size() == 4 && extents[0] < 0) extents[0] = 1;
  std::vector<py::array> kept;
  const Tensor levels = picture_from(picture, kept);
  std::optional<Tensor> made;
  {
    const py::gil_scoped_release released;
    made = picture_to_input(levels, type, extents, preparation);
  }
  return array_of(std::move(*made));
}

py::array read_picture(py::handle path) {
  std::vector<py::array> kept;
  const py::object text = py::module_::import("os").attr("fspath")(path);
  return array_of(picture_from(text, kept));
}

void write_picture_file(py::handle path, py::handle picture) {
  std::vector<py::array> kept;
  const auto text = py::module_::import("os").attr("fspath")(path).cast<std::string>();
  const Tensor levels = picture_from(picture, kept);
  const py::gil_scoped_release released;
  write_picture(text, levels);
}

/// Of levels / 255, which data sets of pictures give to a network.
py::dict picture_normalization(const py::kwargs& given) {
  PicturePreparation preparation = picture_preparation(py::dict(**given), "picture_normalization");
  const auto full = static_cast<float>(preparation.full);
  if (full != 1.0F && preparation.deviation.empty()) preparation.deviation = {1.0F};
  for (float& mean : preparation.mean) mean /= full;
  for (float& deviation : preparation.deviation) deviation /= full;
  py::dict made;
  made["mean"] = preparation.mean;
  made["deviation"] = preparation.deviation;
  return made;
}

}  // namespace

PicturePreparation picture_preparation(const py::dict& options, const std::string& of) {
  py::dict given(options.attr("copy")());
  PicturePreparation preparation;
  if (given.contains("preset")) {
    std::string preset;
    take(given, "preset", preset);
    preparation = picture_preset(preset);
  }
  take_resize(given, preparation);
  take_crop(given, preparation);
  take_filter(given, preparation);
  using Colours = PicturePreparation::Colours;
  take_word<Colours>(given, "colours", preparation.colours,
                     {{"rgb", Colours::rgb}, {"bgr", Colours::bgr}});
  take(given, "border", preparation.border);
  take(given, "full", preparation.full);
  take(given, "mean", preparation.mean);
  take(given, "deviation", preparation.deviation);
  require_taken(given, of);
  return preparation;
}

Shape input_shape(py::handle extents) {
  Shape shape;
  try {
    for (const py::handle extent : py::reinterpret_borrow<py::iterable>(extents)) {
      const bool is_open = extent.is_none() || py::isinstance<py::str>(extent);
      shape.push_back(is_open ? -1 : extent.cast<std::int64_t>());
    }
  } catch (const py::cast_error&) {
    throw UsageError("shape: expected extents, numbers, or names of open ones");
  }
  return shape;
}

void bind_pictures(py::module_& module) {
  module.def("read_picture", &read_picture, py::arg("path"),
             "The levels of a PNG or JPEG file, turned upright: uint8 [height, width, channels].");
  module.def("write_picture", &write_picture_file, py::arg("path"), py::arg("picture"),
             "Writes levels, uint8 [height, width, channels] or [height, width], as PNG. The file "
             "appears whole or not at all.");
  module.def(
      "picture_to_input", &input_of_picture, py::arg("picture"), py::arg("shape"),
      py::arg("dtype") = "float32",
      "A picture as an input of this shape, in which open extents may be names or None "
      "(docs/pictures.md). `picture` is a path or levels, uint8 [height, width, channels]. Options "
      "are those of C++'s PicturePreparation beside a preset: preset, resize (\"stretch\", "
      "\"fit\", \"cover\", \"none\", the shorter side, or (height, width)), crop (\"input\", "
      "\"none\", a side, or (height, width)), filter (\"bilinear\", \"bicubic\"), colours "
      "(\"rgb\", \"bgr\"), border, full, mean, deviation.");
  module.def("picture_normalization", &picture_normalization,
             "What `picture_to_input` with these options subtracts from levels / 255, and divides "
             "by: a dict of `mean` and `deviation` for Trainer.train, evaluate and quantize.");
}

}  // namespace morton::python
