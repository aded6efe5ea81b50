// SPDX-License-Identifier: Apache-2.0
#include "device/use/timing.hpp"

namespace morton::device {

std::optional<std::int64_t> device_time_ns(const cl::Event& event) {
  return device_time_ns(event, event);
}

std::optional<std::int64_t> device_time_ns(const cl::Event& first, const cl::Event& last) {
  const auto span = device_span(first, last);
  return span ? std::optional(span->end_ns - span->start_ns) : std::nullopt;
}

std::optional<DeviceSpan> device_span(const cl::Event& first, const cl::Event& last) {
  const auto ask = [](const cl::Event& event, cl_profiling_info question, cl_ulong& answer) {
    return clGetEventProfilingInfo(event(), question, sizeof(answer), &answer, nullptr) ==
           CL_SUCCESS;
  };
  cl_ulong enqueued = 0;
  cl_ulong start = 0;
  cl_ulong end = 0;
  if (!ask(first, CL_PROFILING_COMMAND_START, start) || !ask(last, CL_PROFILING_COMMAND_END, end)) {
    return std::nullopt;
  }
  if (end <= start) return std::nullopt;
  if (!ask(first, CL_PROFILING_COMMAND_QUEUED, enqueued) || enqueued > start) enqueued = 0;
  return DeviceSpan{static_cast<std::int64_t>(enqueued), static_cast<std::int64_t>(start),
                    static_cast<std::int64_t>(end)};
}

}  // namespace morton::device
