// SPDX-License-Identifier: Apache-2.0
//
// Large inputs and outputs of a run: where the device is the host's processor its steps work on
// the caller's memory, elsewhere they are copied. The answers and the rules are the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "api/inside.hpp"
#include "device/open/opencl.hpp"
#include "morton/interop.hpp"
#include "morton/morton.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

/// 1 MiB each way.
const Shape kLentShape{512, 512};

Graph lent_graph() {
  NetworkBuilder network("lent", 3);
  const TensorId a = network.input("a", {-1, 512});
  const TensorId b = network.input("b", {-1, 512});
  const TensorId sum = network.node("Sub", {a, b});
  network.output(network.relu(sum));
  return network.finish();
}

std::vector<NamedTensor> large_inputs(std::uint64_t seed) {
  return {{"a", random_tensor(kLentShape, seed)}, {"b", random_tensor(kLentShape, seed + 1000)}};
}

void expect_clipped_difference(const std::vector<NamedTensor>& inputs, const Tensor& got) {
  const auto expected = reference_outputs(with_shapes(lent_graph(), kLentShape[0]), inputs);
  const Comparison comparison = compare(expected.front(), got.as<float>());
  EXPECT_TRUE(comparison.ok()) << comparison.text;
}

class SessionLent : public test::DeviceTest {
 protected:
  [[nodiscard]] Session session() const {
    CompileOptions options;
    options.batch = kLentShape[0];
    return Session(compile(Inside::make(lent_graph()), Inside::make(shared_device()), options));
  }
};
MORTON_ON_EVERY_DEVICE(SessionLent);

TEST_P(SessionLent, TakesInputsWhereverTheyLie) {
  Session session = this->session();
  const auto inputs = large_inputs(1);
  expect_clipped_difference(inputs, session.run(inputs).front().tensor);
  // Four bytes off every alignment but that of the elements.
  std::vector<std::vector<float>> rooms;
  std::vector<NamedTensor> moved;
  for (const NamedTensor& input : inputs) {
    std::vector<float>& room =
        rooms.emplace_back(static_cast<std::size_t>(input.tensor.size()) + 64);
    std::size_t first = 1;
    while (reinterpret_cast<std::uintptr_t>(&room[first]) % 256 != 4) ++first;
    std::memcpy(&room[first], input.tensor.data(), input.tensor.bytes());
    moved.push_back(
        {input.name, Tensor::borrow(DType::f32, kLentShape, &room[first], input.tensor.bytes())});
  }
  expect_clipped_difference(inputs, session.run(moved).front().tensor);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(inputs[i].tensor.as<float>(), moved[i].tensor.as<float>()));
  }
}

TEST_P(SessionLent, AResultStaysWhileOthersAreComputed) {
  std::optional<Session> session(this->session());
  const auto first = large_inputs(2);
  const auto second = large_inputs(3);
  const Tensor kept = session->run(first).front().tensor;
  const Tensor next = session->run(second).front().tensor;
  expect_clipped_difference(first, kept);
  expect_clipped_difference(second, next);
  // Nor does what is enqueued by itself write into a result.
  for (const NamedTensor& input : first) session->set_input(input.name, input.tensor);
  session->enqueue().wait();
  expect_clipped_difference(second, next);
  expect_clipped_difference(first, session->get_output(session->model().outputs().front().name));
  session.reset();
  expect_clipped_difference(first, kept);
}

TEST_P(SessionLent, MemoryOfDroppedResultsServesLaterRuns) {
  Session session = this->session();
  std::optional<Tensor> first(session.run(large_inputs(4)).front().tensor);
  const std::byte* const memory = first->data();
  const Tensor second = session.run(large_inputs(5)).front().tensor;
  EXPECT_NE(second.data(), memory);
  first.reset();
  const auto inputs = large_inputs(6);
  Tensor third = session.run(inputs).front().tensor;
  EXPECT_EQ(third.data(), memory);
  expect_clipped_difference(inputs, third);
  third.set(0, 7.0);  // a result is the caller's
  EXPECT_EQ(third.at(0), 7.0);
}

