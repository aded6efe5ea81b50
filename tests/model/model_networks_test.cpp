// SPDX-License-Identifier: Apache-2.0
//
// Whole networks, made in code, against the reference network: whatever connects nodes in ways that
// a single operator's cases do not.
#include <utility>

#include "base/shape.hpp"
#include "model/model_check.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

class ModelNetworks : public ModelTest {
 protected:
  void expect_right(const Graph& graph, std::int64_t batch, const CompileOptions& base = {}) {
    SCOPED_TRACE(graph.name + ", batch " + std::to_string(batch));
    CompileOptions options = base;
    options.batch = batch;
    expect_reference(graph, device(), random_inputs(graph, batch, 40), options);
  }
};
MORTON_MODELS_ON_EVERY_DEVICE(ModelNetworks);

TEST_P(ModelNetworks, Mlp) {
  for (const std::int64_t batch : {1, 3, 17}) expect_right(make_mlp(1), batch);
}

TEST_P(ModelNetworks, GroupedAndStridedCnn) {
  for (const std::int64_t batch : {1, 3}) expect_right(make_small_cnn(2), batch);
}

TEST_P(ModelNetworks, Residual) {
  for (const std::int64_t batch : {1, 3}) expect_right(make_residual_network(3), batch);
}

TEST_P(ModelNetworks, EveryLayerOfEach) {
  expect_right(with_all_outputs(make_mlp(1)), 3);
  expect_right(with_all_outputs(make_small_cnn(2)), 3);
  expect_right(with_all_outputs(make_residual_network(3)), 3);
}

TEST_P(ModelNetworks, EachWithRoomForNoRecipe) {
  CompileOptions options;
  options.limits.workspace_bytes = 0;
  expect_right(make_small_cnn(2), 3, options);
  expect_right(make_residual_network(3), 3, options);
}

TEST_P(ModelNetworks, EachWithProductsInFormatsOfTheirOwn) {
  for (const char* kernel : {"gemm.morton_4_2", "gemm.tile", "gemm.naive"}) {
    SCOPED_TRACE(kernel);
    CompileOptions options;
    options.use = {{"gemm", kernel}, {"conv2d", "conv2d.im2col_gemm"}};
    expect_right(make_mlp(1), 3, options);
    expect_right(make_residual_network(3), 3, options);
  }
}

TEST_P(ModelNetworks, ReshapesAreNamesOfTheSameMemory) {
  NetworkBuilder network("reshapes", 4);
  const TensorId x = network.input("x", {-1, 6, 4});
  const TensorId flat = network.node("Reshape", {x, network.list({-1, 24})});
  const TensorId dense = network.dense(flat, 24, 12);
  const TensorId square = network.node("Reshape", {dense, network.list({0, 3, 4})});
  const TensorId sum = network.node("Add", {square, network.parameter({3, 1}, 4)});
  const TensorId back = network.node("Flatten", {sum});
  network.output(back);
  // Two names of one result, and a name of an input.
  network.output(square);
  network.output(flat);
  expect_right(network.finish(), 3);
}

TEST_P(ModelNetworks, AnOldResultLivesOnUnderItsSecondName) {
  // The reshaped result is read long after others have been made that could take its memory.
  NetworkBuilder network("long_lived", 5);
  const TensorId x = network.input("x", {-1, 16});
  const TensorId early = network.dense(x, 16, 16);
  const TensorId renamed = network.node("Reshape", {early, network.list({0, 4, 4})});
  TensorId chain = network.node("Softmax", {early});
  for (int i = 0; i < 4; ++i) chain = network.node("Softmax", {network.dense(chain, 16, 16)});
  const TensorId late = network.node("Reshape", {chain, network.list({0, 4, 4})});
  network.output(network.node("Mul", {late, renamed}));
  expect_right(network.finish(), 3);
}

TEST_P(ModelNetworks, AnOutputIsAnInputOrAConstant) {
  NetworkBuilder network("trivial_outputs", 6);
  const TensorId x = network.input("x", {-1, 5});
  const TensorId given = network.parameter({3, 2}, 4);
  network.output(x);
  network.output(given);
  network.output(network.node("Sigmoid", {x}));
  expect_right(network.finish(), 3);
}

