// SPDX-License-Identifier: Apache-2.0
//
// Sessions as callers use them: run and its parts, wrong use, threads, lifetimes, times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "api/inside.hpp"
#include "base/stopwatch.hpp"
#include "device/session_network.hpp"
#include "support/devices.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class SessionRun : public test::DeviceTest {
 protected:
  [[nodiscard]] CompiledModel compiled() const {
    return compile(session_model(), Inside::make(shared_device()), session_options());
  }
};
MORTON_ON_EVERY_DEVICE(SessionRun);

TEST_P(SessionRun, AnswersInTheModelsOrderWhateverTheOrderOfInputs) {
  Session session(compiled());
  auto inputs = session_inputs(1);
  std::reverse(inputs.begin(), inputs.end());
  const auto outputs = session.run(inputs);
  ASSERT_EQ(outputs.size(), 2U);
  EXPECT_EQ(outputs[0].name, session.model().outputs()[0].name);
  EXPECT_EQ(outputs[1].name, session.model().outputs()[1].name);
  expect_right(inputs, outputs);
}

TEST_P(SessionRun, PartsOfARunAreTheRun) {
  Session session(compiled());
  const auto inputs = session_inputs(2);
  for (const auto& input : inputs) session.set_input(input.name, input.tensor);
  session.enqueue().wait();
  expect_right(inputs, outputs_of(session));
}

TEST_P(SessionRun, TensorsMayBeTheCallers) {
  Session session(compiled());
  auto inputs = session_inputs(3);
  const auto values = inputs[0].tensor.as<float>();
  std::vector<float> mine(values.begin(), values.end());
  const std::size_t bytes = mine.size() * sizeof(float);
  session.set_input("a", Tensor::borrow(DType::f32, {kSessionBatch, 17}, mine.data(), bytes));
  // The bytes may be reused on return.
  std::fill(mine.begin(), mine.end(), 1e30F);
  session.set_input("b", inputs[1].tensor);
  session.enqueue();

  const PortInfo port = session.model().outputs()[0];
  constexpr float kCanary = 12345.0F;
  std::vector<float> room(kSessionBatch * 5 + 2, kCanary);
  Tensor destination =
      Tensor::borrow(DType::f32, port.shape, room.data() + 1, kSessionBatch * 5 * sizeof(float));
  session.get_output(port.name, destination);
  expect_right(inputs, {{port.name, destination},
                        {"", session.get_output(session.model().outputs()[1].name)}});
  EXPECT_EQ(room.front(), kCanary);
  EXPECT_EQ(room.back(), kCanary);
}

TEST_P(SessionRun, ASecondEnqueueMayFollowBeforeTheFirstHasEnded) {
  Session session(compiled());
  const auto inputs = session_inputs(4);
  for (const auto& input : inputs) session.set_input(input.name, input.tensor);
  std::vector<Event> events;
  for (int i = 0; i < 20; ++i) events.push_back(session.enqueue());
  // Inputs that are set while work is under way count for what is enqueued after them.
  const auto later = session_inputs(5);
  for (const auto& input : later) session.set_input(input.name, input.tensor);
  events.push_back(session.enqueue());
  for (auto event = events.rbegin(); event != events.rend(); ++event) event->wait();
  expect_right(later, outputs_of(session));
}

TEST_P(SessionRun, WrongInputsAreNamedAndLeaveTheSessionUsable) {
  Session session(compiled());
  const auto good = session_inputs(6);
  const auto run = [&](const std::vector<NamedTensor>& inputs) {
    return usage_complaint([&] { static_cast<void>(session.run(inputs)); });
  };
  EXPECT_THAT(run({}), AllOf(HasSubstr("'a'"), HasSubstr("3x17"), HasSubstr("0 times")));
  EXPECT_THAT(run({good[0]}), AllOf(HasSubstr("'b'"), HasSubstr("0 times")));
  EXPECT_THAT(run({good[0], good[1], good[0]}), AllOf(HasSubstr("'a'"), HasSubstr("2 times")));
  EXPECT_THAT(run({good[0], good[1], {"c", good[0].tensor}}),
              AllOf(HasSubstr("no input 'c'"), HasSubstr("'a', 'b'")));
  EXPECT_THAT(run({good[0], {"b", random_tensor({kSessionBatch, 16}, 1)}}),
              AllOf(HasSubstr("'b'"), HasSubstr("3x17"), HasSubstr("3x16")));
  // As many elements in another shape are another input.
  EXPECT_THAT(run({good[0], {"b", random_tensor({17, kSessionBatch}, 1)}}), HasSubstr("17x3"));
  EXPECT_THAT(run({good[0], {"b", good[1].tensor.converted(DType::f64)}}),
              AllOf(HasSubstr("f32"), HasSubstr("f64")));
  EXPECT_THAT(run({good[0], {"b", Tensor()}}), HasSubstr("got f32 0"));
  expect_right(good, session.run(good));
}

