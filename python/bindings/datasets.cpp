// SPDX-License-Identifier: Apache-2.0
//
// Data sets.
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "examples.hpp"
#include "pictures.hpp"

namespace morton::python {
namespace {

bool is_whole(DType type) {
  constexpr std::array kWhole{DType::i8,  DType::u8,  DType::i16,    DType::u16, DType::i32,
                              DType::u32, DType::i64, DType::u64,    DType::i4,  DType::u4,
                              DType::i2,  DType::u2,  DType::boolean};
  return std::ranges::find(kWhole, type) != kWhole.end();
}

template <typename Label>
void require_labels(const Tensor& given) {
  for (const Label label : given.as<Label>()) {
    if (std::in_range<std::int32_t>(label) && label >= 0) continue;
    throw UsageError("targets: " + std::to_string(label) +
                     " is no label; labels are whole numbers from 0 to 2147483647");
  }
}

/// Whole numbers as labels, i32. Throws UsageError for one that is none.
Tensor labels_of(const Tensor& given) {
  // All other types are narrower, and none of their values is lost in i32.
  if (given.dtype() == DType::i64) require_labels<std::int64_t>(given);
  if (given.dtype() == DType::u64) require_labels<std::uint64_t>(given);
  if (given.dtype() == DType::u32) require_labels<std::uint32_t>(given);
  Tensor labels = given.converted(DType::i32);
  require_labels<std::int32_t>(labels);
  return labels;
}

std::int64_t examples_of(const Tensor& inputs, const Tensor& targets) {
  if (inputs.shape().empty() || targets.shape().empty()) {
    throw UsageError("inputs and targets: a single number has no examples");
  }
  if (inputs.shape()[0] != targets.shape()[0]) {
    throw UsageError("inputs have " + std::to_string(inputs.shape()[0]) + " examples and targets " +
                     std::to_string(targets.shape()[0]) + "; they must have as many as each other");
  }
  return inputs.shape()[0];
}

}  // namespace

Examples examples_from(py::handle inputs, py::handle targets, std::vector<py::array>& kept) {
  Examples made{tensor_of(inputs, "inputs", kept), tensor_of(targets, "targets", kept), 0};
  made.count = examples_of(made.inputs, made.targets);
  const bool is_real = !is_whole(made.targets.dtype());
  if (!is_real) {
    made.targets = labels_of(made.targets);
  } else if (made.targets.dtype() != DType::f32) {
    made.targets = made.targets.converted(DType::f32);
  }
  return made;
}

namespace {

Dataset read_data(const std::string& path, const std::string& split, py::handle input,
                  const py::kwargs& given) {
  if (split != "train" && split != "test") {
    throw UsageError("split " + split + ": expected train or test");
  }
  const Split part = split == "train" ? Split::train : Split::test;
  const PicturePreparation preparation = picture_preparation(py::dict(**given), "Dataset.read");
  if (!given.empty() && input.is_none()) {
    throw UsageError(setting("input") +
                     ": pictures are prepared for a model; give the shape of its input, "
                     "model.inputs[0].shape");
  }
  if (input.is_none()) {
    const py::gil_scoped_release released;
    return read_dataset(path, part);
  }
  const Shape shape = input_shape(input);
  const py::gil_scoped_release released;
  return read_dataset(path, part, shape, preparation);
}

py::tuple parts_of_data(const Dataset& data, double share, std::uint64_t seed) {
  auto [rest, part] = split_off(data, share, seed);
  return py::make_tuple(std::move(rest), std::move(part));
}

/// Labels are whole numbers, one for each example; other targets are values.
Dataset data_of_arrays(py::handle inputs, py::handle targets) {
  std::vector<py::array> kept;
  const Examples given = examples_from(inputs, targets, kept);
  Dataset data;
  data.where = "arrays";
  data.inputs =
      given.inputs.dtype() == DType::u8 ? given.inputs.clone() : given.inputs.converted(DType::f32);
  data.targets = given.targets.clone();
  if (data.targets.dtype() != DType::i32) return data;
  for (const std::int32_t label : data.targets.as<std::int32_t>()) {
    data.classes = std::max(data.classes, std::int64_t{label} + 1);
  }
  return data;
}

}  // namespace

void bind_datasets(py::module_& module) {
  py::class_<Dataset>(module, "Dataset", "Examples, and what a network shall say of each.")
      .def_static(
          "read", &read_data, py::arg("path"), py::arg("split") = "train",
          py::arg("input") = py::none(),
          "A folder of MNIST's or CIFAR-10's files, of pictures in a folder for each class, "
          "or an .npz archive (docs/training.md). `split` is train or test. Pictures of any sizes "
          "are prepared for an `input` of that shape; options are those of picture_to_input: "
          "preset, resize, crop, filter, colours, border. The trainer takes mean and deviation.")
      .def_static(
          "of_arrays", &data_of_arrays, py::arg("inputs"), py::arg("targets"),
          "Copies arrays: inputs u8 [N, C, H, W] or real [N, ...]; targets are labels where "
          "they are whole numbers, else values.")
      .def("__len__", &Dataset::size)
      .def("split_off", &parts_of_data, py::arg("share"), py::arg("seed") = 1,
           "Two data sets: what is left, and this share of the examples, chosen by the seed.")
      .def_property_readonly(
          "inputs", [](const Dataset& data) { return array_of(data.inputs.clone()); },
          "A copy of the examples: levels, uint8 [N, C, H, W], or float32 [N, ...].")
      .def_property_readonly(
          "targets", [](const Dataset& data) { return array_of(data.targets.clone()); },
          "A copy of the labels, int32 [N], or of the values, float32 [N, ...].")
      .def_readonly("classes", &Dataset::classes,
                    "How many classes labels tell apart; 0 where targets are values.")
      .def_readonly("class_names", &Dataset::class_names, "None, or one for each class.");
}

}  // namespace morton::python