TEST_P(ModelNetworks, NothingIsComputedAtAll) {
  NetworkBuilder network("nothing", 7);
  const TensorId x = network.input("x", {-1, 5});
  network.output(network.node("Flatten", {x}));
  network.output(network.node("Sigmoid", {network.parameter({2, 2}, 4)}));
  expect_right(network.finish(), 3);
}

TEST_P(ModelNetworks, SeveralInputsAndOutputsAndAnInputReadTwice) {
  NetworkBuilder network("several", 8);
  const TensorId a = network.input("a", {-1, 17});
  const TensorId b = network.input("b", {-1, 17});
  const TensorId sum = network.node("Add", {a, b});
  const TensorId product = network.node("Mul", {sum, sum});
  const TensorId left = network.dense(product, 17, 9);
  const TensorId right = network.dense(a, 17, 9);
  network.output(network.node("Sub", {left, right}));
  network.output(left);
  network.output(
      network.node("Tanh", {network.node("MatMul", {b, network.parameter({17, 3}, 17)})}));
  expect_right(network.finish(), 3);
}

TEST_P(ModelNetworks, ADiamondOfProductsWhoseFormatsMustMeet) {
  NetworkBuilder network("diamond", 9);
  const TensorId x = network.input("x", {-1, 63});
  const TensorId top = network.dense(x, 63, 33);
  const TensorId left = network.relu(network.dense(top, 33, 33));
  const TensorId right = network.node("Tanh", {network.dense(top, 33, 33)});
  const TensorId joined = network.node("Add", {left, right});
  const TensorId again = network.node("Add", {joined, top});
  network.output(network.dense(again, 33, 3));
  for (const char* kernel : {"", "gemm.morton_4_2", "gemm.tile"}) {
    SCOPED_TRACE(kernel);
    CompileOptions options;
    if (*kernel != '\0') options.use = {{"gemm", kernel}};
    expect_right(network.finish(), 17, options);
  }
}

TEST_P(ModelNetworks, BiasesAddedAlongEitherSideOfAProduct) {
  // One shape of side operand, and products that compute dst as it is or transposed.
  NetworkBuilder network("sides", 10);
  const TensorId a = network.input("a", {-1, 9});
  const TensorId rows = network.node(
      "Add",
      {network.node("MatMul", {a, network.parameter({9, 9}, 9)}), network.parameter({1, 9}, 4)});
  const TensorId columns = network.node(
      "Add",
      {network.node("MatMul", {network.parameter({9, 9}, 9), rows}), network.parameter({9, 1}, 4)});
  network.output(columns);
  network.output(rows);
  for (const char* kernel : {"", "gemm.tile", "gemm.swapped", "gemm.naive"}) {
    SCOPED_TRACE(kernel);
    CompileOptions options;
    if (*kernel != '\0') options.use = {{"gemm", kernel}};
    expect_right(network.finish(), 9, options);
  }
}

TEST_P(ModelNetworks, WholeNumbersComeOutExactly) {
  NetworkBuilder network("whole_numbers", 11);
  TensorId x = network.input("x", {2, 3, 9, 7});
  x = network.relu(network.conv(x, 3, 5, NetworkBuilder::Filter{.size = 3, .pad = 1}));
  x = network.conv(x, 5, 17, NetworkBuilder::Filter{.size = 3, .stride = 2});
  x = network.dense(network.node("Flatten", {x}), 17 * 4 * 3, 33);
  network.output(x);
  Graph graph = network.finish();
  std::uint64_t seed = 50;
  for (GraphTensor& tensor : graph.tensors) {
    if (tensor.kind != GraphTensor::Kind::constant) continue;
    tensor.data = random_integers(tensor.shape, seed++);
  }
  const std::vector<NamedTensor> inputs{{"x", random_integers({2, 3, 9, 7}, seed)}};
  const auto expected = reference_outputs(with_shapes(graph, 0), inputs);
  for (const char* kernel : {"", "gemm.tile", "gemm.morton_4_2", "gemm.naive"}) {
    SCOPED_TRACE(kernel);
    CompileOptions options;
    if (*kernel != '\0') options.use = {{"gemm", kernel}, {"conv2d", "conv2d.im2col_gemm"}};
    Session session(compile(to_model(graph), device(), options));
    const auto got = session.run(inputs);
    const Comparison comparison = compare_exactly(expected[0], got[0].tensor.as<float>());
    EXPECT_TRUE(comparison.ok()) << comparison.text;
  }
}

}  // namespace
}  // namespace morton::test
