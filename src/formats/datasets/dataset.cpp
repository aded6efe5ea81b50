// SPDX-License-Identifier: Apache-2.0
#include "morton/dataset.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <span>

#include "base/error.hpp"
#include "base/shape.hpp"
#include "base/text/number_text.hpp"
#include "formats/datasets/dataset_kinds.hpp"

namespace morton {
using namespace formats;
namespace {

/// More classes than that are mistakes: targets that were meant as values.
constexpr std::int64_t kMostClasses = std::int64_t{1} << 20;

std::array<DatasetKind, 4> kinds() {
  return {idx_dataset(), cifar_dataset(), npz_dataset(), folder_dataset()};
}

std::string_view name_of(Split split) { return split == Split::train ? "training" : "test"; }

DatasetKind kind_of(const std::filesystem::path& path) {
  std::error_code status;
  if (!std::filesystem::exists(path, status)) {
    throw ModelError(path.string() + ": there is no such file or folder of data");
  }
  std::string expected;
  for (const DatasetKind& kind : kinds()) {
    if (kind.recognizes(path)) return kind;
    expected += "\n- " + std::string(kind.files);
  }
  throw ModelError(path.string() + ": no data set that Morton knows; expected one of" + expected);
}

void require_finite(const Tensor& tensor, const std::string& where, const char* what) {
  if (tensor.dtype() != DType::f32) return;
  const std::span<const float> values = tensor.as<float>();
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
  if (bad == values.end()) return;
  const auto in_example = static_cast<std::int64_t>(values.size()) / tensor.shape()[0];
  throw ModelError(where + ": " + what + " of example " +
                   std::to_string((bad - values.begin()) / in_example) + ": expected finite " +
                   "numbers, got " + std::to_string(*bad));
}

/// What every kind must keep.
void check_dataset(Dataset& data) {
  require_examples(data);
  require_finite(data.inputs, data.where, "inputs");
  require_finite(data.targets, data.where, "targets");
  if (data.targets.dtype() != DType::i32) return;
  if (data.classes > 0) return require_labels_below(data, data.classes);
  const auto labels = data.targets.as<std::int32_t>();
  data.classes = std::int64_t{*std::max_element(labels.begin(), labels.end())} + 1;
  if (data.classes > kMostClasses) {
    throw ModelError(data.where + ": a label of " + std::to_string(data.classes - 1) +
                     "; expected fewer than " + std::to_string(kMostClasses) +
                     " classes (values to approach are kept as f32)");
  }
}

Dataset read_part(const std::string& path, Split split, const PictureForm* form) {
  const DatasetKind kind = kind_of(path);
  if (!kind.has(path, split)) {
    const bool test = split == Split::test;
    Message text = path + ": has no " + std::string(name_of(split)) + " part (as " +
                   std::string(kind.files) + ")";
    if (test) {
      text += "; " + setting("part", "train") + " shows the training examples, " +
              setting("validation", "share") + " holds some of them back";
    }
    throw UsageError(text);
  }
  if (form && !kind.prepares) {
    throw UsageError(path + ": " + setting("resize") + ", " + setting("crop") + " and " +
                     setting("preset") + " are for a folder of pictures for each class");
  }
  Dataset data = kind.read(path, split, form);
  check_dataset(data);
  return data;
}

/// What `call` returns; a folder that cannot be listed is an error of the data.
template <typename Call>
auto reading(const std::string& path, const Call& call) {
  try {
    return call();
  } catch (const std::filesystem::filesystem_error& error) {
    throw ModelError(path + ": cannot be read: " + error.code().message());
  }
}

}  // namespace

void formats::require_examples(const Dataset& data) {
  const Shape& inputs = data.inputs.shape();
  const Shape& targets = data.targets.shape();
  if (inputs.empty() || targets.empty() || inputs[0] != targets[0]) {
    throw ModelError(data.where + ": inputs " + to_string(inputs) + " and targets " +
                     to_string(targets) + " are not of as many examples");
  }
  if (data.inputs.size() == 0 || data.targets.size() == 0) {
    throw ModelError(data.where + ": holds no examples");
  }
  const DType input = data.inputs.dtype();
  const DType target = data.targets.dtype();
  const bool labels = target == DType::i32 && data.targets.size() == inputs[0];
  if ((input == DType::u8 || input == DType::f32) &&
      (labels || (target == DType::f32 && !data.has_labels()))) {
    return;
  }
  throw ModelError(data.where +
                   ": expected inputs u8 or f32, and targets i32, a label for each "
                   "example, or f32 (then no classes), got " +
                   std::string(name_of(input)) + " " + to_string(inputs) + " and " +
                   std::string(name_of(target)) + " " + to_string(targets));
}

Dataset read_dataset(const std::string& path, Split split) {
  return reading(path, [&] { return read_part(path, split, nullptr); });
}

Dataset read_dataset(const std::string& path, Split split, const Shape& input,
                     const PicturePreparation& preparation) {
  const PictureForm form{input, preparation};
  return reading(path, [&] { return read_part(path, split, &form); });
}

bool has_split(const std::string& path, Split split) {
  return reading(path, [&] { return kind_of(path).has(path, split); });
}

void require_labels_below(const Dataset& data, std::int64_t classes) {
  if (!data.has_labels() && data.targets.dtype() != DType::i32) {
    throw UsageError(data.where +
                     ": its targets are values, where labels of classes are expected (integers)");
  }
  const auto labels = data.targets.as<std::int32_t>();
  const auto beyond = std::find_if(labels.begin(), labels.end(), [&](std::int32_t label) {
    return label < 0 || label >= classes;
  });
  if (beyond == labels.end()) return;
  throw ModelError(data.where + ": example " + std::to_string(beyond - labels.begin()) +
                   " has the label " + std::to_string(*beyond) + "; expected 0 to " +
                   std::to_string(classes - 1) + " for " + std::to_string(classes) + " classes");
}

Tensor formats::labels_from(const Tensor& integers, const std::string& where) {
  const Shape& shape = integers.shape();
  const bool one_each = shape.size() == 1 || (shape.size() == 2 && shape[1] == 1);
  if (!one_each) {
    throw ModelError(where + ": expected an integer for each example, [N] or [N, 1], got " +
                     to_string(shape));
  }
  Tensor labels = Tensor::allocate(DType::i32, {shape[0]});
  const std::span<std::int32_t> to = labels.as_mutable<std::int32_t>();
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    const double label = integers.at(i);
    if (label < 0.0 || label >= static_cast<double>(kMostClasses)) {
      throw ModelError(where + ": example " + std::to_string(i) + " has the label " +
                       exact_text(label) + "; expected " +
                       (label < 0.0 ? "0 or more" : "0 to " + std::to_string(kMostClasses - 1)));
    }
    to[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(label);
  }
  return labels;
}

std::string formats::printable_name(std::string_view name) {
  std::string result(name);
  for (char& c : result) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) c = '?';
  }
  return result;
}

}  // namespace morton
