// SPDX-License-Identifier: Apache-2.0
#include "device/probe/probe_sample.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"
#include "base/stopwatch.hpp"
#include "device/use/timing.hpp"

namespace morton::device {

std::int64_t sufficient_amount(const Work& work, std::int64_t least, std::int64_t most,
                               const Sampling& sampling, const std::string& what) {
  (void)work(least);
  std::int64_t amount = least;
  // On a busy machine little work may take long; the quickest of three tells how long it is.
  const auto quickest_ms = [&] { return std::min({work(amount), work(amount), work(amount)}); };
  double ms = quickest_ms();
  while (ms < sampling.sample_ms) {
    if (amount > most / 2) {
      throw DeviceError(what + ": " + std::to_string(amount) + " units of work took " +
                        std::to_string(ms) + " ms and more were no slower than fewer: the driver " +
                        "has removed the work, so nothing can be measured");
    }
    amount *= ms < sampling.sample_ms / 8.0 && amount <= most / 8 ? 8 : 2;
    ms = quickest_ms();
  }
  return amount;
}

std::vector<double> samples_of(const Work& work, std::int64_t amount, const Sampling& sampling) {
  std::vector<double> samples;
  for (int i = 0; i < sampling.samples; ++i) {
    samples.push_back(work(amount) / static_cast<double>(amount));
  }
  return samples;
}

double launch_ms(const cl::CommandQueue& profiling_queue, const cl::Kernel& kernel,
                 std::int64_t work_items, std::int64_t work_group) {
  return launch_ms(profiling_queue, kernel, cl::NDRange(static_cast<cl::size_type>(work_items)),
                   cl::NDRange(static_cast<cl::size_type>(work_group)));
}

double launch_ms(const cl::CommandQueue& profiling_queue, const cl::Kernel& kernel,
                 const cl::NDRange& work_items, const cl::NDRange& work_group) {
  cl::Event event;
  const Stopwatch watch;
  profiling_queue.enqueueNDRangeKernel(kernel, cl::NullRange, work_items, work_group, nullptr,
                                       &event);
  profiling_queue.finish();
  const double wall_ms = watch.milliseconds();
  const auto device_ns = device_time_ns(event);
  return device_ns ? static_cast<double>(*device_ns) / 1e6 : wall_ms;
}

Work repeated(std::function<double()> unit) {
  return [unit = std::move(unit)](std::int64_t amount) {
    double ms = 0.0;
    for (std::int64_t i = 0; i < amount; ++i) ms += unit();
    return ms;
  };
}

}  // namespace morton::device
