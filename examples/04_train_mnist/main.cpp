// SPDX-License-Identifier: Apache-2.0
//
// Lesson 4: a network that learns handwritten digits on an OpenCL device.
//
//     build/examples/04_train_mnist                               LeNet-5, 200 steps
//     build/examples/04_train_mnist [FOLDER [STEPS [MODEL [DEVICE]]]]
//
// FOLDER holds IDX files as data/mnist does; MODEL is an ONNX file, or the name of a network that
// `morton new` makes. The paths that are assumed hold in the repository's root.

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <morton/morton.hpp>
#include <stdexcept>
#include <string>
#include <system_error>

namespace {

/// Learns, and returns the share of the test digits that the network then knows.
double learn(const std::string& folder, std::int64_t steps, const std::string& model_name,
             const std::string& device_name) {
  // 1. Data: every example in memory, pictures as levels, and a label for each.
  const morton::Dataset training = morton::read_dataset(folder, morton::Split::train);
  const morton::Dataset test = morton::read_dataset(folder, morton::Split::test);

  // 2. A network, with random weights or with those that a file brings.
  const morton::Model model = std::filesystem::exists(model_name)
                                  ? morton::Model::load(model_name)
                                  : morton::new_model(model_name, 1);

  // 3. A trainer: forward pass, loss, gradients and update become one plan for the device. The
  //    parameters stay there.
  const morton::Device device = morton::Device::open(device_name);
  morton::TrainerOptions options;
  options.batch = 50;
  options.optimizer.kind = morton::OptimizerOptions::Kind::adam;
  morton::Trainer trainer(model, device, options);
  std::printf("%s: %lld parameters learn from %lld digits on %s\n", model_name.c_str(),
              static_cast<long long>(trainer.summary().trained_elements),
              static_cast<long long>(training.size()), device.description().c_str());

  // 4. A run leads the trainer through the data. With a folder it would keep checkpoints and logs
  //    there, and could be stopped and resumed.
  morton::TrainingRunOptions run;
  run.steps = steps;
  run.learning_rate = 0.001;
  run.schedule = "cosine:warmup=20";
  run.progress = [](const morton::TrainingProgress& progress) {
    if (progress.step % 50 != 0) return;
    std::printf("step %4lld: loss %.4f, accuracy %.2f %%\n", static_cast<long long>(progress.step),
                progress.loss, 100.0 * progress.accuracy.value_or(0.0));
  };
  const morton::TrainingReport report = morton::train(trainer, training, nullptr, run);
  std::printf("%.0f digits a second\n", report.images_per_second);

  // 5. What has learned is a model as any other: compile it, save it, run it elsewhere.
  const morton::Model learned = trainer.model();
  morton::CompileOptions compile;
  compile.batch = 100;
  return morton::evaluate(morton::compile(learned, device, compile), test).accuracy();
}

std::int64_t number_of_steps(const std::string& text) {
  std::int64_t value = 0;
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem == std::errc() && rest == text.data() + text.size() && value > 0) return value;
  throw std::invalid_argument("STEPS: expected a whole number above 0, got '" + text + "'");
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, const char* otherwise) {
    return std::string(argc > i ? argv[i] : otherwise);
  };
  if (argument(1, "") == "--help") {
    std::puts("usage: 04_train_mnist [FOLDER [STEPS [MODEL [DEVICE]]]]");
    return 0;
  }
  try {
    const std::int64_t steps = number_of_steps(argument(2, "200"));
    const double accuracy =
        learn(argument(1, "data/mnist"), steps, argument(3, "lenet5"), argument(4, ""));
    std::printf("%.2f %% of the test digits are recognized\n", 100.0 * accuracy);
    // An untrained network guesses one digit in ten.
    return accuracy > 0.5 || steps < 200 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
