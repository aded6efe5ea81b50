// SPDX-License-Identifier: Apache-2.0
//
// Sessions in a caller's context, queue and buffers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "api/inside.hpp"
#include "device/open/opencl.hpp"
#include "device/session_network.hpp"
#include "morton/interop.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kInputBytes = kSessionBatch * 17 * sizeof(float);
constexpr std::size_t kOutputBytes = kSessionBatch * 5 * sizeof(float);

/// All OpenCL objects are the test's own; Morton gets to see their handles.
class SessionInterop : public test::DeviceTest {
 protected:
  void SetUp() override {
    test::DeviceTest::SetUp();
    device_ = test::DeviceTest::device().device();
    context_ = cl::Context(device_);
    queue_ = cl::CommandQueue(context_, device_);
    adopted_.emplace(adopt_device(context_(), device_(), {"", DeviceConfig::DiskCache::none}));
    session_.emplace(compile(session_model(), *adopted_, session_options()));
    outputs_ = session_->model().outputs();
  }

  /// A buffer of the caller's, filled through the caller's queue.
  [[nodiscard]] cl::Buffer buffer_with(const Tensor& tensor) const {
    cl::Buffer buffer(context_, CL_MEM_READ_WRITE, tensor.bytes());
    queue_.enqueueWriteBuffer(buffer, CL_TRUE, 0, tensor.bytes(), tensor.data());
    return buffer;
  }
  [[nodiscard]] cl::Buffer empty_buffer(std::size_t bytes, cl_mem_flags flags) const {
    return {context_, flags, bytes};
  }
  [[nodiscard]] std::string bind_complaint(const std::string& port, const cl::Buffer& buffer) {
    return usage_complaint([&] { bind_buffer(*session_, port, buffer()); });
  }

  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
  std::optional<Device> adopted_;
  std::optional<Session> session_;
  std::vector<PortInfo> outputs_;
};
MORTON_ON_EVERY_DEVICE(SessionInterop);

TEST_P(SessionInterop, RunsInTheCallersContext) {
  EXPECT_EQ(context_of(*adopted_), context_());
  EXPECT_EQ(adopted_->id(), GetParam());
  const auto inputs = session_inputs(1);
  expect_right(inputs, session_->run(inputs));
}

TEST_P(SessionInterop, TheContextMayBeReleasedByTheCaller) {
  queue_ = cl::CommandQueue();
  context_ = cl::Context();
  const auto inputs = session_inputs(2);
  expect_right(inputs, session_->run(inputs));
}

TEST_P(SessionInterop, WorkGoesIntoTheCallersQueue) {
  use_queue(*session_, queue_());
  const auto inputs = session_inputs(3);
  for (const auto& input : inputs) session_->set_input(input.name, input.tensor);
  // Nothing can run before this gate opens, if it is the caller's queue that the work goes into.
  cl::UserEvent gate(context_);
  const std::vector<cl::Event> gates{gate};
  queue_.enqueueBarrierWithWaitList(&gates);
  session_->enqueue();
  cl::Event behind;
  queue_.enqueueMarkerWithWaitList(nullptr, &behind);
  queue_.flush();
  EXPECT_NE(behind.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>(), CL_COMPLETE);
  gate.setStatus(CL_COMPLETE);
  queue_.finish();
  expect_right(inputs, outputs_of(*session_));
  use_queue(*session_, nullptr);
  const auto later = session_inputs(4);
  expect_right(later, session_->run(later));
}

TEST_P(SessionInterop, AQueueIsKeptAliveAndItsProfilingUsed) {
  {
    const cl::CommandQueue profiling(context_, device_, CL_QUEUE_PROFILING_ENABLE);
    use_queue(*session_, profiling());
  }
  const auto inputs = session_inputs(5);
  expect_right(inputs, session_->run(inputs));
  EXPECT_EQ(session_->step_times().size(), session_->model().steps().size());
}

