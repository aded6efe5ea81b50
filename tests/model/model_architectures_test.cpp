// SPDX-License-Identifier: Apache-2.0
//
// Every network that `morton new` makes, layer by layer against the reference, on small images.
#include "model/model_check.hpp"
#include "morton/architectures.hpp"
#include "morton/compare.hpp"
#include "support/devices.hpp"
#include "support/long_run.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// A network, and the side of its images where it leaves that open.
struct Subject {
  const char* name;
  std::int64_t side;
};

/// Products of more multiplications are checked in some output channels.
constexpr std::int64_t kMostMultiplications = std::int64_t{1} << 22;

std::vector<NamedTensor> inputs_of(const CompiledModel& model) {
  std::vector<NamedTensor> inputs;
  std::uint64_t seed = 60;
  for (const PortInfo& port : model.inputs()) {
    inputs.push_back({port.name, random_tensor(port.shape, seed++)});
    if (port.dtype == DType::f32) continue;
    // Numbers of words.
    Tensor words = Tensor::allocate(port.dtype, port.shape);
    for (std::int64_t e = 0; e < words.size(); ++e) words.set(e, static_cast<double>(e * 37 % 100));
    inputs.back().tensor = std::move(words);
  }
  return inputs;
}

CompileOptions options_for(const Model& model, const Subject& subject, std::int64_t batch) {
  CompileOptions options;
  options.batch = batch;
  for (const PortInfo& port : model.inputs()) {
    Shape shape = port.shape;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (!port.symbols[d].empty()) shape[d] = port.symbols[d] == "batch" ? batch : subject.side;
    }
    options.shapes[port.name] = shape;
  }
  return options;
}

class ModelArchitectures : public ModelTest {
 protected:
  void expect_right(const Subject& subject) {
    const Model model = new_model(subject.name, 1);
    const auto unsupported = model.summary().unsupported;
    if (!unsupported.empty()) GTEST_SKIP() << subject.name << ": " << unsupported[0].second.print();
    for (const std::int64_t batch : {1, 2}) {
      if (batch == 1 && !test::is_long_run()) continue;
      SCOPED_TRACE(std::string(subject.name) + ", batch " + std::to_string(batch));
      const CompiledModel compiled = compile(model, device(), options_for(model, subject, batch));
      const LayerReport report = compare_layers(compiled, inputs_of(compiled),
                                                {.most_multiplications = kMostMultiplications});
      EXPECT_GE(report.layers.size(), 2U);
      EXPECT_EQ(report.layers.back().name, compiled.outputs().back().name);
      for (const LayerComparison& layer : report.layers) {
        EXPECT_EQ(layer.wrong, 0) << layer.name << " by " << layer.kernels.back() << ": "
                                  << layer.first_wrong;
        if (layer.dtype != DType::f32) continue;
        EXPECT_GT(layer.deviation, 1e-3) << layer.name;
        EXPECT_LT(layer.deviation, 1e3) << layer.name;
      }
    }
  }
};
MORTON_MODELS_ON_EVERY_DEVICE(ModelArchitectures);

TEST_P(ModelArchitectures, OfTheSources) {
  for (const Subject& subject :
       {Subject{"r17-256", 0}, Subject{"c18-mlp", 0}, Subject{"c18-cnn", 0},
        Subject{"fashion-cnn", 0}, Subject{"lenet5", 0}}) {
    expect_right(subject);
  }
}

TEST_P(ModelArchitectures, MobilenetV2) { expect_right({"mobilenet_v2", 33}); }

TEST_P(ModelArchitectures, Espcn) { expect_right({"espcn", 17}); }

TEST_P(ModelArchitectures, OfSequences) {
  for (const Subject& subject : {Subject{"lstm_rows", 0}, Subject{"lstm_tagger", 9},
                                 Subject{"crnn", 32}, Subject{"gru_speech", 24}}) {
    expect_right(subject);
  }
}

TEST_P(ModelArchitectures, TheOthers) {
  if (!test::is_long_run()) GTEST_SKIP() << "takes minutes; ./dev check --long runs it";
  for (const Subject& subject :
       {Subject{"resnet18", 33}, Subject{"squeezenet1_1", 33}, Subject{"shufflenet_v2", 33},
        Subject{"unet", 16}, Subject{"tiny_yolo", 32}, Subject{"vgg16", 0}, Subject{"resnet50", 33},
        Subject{"resnext50_32x4d", 33}, Subject{"densenet121", 33}, Subject{"efficientnet_b0", 33},
        Subject{"vit_b_16", 0}, Subject{"unet3d", 16}}) {
    expect_right(subject);
  }
}

}  // namespace
}  // namespace morton::test
