// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "morton/morton.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// A test that runs on every device found, through the public interface.
class ModelTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { device_ = std::make_unique<Device>(Device::open(GetParam())); }
  [[nodiscard]] const Device& device() const { return *device_; }

 private:
  std::unique_ptr<Device> device_;
};

/// A graph as a model.
[[nodiscard]] Model to_model(Graph graph);

/// Random values for every input of `graph`, with `batch` for the open extent.
[[nodiscard]] std::vector<NamedTensor> random_inputs(const Graph& graph, std::int64_t batch,
                                                     std::uint64_t seed);

/// Compiles and runs the graph, and compares each output with the reference network within its
/// propagated error bound. Says which output is the first wrong one. Fails also where the bound is
/// so wide that it shows nothing.
void expect_reference(const Graph& graph, const Device& device,
                      const std::vector<NamedTensor>& inputs, const CompileOptions& options);

/// How many programs were compiled for the device so far.
[[nodiscard]] int programs_built(const Device& device);

/// The repository's LeNet-5.
[[nodiscard]] Model lenet();

}  // namespace morton::test

/// Runs the tests of `suite`, derived from ModelTest, on every device found.
#define MORTON_MODELS_ON_EVERY_DEVICE(suite)                                                      \
  INSTANTIATE_TEST_SUITE_P(EveryDevice, suite, ::testing::ValuesIn(::morton::test::device_ids()), \
                           ::morton::test::device_test_name)
