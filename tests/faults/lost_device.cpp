// SPDX-License-Identifier: Apache-2.0
#include "faults/lost_device.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string_view>

#include "faults/opencl_layer.hpp"
#include "faults/small_training.hpp"
#include "morton/morton.hpp"

namespace morton::faults {
namespace {

constexpr const char* kLimitS = "0.4";
/// What gives up within the limit takes no longer, on a busy machine too.
constexpr double kLongestS = 5.0;
constexpr int kGone = -2;  // CL_DEVICE_NOT_AVAILABLE

int function_named(std::string_view name) {
  for (int f = 0; f < morton_layer_functions(); ++f) {
    if (name == morton_layer_name(f)) return f;
  }
  throw UsageError("the layer knows no " + std::string(name));
}

class Trials {
 public:
  explicit Trials(std::string folder) : folder_(std::move(folder)) {}

  void hanging() {
    ::setenv("MORTON_ANSWER_LIMIT", kLimitS, 1);
    for (const char* how : {"run", "enqueue and read", "enqueue and wait", "drop"}) {
      what_ = std::string("a device that hangs, ") + how + ": ";
      Case one(*this);
      arm(kFaultStall, 2);
      const std::string said = told([&] { use(one, how); });
      if (std::string_view(how) == "drop") {
        check(said.empty(), "dropping a session said: " + said);
      } else {
        check_said(said, "has not answered for 400 ms");
      }
      if (std::string_view(how) == "run") {
        check_said(said, "at step '");
        check_said(told([&] { static_cast<void>(one.session.run(one.inputs)); }),
                   "has not answered");
        move(one);
      }
      morton_layer_disarm();
    }
    ::unsetenv("MORTON_ANSWER_LIMIT");
  }

  void vanishing() {
    for (const char* function :
         {"clEnqueueWriteBuffer", "clEnqueueNDRangeKernel", "clFlush", "clEnqueueReadBuffer"}) {
      what_ = std::string("a device that vanishes at ") + function + ": ";
      Case one(*this);
      morton_layer_reset();
      morton_layer_arm(function_named(function), 1, kGone, kFaultFromHere);
      const std::string said = told([&] { static_cast<void>(one.session.run(one.inputs)); });
      check_said(said, "CL_DEVICE_NOT_AVAILABLE (-2)");
      check_said(said, "no longer answers");
      check(!told([&] { static_cast<void>(one.session.run(one.inputs)); }).empty(),
            "a second run said nothing");
      move(one);
      morton_layer_disarm();
    }
  }

  /// A training goes on from its last checkpoint on another device.
  void training() {
    what_ = "a training whose device vanishes: ";
    const std::string place = folder_ + "/training";
    std::filesystem::remove_all(place);
    {
      Trainer trainer(small_model(), first_, small_training());
      morton_layer_reset();
      TrainingRunOptions run = small_run(place);
      run.progress = [](const TrainingProgress& progress) {
        if (progress.step == 2) vanish_at_next_kernel();
      };
      const std::string said =
          told([&] { static_cast<void>(train(trainer, small_data(), nullptr, run)); });
      check_said(said, "no longer answers");
    }
    morton_layer_disarm();
    Trainer trainer(small_model(), second_, small_training());
    const TrainingReport report = train(trainer, small_data(), nullptr, small_run(place));
    check(report.resumed_from == 2,
          "it resumed from step " + std::to_string(report.resumed_from) + ", not 2");
    check(report.steps == 3, "it ended at step " + std::to_string(report.steps) + ", not 3");
  }

  [[nodiscard]] const std::vector<std::string>& wrong() const { return wrong_; }

 private:
  struct Case {
    explicit Case(const Trials& trials)
        : session(compile(small_model(), trials.first_)),
          inputs(small_inputs(session.model())),
          expected(bytes_of(session.run(inputs))) {}
    Session session;
    std::vector<NamedTensor> inputs;
    std::string expected;
  };

  static void vanish_at_next_kernel() {
    const int kernel = function_named("clEnqueueNDRangeKernel");
    morton_layer_arm(kernel, morton_layer_calls(kernel) + 1, kGone, kFaultFromHere);
  }

  static void arm(FaultWay way, long kernel) {
    morton_layer_reset();
    morton_layer_arm(function_named("clEnqueueNDRangeKernel"), kernel, 0, way);
  }

  static void use(Case& one, std::string_view how) {
    if (how == "run") static_cast<void>(one.session.run(one.inputs));
    if (how == "run") return;
    for (const NamedTensor& input : one.inputs) one.session.set_input(input.name, input.tensor);
    const Event event = one.session.enqueue();
    if (how == "enqueue and read")
      static_cast<void>(one.session.get_output(one.session.model().outputs()[0].name));
    if (how == "enqueue and wait") event.wait();
    if (how == "drop") const Session dropped = std::move(one.session);
  }

  void move(Case& one) {
    one.session.move_to(second_);
    check(one.session.model().device().id() == second_.id(), "the session did not move");
    const std::string answer = bytes_of(one.session.run(one.inputs));
    check(answer == one.expected, "another answer on the other device");
  }

  /// What `call` complains about, as a DeviceError; "" where it does not.
  std::string told(const std::function<void()>& call) {
    const auto begin = std::chrono::steady_clock::now();
    std::string said;
    try {
      call();
    } catch (const DeviceError& error) {
      said = error.what();
    } catch (const std::exception& error) {
      said = std::string("not a DeviceError: ") + error.what();
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    check(took.count() < kLongestS, "it took " + std::to_string(took.count()) + " s");
    return said;
  }

  void check(bool good, const std::string& text) {
    if (!good) wrong_.push_back(what_ + text);
  }
  void check_said(const std::string& said, const std::string& part) {
    check(said.find(part) != std::string::npos, "expected '" + part + "', got '" + said + "'");
  }

  std::string folder_, what_;
  // PoCL's device 0:0, of one thread, computes within clSetUserEventStatus and locks itself up.
  Device first_ = Device::open("0:1", {folder_ + "/cache"}),
         second_ = Device::open("0:0", {folder_ + "/cache"});
  std::vector<std::string> wrong_;
};

}  // namespace

std::vector<std::string> lose_devices(const std::string& folder, LostParts parts) {
  Trials trials(folder);
  trials.vanishing();
  if (parts == LostParts::all) trials.training();
  trials.hanging();
  return trials.wrong();
}

}  // namespace morton::faults