TEST_P(SessionInterop, ReadsAndWritesTheCallersBuffers) {
  use_queue(*session_, queue_());
  const auto inputs = session_inputs(6);
  bind_buffer(*session_, "a", buffer_with(inputs[0].tensor)());
  session_->set_input("b", inputs[1].tensor);
  const cl::Buffer result = empty_buffer(kOutputBytes, CL_MEM_READ_WRITE);
  bind_buffer(*session_, outputs_[0].name, result());
  session_->enqueue();
  Tensor mine = Tensor::allocate(DType::f32, outputs_[0].shape);
  queue_.enqueueReadBuffer(result, CL_TRUE, 0, kOutputBytes, mine.mutable_data());
  expect_right(inputs, {{"", mine}, {"", session_->get_output(outputs_[1].name)}});
  // The session itself sees the same memory.
  expect_right(inputs, outputs_of(*session_));
}

TEST_P(SessionInterop, AReplacedBufferIsLeftAlone) {
  const auto inputs = session_inputs(7);
  const cl::Buffer result = empty_buffer(kOutputBytes, CL_MEM_READ_WRITE);
  bind_buffer(*session_, outputs_[0].name, result());
  static_cast<void>(session_->run(inputs));
  bind_buffer(*session_, outputs_[0].name, nullptr);
  const float canary = 77.0F;
  queue_.enqueueFillBuffer(result, canary, 0, kOutputBytes);
  queue_.finish();
  expect_right(inputs, session_->run(inputs));
  std::vector<float> seen(kSessionBatch * 5);
  queue_.enqueueReadBuffer(result, CL_TRUE, 0, kOutputBytes, seen.data());
  EXPECT_THAT(seen, ::testing::Each(canary));
}

TEST_P(SessionInterop, OneBufferMayFeedTwoInputs) {
  const Tensor values = session_inputs(8)[0].tensor;
  const cl::Buffer both = buffer_with(values);
  bind_buffer(*session_, "a", both());
  bind_buffer(*session_, "b", both());
  session_->enqueue();
  expect_right({{"a", values}, {"b", values}}, outputs_of(*session_));
}

TEST_P(SessionInterop, PortsThatShareTheirMemoryKeepIt) {
  NetworkBuilder network("renamed", 1);
  const TensorId x = network.input("x", {3, 4});
  network.output(network.node("Flatten", {x}, {{"axis", std::int64_t{0}}}));
  Session session(compile(Inside::make(network.finish()), *adopted_));
  const Tensor values = random_tensor({3, 4}, 9);
  const cl::Buffer mine = buffer_with(values);
  const std::string renamed = session.model().outputs()[0].name;
  for (const std::string& port : {std::string("x"), renamed}) {
    EXPECT_THAT(usage_complaint([&] { bind_buffer(session, port, mine()); }),
                HasSubstr("one memory under two names"));
  }
  const std::vector<NamedTensor> inputs{{"x", values}};
  const Tensor flat = session.run(inputs)[0].tensor;
  for (std::int64_t i = 0; i < 12; ++i) EXPECT_EQ(flat.at(i), values.at(i));
}

