// SPDX-License-Identifier: Apache-2.0
//
// CompileOptions::Limits::kernel_ms: kernels are short, and answers the same.
#include <gtest/gtest.h>

#include "model/model_check.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

class ModelMaxKernel : public ModelTest {};
MORTON_MODELS_ON_EVERY_DEVICE(ModelMaxKernel);

double longest_ms(const CompiledModel& compiled) {
  double most = 0.0;
  for (const StepInfo& step : compiled.steps()) most = std::max(most, step.estimated_us / 1e3);
  return most;
}

/// Two convolutions, of some fifty million operations together for an image.
Graph long_network() {
  NetworkBuilder network("long", 2);
  const TensorId x = network.input("x", {-1, 16, 64, 64});
  const TensorId first = network.relu(network.conv(x, 16, 48, {.pad = 1}));
  network.output(network.conv(first, 48, 32, {.pad = 1}));
  return network.finish();
}

TEST_P(ModelMaxKernel, CutsKernelsAndKeepsAnswers) {
  for (const std::int64_t batch : {1, 2}) {
    const Graph graph = long_network();
    CompileOptions options;
    options.batch = batch;
    options.other_shapes = CompileOptions::OtherShapes::leave;
    const CompiledModel whole = compile(to_model(graph), device(), options);
    if (longest_ms(whole) < 0.2) GTEST_SKIP() << "no kernel here is estimated long enough";
    const double limit = longest_ms(whole) / 2;
    options.limits.kernel_ms = limit;
    const CompiledModel parts = compile(to_model(graph), device(), options);
    EXPECT_GT(parts.steps().size(), whole.steps().size());
    EXPECT_LT(longest_ms(parts), longest_ms(whole));
    if (longest_ms(parts) > limit) {
      EXPECT_FALSE(parts.report().notes.empty());
    }
    expect_reference(graph, device(), random_inputs(graph, batch, 7), options);
  }
}

TEST_P(ModelMaxKernel, SaysWhatCannotBeCut) {
  NetworkBuilder network("rows", 2);
  network.output(network.node("Softmax", {network.input("x", {2048, 2048})}));
  CompileOptions options;
  options.limits.kernel_ms = 0.1;
  const CompiledModel compiled = compile(to_model(network.finish()), device(), options);
  bool told = false;
  for (const Message& note : compiled.report().notes) {
    told = told || note.print().find("Softmax cannot be cut") != std::string::npos;
  }
  EXPECT_TRUE(told);
}

TEST_P(ModelMaxKernel, RefusesWhatIsNoLimit) {
  for (const double limit : {0.0, -1.0, 0.01}) {
    CompileOptions options;
    options.limits.kernel_ms = limit;
    EXPECT_THROW((void)compile(lenet(), device(), options), UsageError);
  }
}

}  // namespace
}  // namespace morton::test
