// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <set>

#include "graph/architectures.hpp"
#include "host/formats_files.hpp"
#include "ops/core/operator.hpp"
#include "support/compare.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

double deviation_of(const std::vector<double>& values) {
  double sum = 0.0;
  double squares = 0.0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  const auto count = static_cast<double>(values.size());
  return std::sqrt(squares / count - sum / count * (sum / count));
}

/// Shapes inferred for batch 1 and images of `size`, where the network leaves that open.
Graph shaped(Graph graph, std::int64_t size) {
  for (const TensorId id : graph.inputs) {
    for (Dimension& dimension : graph.tensor(id).declared) {
      if (dimension.symbol == "height" || dimension.symbol == "width") dimension = {size, ""};
    }
  }
  return test::with_shapes(graph, 1);
}

void expect_living_signals(const Graph& graph) {
  const GraphTensor& input = graph.tensor(graph.inputs.at(0));
  const std::vector<NamedTensor> inputs{{input.name, test::random_tensor(input.shape, 3)}};
  const auto layers = test::reference_outputs(graph, inputs);
  ASSERT_EQ(layers.size(), graph.outputs.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const double deviation = deviation_of(layers[i].value);
    EXPECT_GT(deviation, 1e-3) << graph.tensor(graph.outputs[i]).name;
    EXPECT_LT(deviation, 1e3) << graph.tensor(graph.outputs[i]).name;
  }
}

/// VGG-16, whose images are large, is looked at on a device (tests/model/).
class ArchitectureSignals : public ::testing::TestWithParam<std::string_view> {};

TEST_P(ArchitectureSignals, KeepTheirSize) {
  const Graph graph = build(find_architecture(GetParam()), 1);
  for (const Node& node : graph.nodes) {
    if (find_operator(node.op) == nullptr) GTEST_SKIP() << "there is no operator " << node.op;
  }
  expect_living_signals(test::with_all_outputs(shaped(graph, 32)));
}

INSTANTIATE_TEST_SUITE_P(Each, ArchitectureSignals,
                         ::testing::Values("r17-digits", "r17-2500", "r17-cifar", "r17-640",
                                           "r17-256", "c18-mlp", "c18-cnn", "fashion-cnn", "lenet5",
                                           "r18-lenet", "resnet18", "resnet50", "mobilenet_v2",
                                           "squeezenet1_1", "densenet121", "shufflenet_v2",
                                           "efficientnet_b0", "unet", "espcn", "tiny_yolo"));

TEST(Architectures, WeightsAreOfHesScheme) {
  const Graph graph = build(find_architecture("r17-2500"), 1);
  const auto values = to_reference(graph.tensor(graph.find("affine_2.weights")).data).value;
  EXPECT_NEAR(deviation_of(values), std::sqrt(2.0 / 2500.0), 1e-4);
}

TEST(Architectures, HaveTheWidthsOfTheSources) {
  const auto parameters = [](std::string_view name) {
    std::int64_t count = 0;
    for (const GraphTensor& tensor : build(find_architecture(name), 1).tensors) {
      if (tensor.kind == GraphTensor::Kind::constant) count += tensor.data.size();
    }
    return count;
  };
  EXPECT_EQ(parameters("r17-digits"), 784 * 100 + 100 + 100 * 100 + 100 + 100 * 10 + 10);
  EXPECT_EQ(parameters("r17-2500"), 784 * 2500 + 2500 + 2500 * 2000 + 2000 + 2000 * 10 + 10);
  EXPECT_EQ(parameters("r17-cifar"), 3072 * 4096 + 4096 + 4096 * 3072 + 3072 + 3072 * 10 + 10);
  EXPECT_EQ(parameters("r17-640"), 640 * 150 + 150 + 150 * 10 + 10);
  EXPECT_EQ(parameters("r17-256"), 256 * 128 + 128 + 128 * 10 + 10);
  EXPECT_EQ(parameters("c18-mlp"), 784 * 50 + 50 + 50 * 50 + 50 + 50 * 10 + 10);
  EXPECT_EQ(parameters("lenet5"), 61750);
}

/// C18 starts from N(0,1), biases too.
TEST(Architectures, C18sMlpStartsFromTheStandardNormal) {
  for (const GraphTensor& tensor : build(find_architecture("c18-mlp"), 1).tensors) {
    if (tensor.kind != GraphTensor::Kind::constant) continue;
    double squares = 0.0;
    for (std::int64_t i = 0; i < tensor.data.size(); ++i) {
      squares += tensor.data.at(i) * tensor.data.at(i);
    }
    const double count = static_cast<double>(tensor.data.size());
    EXPECT_NEAR(squares / count, 1.0, 5.0 * std::sqrt(2.0 / count)) << tensor.name;
  }
}

/// Those that training learns: neither statistics of normalisations nor bounds of Clip.
std::int64_t learned_parameters(const Graph& graph) {
  std::int64_t count = 0;
  for (const GraphTensor& tensor : graph.tensors) {
    const bool learned = tensor.name.ends_with(".weight") || tensor.name.ends_with(".bias");
    if (tensor.kind == GraphTensor::Kind::constant && learned) count += tensor.data.size();
  }
  return count;
}

TEST(Architectures, HaveAsManyParametersAsPublished) {
  const std::map<std::string_view, std::int64_t> published{
      {"c18-cnn", 3'274'634},
      {"fashion-cnn", 104'426},
      {"vgg16", 138'357'544},
      {"resnet18", 11'689'512},
      {"resnet50", 25'557'032},
      {"resnext50_32x4d", 25'028'904},
      {"mobilenet_v2", 3'504'872},
      {"squeezenet1_1", 1'235'496},
      {"densenet121", 7'978'856},
      {"shufflenet_v2", 2'278'604},
      {"efficientnet_b0", 5'288'548},
      {"unet", 31'037'698},
      {"espcn", 22'729},
      {"tiny_yolo", 15'861'773},
      {"yolov8n", 3'157'200},
      {"gpt2", 124'439'808},
  };
  for (const auto& [name, count] : published) {
    EXPECT_EQ(learned_parameters(build(find_architecture(name), 1)), count) << name;
  }
}

TEST(Architectures, LeaveBatchAndImageOpen) {
  for (const char* name :
       {"resnet18", "mobilenet_v2", "shufflenet_v2", "unet", "espcn", "yolov8n"}) {
    const Graph graph = build(find_architecture(name), 1);
    const auto& declared = graph.tensor(graph.inputs.at(0)).declared;
    ASSERT_EQ(declared.size(), 4U) << name;
    EXPECT_EQ(declared[0].symbol, "batch");
    EXPECT_EQ(declared[2].symbol, "height");
    EXPECT_EQ(declared[3].symbol, "width");
  }
}

TEST(Architectures, TheSeedDecides) {
  const auto first_weight = [](std::uint64_t seed) {
    const Graph graph = build(find_architecture("r17-256"), seed);
    return graph.tensor(graph.find("affine_1.weights")).data.at(0);
  };
  EXPECT_EQ(first_weight(1), first_weight(1));
  std::set<double> different;
  for (std::uint64_t seed = 0; seed < 17; ++seed) different.insert(first_weight(seed));
  EXPECT_EQ(different.size(), 17U);
}

TEST(Architectures, UnknownOnesAreNamed) {
  EXPECT_THAT(message_of<UsageError>([] { (void)find_architecture("vgg"); }),
              HasSubstr("there is no architecture 'vgg' (known: r17-digits, "));
}

}  // namespace
}  // namespace morton::test