TEST_P(SessionRun, WrongOutputsAreNamed) {
  Session session(compiled());
  static_cast<void>(session.run(session_inputs(7)));
  EXPECT_THAT(usage_complaint([&] { static_cast<void>(session.get_output("a")); }),
              AllOf(HasSubstr("no output 'a'"), HasSubstr("Softmax")));
  const std::string name = session.model().outputs()[0].name;
  Tensor small = Tensor::allocate(DType::f32, {kSessionBatch, 4});
  EXPECT_THAT(usage_complaint([&] { session.get_output(name, small); }),
              AllOf(HasSubstr("3x5"), HasSubstr("3x4")));
  Tensor other = Tensor::allocate(DType::f16, {kSessionBatch, 5});
  EXPECT_THAT(usage_complaint([&] { session.get_output(name, other); }), HasSubstr("f16"));
  const float one = 0.0F;
  Tensor fixed = Tensor::share(DType::f32, {1}, &one, sizeof(one), nullptr);
  EXPECT_NE(usage_complaint([&] { session.get_output(name, fixed); }), "nothing");
}

TEST_P(SessionRun, SessionsOfOneModelDoNotDisturbEachOther) {
  const CompiledModel model = compiled();
  Session first(model);
  Session second(model);
  const auto some = session_inputs(8);
  const auto others = session_inputs(9);
  for (const auto& input : some) first.set_input(input.name, input.tensor);
  for (const auto& input : others) second.set_input(input.name, input.tensor);
  first.enqueue();
  second.enqueue();
  expect_right(some, outputs_of(first));
  expect_right(others, outputs_of(second));
}

TEST_P(SessionRun, TwoThreadsGetEqualAnswers) {
  const CompiledModel model = compiled();
  constexpr int kRuns = 25;
  std::vector<std::vector<float>> answers[2];
  std::string failures[2];
  const auto work = [&](int thread) {
    try {
      Session session(model);
      for (int i = 0; i < kRuns; ++i) {
        const auto outputs = session.run(session_inputs(static_cast<std::uint64_t>(i)));
        const auto values = outputs[0].tensor.as<float>();
        answers[thread].emplace_back(values.begin(), values.end());
      }
    } catch (const std::exception& error) {
      failures[thread] = error.what();
    }
  };
  std::thread one(work, 0);
  std::thread other(work, 1);
  one.join();
  other.join();
  EXPECT_EQ(failures[0] + failures[1], "");
  ASSERT_EQ(answers[0].size(), kRuns);
  EXPECT_EQ(answers[0], answers[1]);
  Session session(model);
  const auto again = session.run(session_inputs(kRuns - 1));
  expect_right(session_inputs(kRuns - 1), again);
  const auto last = again[0].tensor.as<float>();
  EXPECT_TRUE(std::equal(last.begin(), last.end(), answers[0].back().begin()));
}

TEST_P(SessionRun, TwoThreadsMayCompileAtOnce) {
  const Device device = Inside::make(shared_device());
  std::vector<NamedTensor> outputs[2];
  const auto work = [&](int thread) {
    Session session(compile(session_model(), device, session_options()));
    outputs[thread] = session.run(session_inputs(10));
  };
  std::thread one(work, 0);
  std::thread other(work, 1);
  one.join();
  other.join();
  expect_right(session_inputs(10), outputs[0]);
  expect_right(session_inputs(10), outputs[1]);
}

TEST_P(SessionRun, OutlivesWhatItWasMadeFrom) {
  std::optional<Session> session;
  {
    const Device device = Device::open(GetParam(), {"", DeviceConfig::DiskCache::none});
    const CompiledModel model = compile(session_model(), device, session_options());
    session.emplace(model);
  }
  const auto inputs = session_inputs(11);
  expect_right(inputs, session->run(inputs));
  Session moved = std::move(*session);
  session.reset();
  expect_right(inputs, moved.run(inputs));
}