TEST_P(SessionLent, AnOutputCanBeReadAgainBehindARun) {
  Session session = this->session();
  const auto inputs = large_inputs(7);
  static_cast<void>(session.run(inputs));
  const std::string name = session.model().outputs().front().name;
  expect_clipped_difference(inputs, session.get_output(name));
  expect_clipped_difference(inputs, session.map_output(name).clone());
  session.unmap();
}

TEST_P(SessionLent, InputsOfARunAreSetAgainBeforeTheyAreEnqueued) {
  Session session = this->session();
  static_cast<void>(session.run(large_inputs(8)));
  const auto inputs = large_inputs(9);
  session.set_input("a", inputs[0].tensor);
  try {
    session.enqueue();
    FAIL() << "enqueued without an input";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("input 'b'"), HasSubstr("set it again")));
  }
  session.set_input("b", inputs[1].tensor);
  session.enqueue();
  expect_clipped_difference(inputs, session.get_output(session.model().outputs().front().name));
}

TEST_P(SessionLent, AResultOutlastsBuffersOfTheCallersAndRefusals) {
  Session session = this->session();
  const auto inputs = large_inputs(13);
  const std::string name = session.model().outputs().front().name;
  static_cast<void>(session.run(inputs));
  EXPECT_THROW(session.run_step_by_step(), UsageError);  // it does not profile
  const cl::Buffer small(shared_device()->context(), CL_MEM_READ_WRITE, 64);
  EXPECT_THROW(bind_buffer(session, "a", small()), UsageError);
  expect_clipped_difference(inputs, session.get_output(name));
  const cl::Buffer large(shared_device()->context(), CL_MEM_READ_WRITE, inputs[0].tensor.bytes());
  bind_buffer(session, "a", large());
  bind_buffer(session, name, nullptr);  // it had none
  expect_clipped_difference(inputs, session.get_output(name));
}

TEST_P(SessionLent, WhatIsWrittenToTheCallersBufferIsNotSetBehindIt) {
  Session session = this->session();
  static_cast<void>(session.run(large_inputs(14)));
  const auto inputs = large_inputs(15);
  const cl::Buffer buffer(shared_device()->context(), CL_MEM_READ_WRITE, inputs[0].tensor.bytes());
  bind_buffer(session, "a", buffer());
  for (const NamedTensor& input : inputs) session.set_input(input.name, input.tensor);
  session.enqueue();
  expect_clipped_difference(inputs, session.get_output(session.model().outputs().front().name));
  bind_buffer(session, "a", nullptr);
  EXPECT_THROW(session.enqueue(), UsageError);
}

TEST_P(SessionLent, AnInputThatIsAnOutputCanBeReadBehindARun) {
  NetworkBuilder network("through", 3);
  const TensorId a = network.input("a", {-1, 512});
  network.output(network.relu(a));
  network.output(a);
  CompileOptions options;
  options.batch = kLentShape[0];
  Session session(compile(Inside::make(network.finish()), Inside::make(shared_device()), options));
  const Tensor given = random_tensor(kLentShape, 12);
  const std::vector<NamedTensor> outputs = session.run({{{"a", given}}});
  EXPECT_TRUE(std::ranges::equal(outputs[1].tensor.as<float>(), given.as<float>()));
  const Tensor again = session.get_output(outputs[1].name);
  EXPECT_TRUE(std::ranges::equal(again.as<float>(), given.as<float>()));
}

TEST_P(SessionLent, AMoveKeepsWhatIsSetAndWhatIsNot) {
  Session session = this->session();
  static_cast<void>(session.run(large_inputs(10)));
  const auto inputs = large_inputs(11);
  session.set_input("a", inputs[0].tensor);
  session.move_to(Inside::make(shared_device()));
  EXPECT_THROW(session.enqueue(), UsageError);
  session.set_input("b", inputs[1].tensor);
  session.enqueue();
  expect_clipped_difference(inputs, session.get_output(session.model().outputs().front().name));
}

}  // namespace
}  // namespace morton::test