TEST_P(SessionInterop, BuffersThatDoNotFitAreRefused) {
  EXPECT_THAT(bind_complaint("a", empty_buffer(kInputBytes - 1, CL_MEM_READ_WRITE)),
              HasSubstr("has 203 bytes, needs 204"));
  EXPECT_THAT(bind_complaint("a", empty_buffer(kInputBytes, CL_MEM_WRITE_ONLY)),
              HasSubstr("may not be read"));
  EXPECT_THAT(bind_complaint(outputs_[0].name, empty_buffer(kOutputBytes, CL_MEM_READ_ONLY)),
              HasSubstr("may not be written"));
  const cl::Context other(device_);
  EXPECT_THAT(bind_complaint("a", cl::Buffer(other, CL_MEM_READ_WRITE, kInputBytes)),
              HasSubstr("another context"));
  EXPECT_THAT(bind_complaint("c", empty_buffer(kInputBytes, CL_MEM_READ_WRITE)),
              HasSubstr("no output 'c'"));
  const cl::Buffer shared = empty_buffer(kInputBytes, CL_MEM_READ_WRITE);
  bind_buffer(*session_, "a", shared());
  EXPECT_THAT(bind_complaint(outputs_[0].name, shared), HasSubstr("the memory of 'a' already"));
  bind_buffer(*session_, "a", nullptr);
  const Tensor mapped = session_->map_input("b");
  EXPECT_THAT(bind_complaint("a", shared), HasSubstr("unmap"));
  session_->unmap();
  // After all that the session works with its own.
  const auto inputs = session_inputs(10);
  expect_right(inputs, session_->run(inputs));
}

TEST_P(SessionInterop, QueuesThatDoNotFitAreRefused) {
  const auto complaint = [&](cl_command_queue queue) {
    return usage_complaint([&] { use_queue(*session_, queue); });
  };
  const cl::Context other(device_);
  const cl::CommandQueue elsewhere(other, device_);
  EXPECT_THAT(complaint(elsewhere()), HasSubstr("another context"));
  if (test::DeviceTest::device().info().features.out_of_order) {
    const cl::CommandQueue loose(context_, device_, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    EXPECT_THAT(complaint(loose()), HasSubstr("in order"));
  }
  const Tensor mapped = session_->map_input("a");
  EXPECT_THAT(complaint(queue_()), HasSubstr("unmap"));
  session_->unmap();
  const auto inputs = session_inputs(11);
  expect_right(inputs, session_->run(inputs));
}

TEST_P(SessionInterop, AnInputThatShapesFollowFromKeepsItsMemory) {
  NetworkBuilder network("reshaped", 1);
  const TensorId x = network.input("x", {3, 17});
  const TensorId shape = network.input("shape", {2});
  network.output(network.node("Reshape", {x, shape}));
  Graph graph = network.finish();
  graph.tensor(shape).dtype = DType::i64;
  CompileOptions options;
  Tensor value = Tensor::allocate(DType::i64, {2});
  value.set(0, 17);
  value.set(1, 3);
  options.values["shape"] = value;
  Session session(compile(Inside::make(graph), *adopted_, options));
  const cl::Buffer mine = empty_buffer(value.bytes(), CL_MEM_READ_WRITE);
  EXPECT_THAT(usage_complaint([&] { bind_buffer(session, "shape", mine()); }),
              HasSubstr("shapes follow from the value of input 'shape'"));
  bind_buffer(session, "shape", nullptr);
}

TEST_P(SessionInterop, WhatIsTheCallersDoesNotMoveToAnotherDevice) {
  const cl::Buffer mine = empty_buffer(kInputBytes, CL_MEM_READ_WRITE);
  bind_buffer(*session_, "a", mine());
  const auto move = [&] { session_->move_to(Inside::make(shared_device())); };
  EXPECT_THAT(usage_complaint(move), HasSubstr("caller's"));
  bind_buffer(*session_, "a", nullptr);
  use_queue(*session_, queue_());
  EXPECT_THAT(usage_complaint(move), HasSubstr("caller's"));
  use_queue(*session_, nullptr);
  EXPECT_EQ(usage_complaint(move), "nothing");
  const auto inputs = session_inputs(12);
  expect_right(inputs, session_->run(inputs));
}

TEST_P(SessionInterop, OnlyADeviceOfTheContextIsAdopted) {
  EXPECT_THAT(usage_complaint([&] { static_cast<void>(adopt_device(nullptr, device_())); }),
              HasSubstr("null"));
  EXPECT_THAT(usage_complaint([&] { static_cast<void>(adopt_device(context_(), nullptr)); }),
              HasSubstr("null"));
}

}  // namespace
}  // namespace morton::test
