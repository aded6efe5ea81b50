// SPDX-License-Identifier: Apache-2.0
//
// Other batch and image sizes of a model that is compiled: nothing is built, weights are shared,
// and the numbers are right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/inside.hpp"
#include "device/session_network.hpp"
#include "passes/pipeline.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

/// Convolutions with and without tails, a residual sum, a pool over the whole image; batch and
/// image are open.
Graph image_network() {
  using Filter = NetworkBuilder::Filter;
  NetworkBuilder network("images", 7);
  TensorId x = network.input("x", {-1, 3, 8, 8});
  x = network.relu(network.conv(x, 3, 16, Filter{.size = 3, .pad = 1}));
  TensorId y = network.relu(network.conv(x, 16, 16, Filter{.size = 1}));
  y = network.conv(y, 16, 16, Filter{.size = 3, .pad = 1, .groups = 16});
  x = network.node("Add", {x, y});
  x = network.relu(network.conv(x, 16, 24, Filter{.size = 3, .stride = 2, .pad = 1}));
  x = network.node("Flatten", {network.node("GlobalAveragePool", {x})});
  network.output(network.dense(x, 24, 10));
  Graph graph = network.finish();
  GraphTensor& input = graph.tensor(graph.inputs[0]);
  input.declared[2] = {0, "height"};
  input.declared[3] = {0, "width"};
  return graph;
}

Graph bound(const Graph& graph, const Shape& shape) {
  PassOptions options;
  options.shapes = {{"x", shape}};
  for (const Pass& pass : all_passes()) {
    if (pass.need == Pass::Need::optional) options.skip.emplace_back(pass.name);
  }
  Graph result = graph;
  run_passes(result, options);
  return result;
}

void expect_right_at(const CompiledModel& model, const Graph& graph, const Shape& shape) {
  const std::vector<NamedTensor> inputs{{"x", random_tensor(shape, 5)}};
  Session session(model);
  const auto got = session.run(inputs);
  const auto expected = reference_outputs(bound(graph, shape), inputs);
  ASSERT_EQ(got.size(), expected.size());
  const Comparison comparison = compare(expected[0], got[0].tensor.as<float>());
  EXPECT_TRUE(comparison.ok()) << comparison.text;
}

InputShapes shapes_of(const Shape& shape) { return {0, {{"x", shape}}}; }

class SessionShapes : public test::DeviceTest {};
MORTON_ON_EVERY_DEVICE(SessionShapes);

TEST_P(SessionShapes, OtherSizesBuildNothing) {
  const Device device = Inside::make(shared_device());
  const Graph graph = image_network();
  const Model model = Inside::make(graph);
  CompileOptions options;
  options.shapes = {{"x", {1, 3, 16, 16}}};
  const CompiledModel compiled = compile(model, device, options);
  expect_right_at(compiled, graph, {1, 3, 16, 16});
  const int builds = device.program_builds();
  for (const Shape& shape :
       {Shape{2, 3, 16, 16}, Shape{1, 3, 9, 9}, Shape{5, 3, 32, 24}, Shape{1, 3, 16, 16}}) {
    SCOPED_TRACE(to_string(shape));
    const CompiledModel other = compiled.with_shapes(shapes_of(shape));
    EXPECT_EQ(other.inputs()[0].shape, shape);
    EXPECT_EQ(other.report().kernels.built, 0);
    expect_right_at(other, graph, shape);
  }
  EXPECT_EQ(device.program_builds(), builds);
}

TEST_P(SessionShapes, WeightsThatLieAlikeAreShared) {
  const Device device = Inside::make(shared_device());
  const Model model = Inside::make(image_network());
  CompileOptions options;
  options.shapes = {{"x", {1, 3, 16, 16}}};
  const CompiledModel compiled = compile(model, device, options);
  const std::int64_t used = device.used_bytes();
  const CompiledModel other = compiled.with_shapes(shapes_of({1, 3, 16, 16}));
  EXPECT_EQ(other.report().memory.weight_bytes, 0);
  EXPECT_GT(other.report().memory.shared_weight_bytes, 0);
  EXPECT_EQ(device.used_bytes(), used);
}

TEST_P(SessionShapes, TheFirstModelMayGo) {
  const Device device = Inside::make(shared_device());
  const Graph graph = image_network();
  CompileOptions options;
  options.shapes = {{"x", {2, 3, 9, 9}}};
  const auto other = [&] {
    const Model model = Inside::make(graph);
    return compile(model, device, options).with_shapes(shapes_of({3, 3, 12, 10}));
  }();
  expect_right_at(other, graph, {3, 3, 12, 10});
}

TEST_P(SessionShapes, ShapesGivenBeforehandGetKernelsOfTheirOwn) {
  const Device device = Inside::make(shared_device());
  const Graph graph = image_network();
  const Model model = Inside::make(graph);
  CompileOptions options;
  options.shapes = {{"x", {1, 3, 8, 8}}};
  options.also = {shapes_of({16, 3, 40, 40})};
  const CompiledModel compiled = compile(model, device, options);
  const int builds = device.program_builds();
  const CompiledModel other = compiled.with_shapes(options.also[0]);
  expect_right_at(other, graph, {16, 3, 40, 40});
  EXPECT_EQ(device.program_builds(), builds);
  options.also = {shapes_of({2, 3, 8, 8}), shapes_of({3, 3, 8, 8}), shapes_of({4, 3, 8, 8})};
  EXPECT_THAT(usage_complaint([&] { static_cast<void>(compile(model, device, options)); }),
              HasSubstr("2 other shapes at most, 3 are given"));
}

TEST_P(SessionShapes, WhatIsMissingIsSaidOrBuilt) {
  const Device device = Inside::make(shared_device());
  const Graph graph = image_network();
  const Model model = Inside::make(graph);
  CompileOptions options;
  options.shapes = {{"x", {1, 3, 16, 16}}};
  options.other_shapes = CompileOptions::OtherShapes::leave;
  const CompiledModel compiled = compile(model, device, options);
  EXPECT_EQ(compiled.report().kernels.for_other_shapes, 0);
  const Shape shape{2, 3, 15, 13};
  try {
    static_cast<void>(compiled.with_shapes(shapes_of(shape)));
  } catch (const UnsupportedError& error) {
    EXPECT_THAT(error.what(), HasSubstr("compile the model with these shapes too"));
  }
  const CompiledModel other = compiled.with_shapes(shapes_of(shape), CompiledModel::Missing::build);
  expect_right_at(other, graph, shape);
}

TEST_P(SessionShapes, ShapesThatTheModelDoesNotTakeAreRefused) {
  const Device device = Inside::make(shared_device());
  const Model model = Inside::make(image_network());
  CompileOptions options;
  options.shapes = {{"x", {1, 3, 8, 8}}};
  const CompiledModel compiled = compile(model, device, options);
  EXPECT_THAT(usage_complaint([&] {
                static_cast<void>(compiled.with_shapes(shapes_of({1, 4, 8, 8})));
              }),
              HasSubstr("is fixed to 3"));
}

}  // namespace
}  // namespace morton::test
