// SPDX-License-Identifier: Apache-2.0
//
// Models that answer at once: an interim plan of generic kernels, which gives way to the model's
// own.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "device/session_network.hpp"
#include "model/model_check.hpp"
#include "morton/architectures.hpp"
#include "morton/interop.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"
#include "support/sketch.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using Stage = CompileReport::Stage;
using Start = CompileOptions::Start;

class InterimModels : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { device_.emplace(Device::open(GetParam(), {folder_.path().string()})); }
  [[nodiscard]] static CompileOptions at(Start start) {
    CompileOptions options = session_options();
    options.start = start;
    return options;
  }
  /// A start in another process finds what is on disk alone; here another handle does.
  [[nodiscard]] Device opened_anew() const {
    return Device::open(GetParam(), {folder_.path().string()});
  }

  TemporaryFolder folder_;
  std::optional<Device> device_;
};
MORTON_ON_EVERY_DEVICE(InterimModels);

TEST_P(InterimModels, AnswerBeforeTheirOwnKernelsAreThere) {
  const CompiledModel interim = compile(session_model(), *device_, at(Start::at_once));
  EXPECT_EQ(interim.report().stage, Stage::interim);
  Session session(interim);
  const auto inputs = session_inputs(1);
  expect_right(inputs, session.run(inputs));

  const CompiledModel settled = interim.settled();
  EXPECT_EQ(settled.report().stage, Stage::final);
  EXPECT_EQ(interim.latest().report().stage, Stage::final);
  EXPECT_EQ(interim.report().stage, Stage::interim) << "a compiled model does not change";
  const auto others = session_inputs(2);
  expect_right(others, session.run(others));
  EXPECT_EQ(session.model().report().stage, Stage::final);
  EXPECT_EQ(Session(settled).model().report().stage, Stage::final);
}

TEST_P(InterimModels, KeepTheInputsThatWereSet) {
  const CompiledModel interim = compile(session_model(), *device_, at(Start::at_once));
  Session session(interim);
  const auto inputs = session_inputs(3);
  for (const auto& input : inputs) session.set_input(input.name, input.tensor);
  static_cast<void>(interim.settled());
  session.enqueue();
  EXPECT_EQ(session.model().report().stage, Stage::final);
  expect_right(inputs, outputs_of(session));
}

TEST_P(InterimModels, StayWhileAnythingIsMapped) {
  const CompiledModel interim = compile(session_model(), *device_, at(Start::at_once));
  Session session(interim);
  const auto inputs = session_inputs(4);
  session.set_input("a", inputs[0].tensor);
  session.set_input("b", inputs[1].tensor);
  static_cast<void>(interim.settled());
  use_queue(session, nullptr);
  Tensor mapped = session.map_input("a");
  std::copy_n(inputs[0].tensor.data(), mapped.bytes(), mapped.mutable_data());
  session.unmap();
  EXPECT_EQ(session.model().report().stage, Stage::interim) << "mapping goes over to nothing";
  session.enqueue();
  EXPECT_EQ(session.model().report().stage, Stage::final);
  expect_right(inputs, outputs_of(session));
}

TEST_P(InterimModels, AreFinalWhereTheirKernelsAreBuilt) {
  static_cast<void>(compile(session_model(), *device_, at(Start::ready)));
  const CompiledModel again = compile(session_model(), opened_anew(), at(Start::at_once));
  EXPECT_EQ(again.report().stage, Stage::final);
}

TEST_P(InterimModels, ShareTheirKernels) {
  const CompileReport::Kernels prepared = prepare_interim_kernels(*device_);
  EXPECT_GT(prepared.built, 5);
  EXPECT_EQ(prepare_interim_kernels(opened_anew()).built, 0);
  for (const char* network : {"lenet5", "c18-cnn", "r17-256"}) {
    CompileOptions options;
    options.start = Start::interim_alone;
    const CompiledModel model = compile(new_model(network, 1), opened_anew(), options);
    EXPECT_EQ(model.report().stage, Stage::interim) << network;
    EXPECT_EQ(model.report().kernels.built, 0) << network;
    EXPECT_EQ(model.report().kernels.tried, 0) << network;
  }
}

TEST_P(InterimModels, PadWholeNumbersWithWholeNumbers) {
  Tensor outside = Tensor::allocate(DType::i32, {});
  outside.set(0, -3.0);
  Sketch sketch;
  sketch.input("x", {2, 2}, DType::i32)
      .constant("pads", Tensor::from({4}, std::vector<std::int64_t>{1, 0, 0, 1}))
      .constant("outside", outside)
      .node("Pad", {"x", "pads", "outside"}, {"y"});
  Tensor x = Tensor::allocate(DType::i32, {2, 2});
  for (std::int64_t i = 0; i < 4; ++i) x.set(i, static_cast<double>(i + 1));
  CompileOptions options;
  options.start = Start::interim_alone;
  Session session(compile(to_model(sketch.graph({"y"})), *device_, options));
  const Tensor y = session.run(std::vector<NamedTensor>{{"x", x}})[0].tensor;
  const std::vector<std::int32_t> expected{-3, -3, -3, 1, 2, -3, 3, 4, -3};
  EXPECT_TRUE(std::ranges::equal(y.as<std::int32_t>(), expected));
}

TEST_P(InterimModels, TakeOtherShapes) {
  const CompiledModel interim = compile(session_model(), *device_, at(Start::interim_alone));
  const CompiledModel other = interim.with_shapes({7, {}}, CompiledModel::Missing::refuse);
  EXPECT_EQ(other.report().stage, Stage::interim);
  EXPECT_EQ(other.inputs().front().shape.front(), 7);
}

TEST_P(InterimModels, MayGoBeforeTheirSuccessorIsThere) {
  for (int i = 0; i < 3; ++i) {
    const CompiledModel interim = compile(session_model(), opened_anew(), at(Start::at_once));
    std::this_thread::sleep_for(std::chrono::milliseconds(40 * i));
  }
  // What was cut off left nothing that is in the way.
  const CompiledModel ready = compile(session_model(), opened_anew(), at(Start::ready));
  Session session(ready);
  const auto inputs = session_inputs(5);
  expect_right(inputs, session.run(inputs));
}

TEST_P(InterimModels, AreNotCompiledAhead) {
  const CompiledModel interim = compile(session_model(), *device_, at(Start::interim_alone));
  EXPECT_THROW(save_compiled(std::span(&interim, 1), (folder_.path() / "net.morton").string()),
               UsageError);
}

/// What cannot be interim says why, and is ready.
TEST_P(InterimModels, SayWhyTheyAreNot) {
  const auto told_of = [&](CompileOptions options, const Device& device) {
    std::string told;
    options.log = [&](const Message& line) { told += line.print() + "\n"; };
    const CompiledModel model = compile(session_model(), device, options);
    EXPECT_EQ(model.report().stage, Stage::final);
    return told;
  };
  CompileOptions chosen = at(Start::at_once);
  chosen.exclude = {"gemm.morton_4_2"};
  EXPECT_NE(told_of(chosen, *device_).find("there is no interim plan"), std::string::npos);
  const Device memory_only = Device::open(GetParam(), {"", DeviceConfig::DiskCache::none});
  EXPECT_NE(told_of(at(Start::at_once), memory_only).find("no cache folder"), std::string::npos);
}

}  // namespace
}  // namespace morton::test