TEST_P(SessionRun, AnEventOutlivesItsSession) {
  std::optional<Event> event;
  {
    Session session(compiled());
    for (const auto& input : session_inputs(12)) session.set_input(input.name, input.tensor);
    event = session.enqueue();
  }
  EXPECT_NO_THROW(event->wait());
  EXPECT_NO_THROW(event->wait());
}

TEST_P(SessionRun, OutputsAreCopiesThatLaterRunsDoNotChange) {
  Session session(compiled());
  const auto inputs = session_inputs(13);
  const auto outputs = session.run(inputs);
  static_cast<void>(session.run(session_inputs(14)));
  expect_right(inputs, outputs);
}

TEST_P(SessionRun, GivesItsMemoryBack) {
  const Device device = Inside::make(shared_device());
  const std::int64_t before = device.used_bytes();
  {
    const CompiledModel model = compiled();
    const std::int64_t with_model = device.used_bytes();
    EXPECT_GE(with_model - before, model.report().memory.weight_bytes);
    Session session(model);
    EXPECT_GE(device.used_bytes() - with_model,
              model.report().memory.activation_bytes + model.report().memory.workspace_bytes);
    static_cast<void>(session.run(session_inputs(15)));
  }
  EXPECT_EQ(device.used_bytes(), before);
  EXPECT_GE(device.peak_bytes(), before);
}

TEST_P(SessionRun, TimesOfStepsAreThereAndFitTheRun) {
  SessionOptions options;
  options.profiling = SessionOptions::Profiling::on;
  Session session(compiled(), options);
  EXPECT_TRUE(session.step_times().empty()) << "nothing has run";
  for (int run = 0; run < 2; ++run) {
    const Stopwatch watch;
    static_cast<void>(session.run(session_inputs(16)));
    const double wall_us = watch.microseconds();
    const auto times = session.step_times();
    const auto steps = session.model().steps();
    ASSERT_EQ(times.size(), steps.size());
    double sum_us = 0.0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_EQ(times[i].name, steps[i].name);
      EXPECT_EQ(times[i].kernel, steps[i].kernel);
      EXPECT_GT(times[i].enqueue_us, 0.0);
      if (!device().info().features.profiling) continue;
      ASSERT_TRUE(times[i].device_us.has_value()) << times[i].name;
      EXPECT_GT(*times[i].device_us, 0.0);
      sum_us += *times[i].device_us;
    }
    // Steps run one after the other inside the run.
    EXPECT_LE(sum_us, wall_us);
  }
  Session plain(compiled());
  static_cast<void>(plain.run(session_inputs(17)));
  EXPECT_TRUE(plain.step_times().empty());
}

TEST_P(SessionRun, TheCompiledModelSaysWhatItIs) {
  const CompiledModel model = compiled();
  const auto inputs = model.inputs();
  ASSERT_EQ(inputs.size(), 2U);
  EXPECT_EQ(inputs[0].name, "a");
  EXPECT_EQ(inputs[0].shape, (Shape{kSessionBatch, 17}));
  EXPECT_EQ(model.outputs()[0].shape, (Shape{kSessionBatch, 5}));
  EXPECT_EQ(model.outputs()[1].shape, (Shape{kSessionBatch, 33}));
  EXPECT_EQ(model.device().id(), GetParam());
  const auto steps = model.steps();
  const std::string text = model.plan_text(CompiledModel::Detail::brief);
  std::int64_t flop = 0;
  for (const auto& step : steps) {
    EXPECT_THAT(text, HasSubstr(step.name));
    EXPECT_THAT(text, HasSubstr(step.kernel));
    EXPECT_GT(step.bytes, 0);
    // How much is packed depends on the kernels that the device gets.
    if (!step.kernel.starts_with("pack.")) flop += step.flop;
  }
  // Two products, and at least one operation for each element behind them; padding is not counted.
  constexpr std::int64_t kProducts = 2 * kSessionBatch * (17 * 33 + 33 * 5);
  EXPECT_GE(flop, kProducts);
  EXPECT_LE(flop, kProducts + kSessionBatch * (17 + 33 * 2 + 5 * 6));
}

}  // namespace
}  // namespace morton::test
