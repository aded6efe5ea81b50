// SPDX-License-Identifier: Apache-2.0
//
// Attention in one step, where keys end inside a tile and their last value is infinite.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "api/inside.hpp"
#include "model/model_check.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

class ModelAttention : public ModelTest {};
MORTON_MODELS_ON_EVERY_DEVICE(ModelAttention);

/// Of queries, keys and values that lie as [batch, position, head, number].
Graph attention_of(const Shape& shape) {
  NetworkBuilder network("attention", 1);
  const TensorId q = network.input("q", shape), k = network.input("k", shape);
  const TensorId v = network.input("v", shape);
  const auto turned = [&](TensorId from, std::vector<std::int64_t> order) {
    return network.node("Transpose", {from}, {{"perm", std::move(order)}});
  };
  const TensorId scores =
      network.node("MatMul", {turned(q, {0, 2, 1, 3}), turned(k, {0, 2, 3, 1})});
  const TensorId shares = network.node("Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  const TensorId sums = network.node("MatMul", {shares, turned(v, {0, 2, 1, 3})});
  network.output(turned(sums, {0, 2, 1, 3}));
  return network.finish();
}

TEST_P(ModelAttention, AnInfiniteLastValueStaysInfinite) {
  const Shape shape{1, 37, 2, 32};
  std::vector<NamedTensor> inputs{{"q", random_tensor(shape, 1)},
                                  {"k", random_tensor(shape, 2)},
                                  {"v", random_tensor(shape, 3)}};
  const std::int64_t last = 36 * 2 * 32 + 3;
  inputs[2].tensor.set(last, std::numeric_limits<double>::infinity());
  const DeviceInfo& info = Inside::of(device())->info();
  if (info.kind == DeviceInfo::Kind::gpu && info.compute.cuda_capability == 0) {
    GTEST_SKIP() << "these kernels are for NVIDIA's GPUs and for processors";
  }
  const Model model = to_model(attention_of(shape));
  for (const char* kernel : {"attention.tiles", "attention.tiles_32", "attention.tiles_low"}) {
    SCOPED_TRACE(kernel);
    CompileOptions options;
    options.use = {{"attention", kernel}};
    options.self_test = CompileOptions::SelfTest::off;
    const CompiledModel compiled = compile(model, device(), options);
    ASSERT_EQ(compiled.steps().size(), 1U);
    EXPECT_EQ(compiled.steps()[0].kernel, kernel);
    const Tensor got = Session(compiled).run(inputs).front().tensor;
    for (std::int64_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(std::isinf(got.at(i)), i % 64 == 3) << "element " << i;
      EXPECT_FALSE(std::isnan(got.at(i))) << "element " << i;
    }
  }
}

}  // namespace
}  // namespace morton::test
