// SPDX-License-Identifier: Apache-2.0
//
// Products that the host computes between kernels, on memory that it shares with the device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/inside.hpp"
#include "device/session_network.hpp"
#include "device/use/host_product.hpp"
#include "morton/interop.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::HasSubstr;

class SessionHostStep : public test::DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    options_.use = {{"gemm", "gemm.eigen"}};
    if (device().info().memory.is_unified) return;
    EXPECT_THAT(usage_complaint([&] { static_cast<void>(compiled(session_model())); }),
                HasSubstr("it requires device.unified_memory"));
    GTEST_SKIP() << "the device has memory of its own";
  }
  [[nodiscard]] CompiledModel compiled(const Model& model) const {
    return compile(model, Inside::make(shared_device()), options_);
  }

  CompileOptions options_ = session_options();
};
MORTON_ON_EVERY_DEVICE(SessionHostStep);

TEST_P(SessionHostStep, SeesWhatKernelsLeftAndKernelsSeeItsResult) {
  const CompiledModel model = compiled(session_model());
  EXPECT_THAT(model.plan_text(CompiledModel::Detail::why), HasSubstr("library call on the host"));
  EXPECT_EQ(model.report().notes.size(), 0U) << model.report().notes.front().print();
  Session session(model, {SessionOptions::Profiling::on});
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto inputs = session_inputs(seed);
    expect_right(inputs, session.run(inputs));
  }
  const std::vector<StepTime> times = session.step_times();
  int on_host = 0;
  for (std::size_t s = 0; s < times.size(); ++s) {
    EXPECT_EQ(times[s].place, model.steps()[s].place);
    if (times[s].place == StepInfo::Place::device) continue;
    ++on_host;
    EXPECT_EQ(times[s].kernel, "gemm.eigen");
    EXPECT_FALSE(times[s].device_us.has_value());
    EXPECT_GT(times[s].enqueue_us, 0.0);
  }
  EXPECT_EQ(on_host, 2);
  for (const auto& input : session_inputs(1)) session.set_input(input.name, input.tensor);
  session.run_step_by_step();
  for (const StepTime& time : session.step_times()) EXPECT_GT(time.host_us.value(), 0.0);
}

TEST_P(SessionHostStep, TakesTheCallersBuffers) {
  NetworkBuilder network("product", 3);
  const TensorId x = network.input("x", {-1, 17});
  network.output(network.node("MatMul", {x, network.parameter({17, 63}, 17)}));
  const Graph graph = network.finish();
  Session session(compiled(Inside::make(graph)));
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    Tensor tensor = random_tensor({kSessionBatch, 17}, seed);
    const std::vector<NamedTensor> inputs{{"x", tensor}};
    const cl::Buffer buffer(shared_device()->context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                            tensor.bytes(), tensor.mutable_data());
    bind_buffer(session, "x", buffer());
    session.enqueue().wait();
    const auto expected = reference_outputs(with_shapes(graph, kSessionBatch), inputs);
    const Tensor got = session.get_output(session.model().outputs()[0].name);
    const Comparison comparison = compare(expected[0], got.as<float>());
    EXPECT_TRUE(comparison.ok()) << comparison.text;
  }
  bind_buffer(session, "x", nullptr);
}

TEST_P(SessionHostStep, EmptyProductsAreZeroOrNothing) {
  const cl::CommandQueue queue = device().make_queue(OpenClDevice::QueueKind::plain);
  std::vector<float> six(6, 7.0F);
  const ProductBuffers buffers{
      cl::Buffer(device().context(), CL_MEM_READ_WRITE, 1),
      cl::Buffer(device().context(), CL_MEM_READ_WRITE, 1),
      cl::Buffer(device().context(), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, 6 * sizeof(float),
                 six.data())};
  const auto result = [&] {
    queue.enqueueReadBuffer(buffers.dst, CL_TRUE, 0, 6 * sizeof(float), six.data());
    return six;
  };
  multiply_mapped(queue, device().info(), buffers, {0, 3, 1});
  EXPECT_THAT(result(), ::testing::Each(7.0F));
  multiply_mapped(queue, device().info(), buffers, {2, 3, 0});
  EXPECT_THAT(result(), ::testing::Each(0.0F));
}

}  // namespace
}  // namespace morton::test
