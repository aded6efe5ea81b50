// SPDX-License-Identifier: Apache-2.0
//
// Lesson 5: a network of 8 bits from one of 32, and what that costs in exactness.
//
//     build/examples/05_quantize                                       LeNet-5
//     build/examples/05_quantize [MODEL.onnx [FOLDER [OUT.onnx [DEVICE]]]]
//
// FOLDER holds a data set as data/mnist does. With OUT the network of 8 bits is written there. The
// paths that are assumed hold in the repository's root.

#include <cstdio>
#include <exception>
#include <morton/morton.hpp>
#include <string>

namespace {

/// The share of the examples that the model knows.
double accuracy(const morton::Model& model, const morton::Device& device,
                const morton::Dataset& data) {
  morton::CompileOptions options;
  options.batch = 100;
  return morton::evaluate(morton::compile(model, device, options), data).accuracy();
}

void quantize(const std::string& model_path, const std::string& folder, const std::string& out,
              const std::string& device_name) {
  const morton::Device device = morton::Device::open(device_name);
  const morton::Model model = morton::Model::load(model_path);

  // 1. Examples show how large activations become. They are not those that the result is judged by.
  const morton::Dataset examples = morton::read_dataset(folder, morton::Split::train);
  const morton::QuantizedModel quantized = morton::quantize(model, device, examples);

  // 2. What became of each layer: its decibels are 6 for each bit that is left.
  for (const morton::QuantizedLayer& layer : quantized.layers) {
    if (layer.is_quantized) {
      std::printf("%-8s %5.1f dB, %lld bytes of weights, %lld before\n", layer.node.c_str(),
                  layer.signal_to_noise_db, static_cast<long long>(layer.weight_bytes_after),
                  static_cast<long long>(layer.weight_bytes_before));
    } else {
      std::printf("%-8s stays in f32: %s\n", layer.node.c_str(), layer.why_not.c_str());
    }
  }

  // 3. Both networks on examples that neither has seen.
  const morton::Dataset test = morton::read_dataset(folder, morton::Split::test);
  std::printf("of 32 bits: %.2f %% right; of 8 bits: %.2f %%\n",
              100.0 * accuracy(model, device, test),
              100.0 * accuracy(quantized.model, device, test));

  // 4. An ordinary ONNX file, with QuantizeLinear and DequantizeLinear around its layers.
  if (!out.empty()) quantized.model.save(out);
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, const char* otherwise) {
    return std::string(argc > i ? argv[i] : otherwise);
  };
  try {
    quantize(argument(1, "models/lenet5.onnx"), argument(2, "data/mnist"), argument(3, ""),
             argument(4, ""));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
