// SPDX-License-Identifier: Apache-2.0
#include "run/answer_limit.hpp"

#include <charconv>
#include <chrono>
#include <string>
#include <thread>

#include "base/environment_variables.hpp"
#include "base/error.hpp"
#include "base/stopwatch.hpp"

namespace morton::run {
namespace {

constexpr const char* kVariable = "MORTON_ANSWER_LIMIT";
constexpr double kMostSeconds = 1e9;
/// For so long the host asks without a pause; then the pause grows with the wait, to the longest.
constexpr double kAskingUs = 200.0;
constexpr std::int64_t kLongestPauseUs = 1000;

}  // namespace

AnswerLimit::AnswerLimit() {
  const auto text = environment_variable(kVariable);
  if (!text) return;
  double seconds = 0.0;
  const char* end = text->data() + text->size();
  const auto [stop, status] = std::from_chars(text->data(), end, seconds);
  if (status != std::errc() || stop != end || !(seconds > 0.0) || seconds > kMostSeconds) {
    throw UsageError(std::string(kVariable) + " is '" + *text + "', expected seconds, more than 0");
  }
  milliseconds_ = std::max<std::int64_t>(static_cast<std::int64_t>(seconds * 1e3), 1);
}

bool AnswerLimit::is_kept_by(const cl::CommandQueue& queue) const {
  cl::Event behind_all;
  queue.enqueueMarkerWithWaitList(nullptr, &behind_all);
  queue.flush();
  return is_kept_by(behind_all);
}

bool AnswerLimit::is_kept_by(const cl::Event& event) const {
  for (const Stopwatch watch; watch.milliseconds() < static_cast<double>(milliseconds_);) {
    const cl_int status = event.getInfo<CL_EVENT_COMMAND_EXECUTION_STATUS>();
    if (status < 0) throw cl::Error(status, "a command");
    if (status == CL_COMPLETE) return true;
    const double waited_us = watch.microseconds();
    if (waited_us < kAskingUs) {
      std::this_thread::yield();
    } else {
      const auto pause_us = std::min(static_cast<std::int64_t>(waited_us / 8.0), kLongestPauseUs);
      std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
    }
  }
  return false;
}

}  // namespace morton::run
