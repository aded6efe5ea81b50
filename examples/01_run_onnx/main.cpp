// SPDX-License-Identifier: Apache-2.0
//
// Lesson 1: run an ONNX model on an OpenCL device.
//
//     build/examples/01_run_onnx                                 a seven, with LeNet-5
//     build/examples/01_run_onnx DIGIT.png [MODEL.onnx [DEVICE]]
//
// The paths that are assumed hold in the repository's root.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <morton/morton.hpp>
#include <span>
#include <string>
#include <vector>

namespace {

void classify(const std::string& image_path, const std::string& model_path,
              const std::string& device_name) {
  // 1. A device. "auto" prefers a GPU and falls back to the CPU; "0:1" or part of a name pick one.
  const morton::Device device = morton::Device::open(device_name);
  std::printf("device: %s\n", device.description().c_str());

  // 2. A model, as its file states it: shapes may still be open, nothing is chosen yet.
  const morton::Model model = morton::Model::load(model_path);

  // 3. Both together: kernels and data formats are chosen, programs are built (or come from the
  //    cache), and the weights go to the device. Do this once; the result can be shared.
  morton::CompileOptions options;
  options.batch = 1;
  const morton::CompiledModel compiled = morton::compile(model, device, options);

  // 4. Input: a tensor of the shape that the compiled model states. For an image there is a helper;
  //    any memory of yours can be passed with morton::Tensor::borrow.
  const morton::PortInfo port = compiled.inputs().front();
  const morton::Tensor pixels = morton::read_tensors(image_path).front().tensor;
  const morton::Tensor digit = morton::image_to_input(pixels, port.shape);

  // 5. A session holds the memory of one run after another. Each thread has its own.
  morton::Session session(compiled);
  const std::vector<morton::NamedTensor> inputs{{port.name, digit}};
  const std::vector<morton::NamedTensor> outputs = session.run(inputs);

  // 6. Output: ten probabilities, one for each digit.
  const std::span<const float> probabilities = outputs.front().tensor.as<float>();
  const auto best = std::ranges::max_element(probabilities);
  std::printf("%s shows a %td (%.2f %%)\n", image_path.c_str(), best - probabilities.begin(),
              100.0 * static_cast<double>(*best));
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, const char* otherwise) {
    return std::string(argc > i ? argv[i] : otherwise);
  };
  try {
    classify(argument(1, "examples/data/digit_7.png"), argument(2, "models/lenet5.onnx"),
             argument(3, ""));
  } catch (const morton::Error& error) {
    // Every error of Morton has a class: who must act. See morton/error.hpp.
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
