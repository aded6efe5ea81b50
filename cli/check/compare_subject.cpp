// SPDX-License-Identifier: Apache-2.0
#include "check/compare_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "morton/error.hpp"
#include "morton/files.hpp"

namespace morton::cli {
namespace {

/// The files "input_0.pb", "input_1.pb", ... of a folder, in that order.
std::vector<std::string> numbered_files(const std::filesystem::path& folder,
                                        const std::string& kind) {
  std::vector<std::string> files;
  for (int i = 0;; ++i) {
    const std::filesystem::path file = folder / (kind + "_" + std::to_string(i) + ".pb");
    if (!std::filesystem::exists(file)) return files;
    files.push_back(file.string());
  }
}

/// ONNX's test data: the i-th file belongs to the i-th port, whatever name it holds.
std::vector<NamedTensor> read_ports(const std::filesystem::path& folder, const std::string& kind,
                                    const std::vector<PortInfo>& ports) {
  const std::vector<std::string> files = numbered_files(folder, kind);
  if (files.size() != ports.size()) {
    throw UsageError(fmt::format("--ref {}: the model has {} {}s, the folder {} files {}_N.pb",
                                 folder.string(), ports.size(), kind, files.size(), kind));
  }
  std::vector<NamedTensor> tensors;
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::vector<NamedTensor> read = read_tensors(files[i]);
    tensors.push_back({ports[i].name, std::move(read.front().tensor)});
  }
  return tensors;
}

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

Subject read_test_data(const std::string& reference, const Model& model) {
  const std::filesystem::path folder = test_data_folder(reference);
  Subject subject;
  subject.inputs = read_ports(folder, "input", model.inputs());
  subject.expected = read_ports(folder, "output", model.outputs());
  subject.text = folder.string();
  return subject;
}

/// Arrays of a file: those that are inputs of the model are given to it.
Subject read_arrays(const std::string& reference, const Model& model) {
  Subject subject;
  subject.text = reference;
  const std::vector<PortInfo> inputs = model.inputs();
  for (NamedTensor& tensor : read_tensors(reference)) {
    const bool is_input =
        std::ranges::any_of(inputs, [&](const PortInfo& port) { return port.name == tensor.name; });
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
  Subject subject = std::filesystem::is_directory(reference) ? read_test_data(reference, model)
                                                             : read_arrays(reference, model);
  set_shapes(subject.inputs, compile);
  return subject;
}

}  // namespace morton::cli
