// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "autodiff/recomputation.hpp"
#include "autodiff/training_step.hpp"
#include "graph/architectures.hpp"
#include "plan/make_plan.hpp"
#include "plans/plan_setup.hpp"
#include "support/compare.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using Activations = TrainingStepOptions::Activations;

Graph step_of(const Graph& model, Activations activations, std::int64_t batch) {
  TrainingStepOptions options;
  options.batch = batch;
  options.activations = activations;
  return make_training_step(model, options).step;
}

std::int64_t activation_bytes(const Graph& step) {
  const Plan plan =
      make_plan(prepared(step, 0), Catalogue::standard(), saved_device("pocl_cpu"), {});
  return plan.largest_live.activations;
}

TEST(Recomputation, TakesLessMemory) {
  for (const char* name : {"fashion-cnn", "c18-cnn"}) {
    SCOPED_TRACE(name);
    const Graph model = build(find_architecture(name), 1);
    const auto kept = activation_bytes(step_of(model, Activations::keep, 20));
    const auto anew = activation_bytes(step_of(model, Activations::recompute, 20));
    EXPECT_LT(anew, kept - kept / 20);
  }
}

TEST(Recomputation, StaysApartFromWhatItRepeats) {
  const Graph model = make_small_cnn(2);
  Graph kept = prepared(step_of(model, Activations::keep, 2), 0);
  Graph anew = prepared(step_of(model, Activations::recompute, 2), 0);
  EXPECT_GT(anew.nodes.size(), kept.nodes.size());
}

TEST(Recomputation, GivesTheSameValues) {
  const Graph model = make_small_cnn(2);
  std::vector<std::vector<ReferenceTensor>> found;
  for (const Activations activations : {Activations::keep, Activations::recompute}) {
    Graph step = step_of(model, activations, 2);
    for (const StateUpdate& update : step.updates) step.outputs.push_back(update.value);
    step.updates.clear();
    std::vector<NamedTensor> inputs;
    for (const TensorId id : step.inputs) {
      const GraphTensor& input = step.tensor(id);
      Tensor value = Tensor::allocate(input.dtype, input.shape);
      if (input.dtype == DType::f32) value = random_tensor(input.shape, 3);
      inputs.push_back({input.name, value});
    }
    for (GraphTensor& tensor : step.tensors) {
      if (tensor.kind == GraphTensor::Kind::state) tensor.kind = GraphTensor::Kind::constant;
    }
    found.push_back(reference_outputs(step, inputs));
  }
  ASSERT_EQ(found[0].size(), found[1].size());
  ASSERT_GT(found[0].size(), 2U);
  for (std::size_t i = 0; i < found[0].size(); ++i) EXPECT_EQ(found[0][i].value, found[1][i].value);
}

}  // namespace
}  // namespace morton::test
