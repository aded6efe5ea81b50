// SPDX-License-Identifier: Apache-2.0
#include "check/test_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "morton/error.hpp"
#include "morton/files.hpp"

namespace morton::cli {
namespace {

/// "<stem>_0.pb", "<stem>_1.pb" and so on, as far as there are any.
std::vector<std::string> files_of_stem(const std::string& folder, const std::string& stem) {
  std::vector<std::string> files;
  for (;;) {
    std::string file = fmt::format("{}/{}_{}.pb", folder, stem, files.size());
    if (!std::ifstream(file).is_open()) return files;
    files.push_back(std::move(file));
  }
}

}  // namespace

std::vector<NamedTensor> TestValue::named() const {
  std::vector<NamedTensor> result;
  for (std::size_t i = 0; tensors && i < tensors->size(); ++i) {
    const std::string name =
        port.form.is_list ? element_name(port.name, static_cast<std::int64_t>(i)) : port.name;
    result.push_back({name, as_declared((*tensors)[i], port.dtype)});
  }
  return result;
}

std::vector<TestValue> test_values(const std::string& folder, const std::string& stem,
                                   const std::vector<PortInfo>& ports) {
  const std::vector<std::string> files = files_of_stem(folder, stem);
  if (files.size() != ports.size()) {
    throw ModelError(
        fmt::format("{}: {} {}s, the model has {}", folder, files.size(), stem, ports.size()));
  }
  std::vector<TestValue> values;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    values.push_back({ports[i], read_value(files[i], ports[i].form)});
  }
  return values;
}

std::vector<NamedTensor> tensors_of(const std::vector<TestValue>& values) {
  std::vector<NamedTensor> tensors;
  for (const TestValue& value : values) {
    std::vector<NamedTensor> named = value.named();
    std::ranges::move(named, std::back_inserter(tensors));
  }
  return tensors;
}

void take_list_lengths(const std::vector<TestValue>& values, std::map<std::string, Shape>& shapes) {
  for (const TestValue& value : values) {
    if (!value.port.form.is_list || !value.tensors) continue;
    shapes[value.port.name] = {static_cast<std::int64_t>(value.tensors->size())};
  }
}

Tensor as_declared(const Tensor& tensor, DType type) {
  if (type != DType::bf16 || tensor.dtype() != DType::u16) return tensor;
  Tensor result = Tensor::allocate(type, tensor.shape());
  std::copy_n(tensor.data(), tensor.bytes(), result.mutable_data());
  return result;
}

}  // namespace morton::cli
