// SPDX-License-Identifier: Apache-2.0
#include "faults/small_training.hpp"

namespace morton::faults {
namespace {

constexpr std::int64_t kBatch = 3, kExamples = 24, kClasses = 10;

}  // namespace

Model small_model() { return new_model("c18-mlp", 7); }

TrainerOptions small_training() {
  TrainerOptions options;
  options.batch = kBatch;
  options.optimizer.kind = OptimizerOptions::Kind::adam;
  return options;
}

Dataset small_data() {
  Dataset data;
  data.where = "made-up examples";
  data.inputs = small_numbers({kExamples, 28, 28}, 3);
  data.targets = Tensor::allocate(DType::i32, {kExamples});
  for (std::int64_t i = 0; i < kExamples; ++i)
    data.targets.set(i, static_cast<double>(i % kClasses));
  data.classes = kClasses;
  return data;
}

TrainingRunOptions small_run(const std::string& folder) {
  TrainingRunOptions run;
  run.steps = 3;
  run.epochs = 1;
  run.checkpoint_every = 1;
  run.folder = folder;
  run.start = TrainingRunOptions::Start::resume;
  return run;
}

Tensor small_numbers(const Shape& shape, std::uint64_t seed) {
  Tensor tensor = Tensor::allocate(DType::f32, shape);
  for (float& value : tensor.as_mutable<float>()) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<float>(seed >> 40U) / static_cast<float>(1U << 24U);
  }
  return tensor;
}

std::vector<NamedTensor> small_inputs(const CompiledModel& compiled, std::uint64_t seed) {
  std::vector<NamedTensor> inputs;
  for (const PortInfo& port : compiled.inputs())
    inputs.push_back({port.name, small_numbers(port.shape, seed++)});
  return inputs;
}

std::string bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data()), tensor.bytes()};
}

std::string bytes_of(const std::vector<NamedTensor>& tensors) {
  std::string bytes;
  for (const NamedTensor& named : tensors) bytes += bytes_of(named.tensor);
  return bytes;
}

}  // namespace morton::faults
