// SPDX-License-Identifier: Apache-2.0
#include "device/probe/probe_group.hpp"

#include "base/error.hpp"

namespace morton::device {
namespace {

constexpr const char* kGroups = "measuring shapes of work-groups";
constexpr std::int64_t kMostGroupLaunches = std::int64_t{1} << 20;

constexpr const char* kStreamText = R"(
__kernel void stream(__global const float4* src, __global float4* dst) {
  const uint at = get_global_id(1) * get_global_size(0) + get_global_id(0);
  dst[at] = 2.0f * src[at] + 1.0f;
}
)";
constexpr const char* kProductText = R"(
__kernel void product(__global const float* lhs, __global const float* rhs, __global float* dst) {
  const uint n = get_global_id(0), m = get_global_id(1), size = get_global_size(0);
  float sum = 0.0f;
  for (uint k = 0; k < size; ++k) sum += lhs[m * size + k] * rhs[k * size + n];
  dst[m * size + n] = sum;
}
)";

/// Small whole numbers, so that sums are exact.
std::vector<float> operand(std::size_t count, std::uint32_t factor) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>((static_cast<std::uint32_t>(i) * factor) >> 30U);
  }
  return values;
}

std::vector<float> streamed(std::vector<float> src) {
  for (float& value : src) value = 2.0F * value + 1.0F;
  return src;
}

std::vector<float> product_of(const std::vector<float>& lhs, const std::vector<float>& rhs,
                              std::size_t size) {
  std::vector<float> dst(size * size);
  for (std::size_t m = 0; m < size; ++m) {
    for (std::size_t k = 0; k < size; ++k) {
      for (std::size_t n = 0; n < size; ++n) {
        dst[m * size + n] += lhs[m * size + k] * rhs[k * size + n];
      }
    }
  }
  return dst;
}

std::string shape_text(const GroupProbe::Extents& group) {
  return std::to_string(group[0]) + "x" + std::to_string(group[1]);
}

}  // namespace

GroupProbe::GroupProbe(std::shared_ptr<OpenClDevice> device, Kernel kernel,
                       const Extents& work_items)
    : device_(std::move(device)), work_items_(work_items) {
  const bool product = kernel == Kernel::product;
  const auto items = static_cast<std::size_t>(work_items[0] * work_items[1]);
  std::vector<std::vector<float>> sources;
  sources.push_back(operand(product ? items : 4 * items, 2654435761U));
  if (product) sources.push_back(operand(items, 2246822519U));
  expected_ = product ? product_of(sources[0], sources[1], static_cast<std::size_t>(work_items[0]))
                      : streamed(sources[0]);
  with_device_errors(kGroups, device_->info(), [&] {
    const char* const name = product ? "product" : "stream";
    BuildReport report;
    program_ = device_->programs().get(product ? kProductText : kStreamText, {name}, report);
    queue_ = device_->make_queue(OpenClDevice::QueueKind::profiling);
    kernel_ = cl::Kernel(program_->program, name);
    cl_uint at = 0;
    for (std::vector<float>& source : sources) {
      sources_.emplace_back(device_->context(), CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                            source.size() * sizeof(float), source.data());
      kernel_.setArg(at++, sources_.back());
    }
    result_ = cl::Buffer(device_->context(), CL_MEM_READ_WRITE, expected_.size() * sizeof(float));
    kernel_.setArg(at, result_);
  });
}

std::optional<std::string> GroupProbe::why_not(const Extents& group) const {
  const DeviceInfo::Compute& compute = device_->info().compute;
  for (std::size_t d = 0; d < group.size(); ++d) {
    if (group[d] > compute.max_work_item_sizes[d]) {
      return "dimension " + std::to_string(d) + " has at most " +
             std::to_string(compute.max_work_item_sizes[d]) + " work-items in a group";
    }
  }
  std::int64_t most = compute.max_work_group_size;
  with_device_errors(kGroups, device_->info(), [&] {
    most = static_cast<std::int64_t>(
        kernel_.getWorkGroupInfo<CL_KERNEL_WORK_GROUP_SIZE>(device_->device()));
  });
  if (group[0] * group[1] <= most) return {};
  return "the driver gives the kernel at most " + std::to_string(most) + " work-items in a group";
}

void GroupProbe::check(const Extents& group) {
  std::vector<float> got(expected_.size());
  queue_.enqueueReadBuffer(result_, CL_TRUE, 0, got.size() * sizeof(float), got.data());
  if (got == expected_) return;
  throw DeviceError(std::string(kGroups) + ": with work-groups of " + shape_text(group) +
                    " a result is wrong, on " + device_->info().name +
                    ": its driver does not run what was written; update it, or use another device");
}

std::vector<double> GroupProbe::launch_times_ms(const Extents& group, const Sampling& sampling) {
  std::vector<double> times;
  with_device_errors(kGroups, device_->info(), [&] {
    const auto range = [](const Extents& extents) {
      return cl::NDRange(static_cast<cl::size_type>(extents[0]),
                         static_cast<cl::size_type>(extents[1]));
    };
    const cl::NDRange local = group[0] == 0 ? cl::NDRange() : range(group);
    queue_.enqueueFillBuffer(result_, 0.0F, 0, expected_.size() * sizeof(float));
    const Work work =
        repeated([&] { return launch_ms(queue_, kernel_, range(work_items_), local); });
    times = samples_of(work, sufficient_amount(work, 1, kMostGroupLaunches, sampling, kGroups),
                       sampling);
    check(group);
  });
  (void)device_->programs().store(*program_);
  return times;
}

}  // namespace morton::device
