// SPDX-License-Identifier: Apache-2.0
#include "check/compare_subject.hpp"

#include <filesystem>

#include "check/test_values.hpp"
#include "common/sources.hpp"
#include "morton/error.hpp"
#include "morton/files.hpp"

namespace morton::cli {
namespace {

/// A folder with input_0.pb, or the first test_data_set_N below it.
std::filesystem::path test_data_folder(const std::string& path) {
  const std::filesystem::path folder = path;
  if (std::filesystem::exists(folder / "input_0.pb") ||
      std::filesystem::exists(folder / "output_0.pb")) {
    return folder;
  }
  const std::filesystem::path first = folder / "test_data_set_0";
  if (std::filesystem::is_directory(first)) return first;
  throw UsageError("--ref " + path +
                   ": holds neither output_0.pb nor test_data_set_0, as ONNX's test data do");
}

Subject read_test_data(const std::string& reference, const Model& model, CompileOptions& compile) {
  const std::filesystem::path folder = test_data_folder(reference);
  Subject subject;
  const std::vector<TestValue> inputs = test_values(folder.string(), "input", model.inputs());
  take_list_lengths(inputs, compile.shapes);
  subject.inputs = tensors_of(inputs);
  subject.expected = tensors_of(test_values(folder.string(), "output", model.outputs()));
  subject.text = folder.string();
  return subject;
}

/// Arrays of a file: those that are inputs of the model are given to it.
Subject read_arrays(const std::string& reference, const Model& model) {
  Subject subject;
  subject.text = reference;
  const std::vector<PortInfo> inputs = model.inputs();
  for (NamedTensor& tensor : read_tensors(reference)) {
    const bool is_input = takes_files(inputs, tensor.name);
    (is_input ? subject.inputs : subject.expected).push_back(std::move(tensor));
  }
  if (subject.expected.empty()) {
    throw UsageError("--ref " + reference + ": holds no array but inputs of the model");
  }
  return subject;
}

void set_shapes(const std::vector<NamedTensor>& inputs, CompileOptions& compile) {
  for (const NamedTensor& input : inputs) compile.shapes[input.name] = input.tensor.shape();
}

}  // namespace

Subject read_subject(const std::string& reference, const Model& model, CompileOptions& compile) {
  Subject subject = std::filesystem::is_directory(reference)
                        ? read_test_data(reference, model, compile)
                        : read_arrays(reference, model);
  set_shapes(subject.inputs, compile);
  return subject;
}

}  // namespace morton::cli
