// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "api/inside.hpp"
#include "morton/morton.hpp"
#include "support/compare.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// Two inputs, two outputs, products, an activation and a softmax: small, and every kind of step.
inline Graph session_graph() {
  NetworkBuilder network("session", 21);
  const TensorId a = network.input("a", {-1, 17});
  const TensorId b = network.input("b", {-1, 17});
  const TensorId sum = network.node("Add", {a, b});
  const TensorId hidden = network.relu(network.dense(sum, 17, 33));
  const TensorId logits = network.dense(hidden, 33, 5);
  network.output(network.node("Softmax", {logits}));
  network.output(hidden);
  return network.finish();
}

constexpr std::int64_t kSessionBatch = 3;

inline Model session_model() { return Inside::make(session_graph()); }

inline CompileOptions session_options() {
  CompileOptions options;
  options.batch = kSessionBatch;
  return options;
}

inline std::vector<NamedTensor> session_inputs(std::uint64_t seed) {
  return {{"a", random_tensor({kSessionBatch, 17}, seed)},
          {"b", random_tensor({kSessionBatch, 17}, seed + 1000)}};
}

/// Fails where `got`, in the model's order, is not what the reference says of `inputs`.
inline void expect_right(const std::vector<NamedTensor>& inputs,
                         const std::vector<NamedTensor>& got) {
  const auto expected = reference_outputs(with_shapes(session_graph(), kSessionBatch), inputs);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const Comparison comparison = compare(expected[i], got[i].tensor.as<float>());
    EXPECT_TRUE(comparison.ok()) << got[i].name << ": " << comparison.text;
  }
}

/// The outputs that the session holds now, in the model's order.
inline std::vector<NamedTensor> outputs_of(Session& session) {
  std::vector<NamedTensor> outputs;
  for (const auto& port : session.model().outputs()) {
    outputs.push_back({port.name, session.get_output(port.name)});
  }
  return outputs;
}

/// What `call` complains about, as a UsageError; "nothing" or "another error: ..." otherwise.
template <typename Call>
std::string usage_complaint(const Call& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  } catch (const Error& error) {
    return std::string("another error: ") + error.what();
  }
  return "nothing";
}

}  // namespace morton::test
