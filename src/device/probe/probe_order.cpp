// SPDX-License-Identifier: Apache-2.0
#include "device/probe/probe_order.hpp"

#include <cstdlib>
#include <string>

#include "base/error.hpp"

namespace morton::device {
namespace {

constexpr const char* kOrder = "finding the order of work-groups";

constexpr const char* kTicketKernel = R"(
__kernel void take_ticket(__global volatile uint* counter, __global uint* tickets) {
  tickets[get_global_id(0) + get_global_id(1) * get_global_size(0)] = atomic_inc(counter);
}
)";

}  // namespace

OrderProbe::OrderProbe(std::shared_ptr<OpenClDevice> device) : device_(std::move(device)) {
  with_device_errors(kOrder, device_->info(), [&] {
    BuildReport report;
    program_ = device_->programs().get(kTicketKernel, {"take_ticket"}, report);
    queue_ = device_->make_queue(OpenClDevice::QueueKind::plain);
    kernel_ = cl::Kernel(program_->program, "take_ticket");
  });
}

std::vector<std::int64_t> OrderProbe::tickets(const std::array<std::int64_t, 2>& groups) {
  const auto count = static_cast<std::size_t>(groups[0] * groups[1]);
  std::vector<cl_uint> taken(count, ~cl_uint{0});
  with_device_errors(kOrder, device_->info(), [&] {
    const std::size_t bytes = count * sizeof(cl_uint);
    const cl_uint zero = 0;
    const cl::Buffer counter(device_->context(), CL_MEM_READ_WRITE, sizeof(zero));
    const cl::Buffer table(device_->context(), CL_MEM_READ_WRITE, bytes);
    queue_.enqueueWriteBuffer(counter, CL_TRUE, 0, sizeof(zero), &zero);
    queue_.enqueueWriteBuffer(table, CL_TRUE, 0, bytes, taken.data());
    kernel_.setArg(0, counter);
    kernel_.setArg(1, table);
    queue_.enqueueNDRangeKernel(
        kernel_, cl::NullRange,
        cl::NDRange(static_cast<cl::size_type>(groups[0]), static_cast<cl::size_type>(groups[1])),
        cl::NDRange(1, 1));
    queue_.enqueueReadBuffer(table, CL_TRUE, 0, bytes, taken.data());
  });
  std::vector<bool> seen(count, false);
  for (const cl_uint ticket : taken) {
    if (ticket >= count || seen[ticket]) {
      throw DeviceError(std::string(kOrder) + ": " + std::to_string(count) +
                        " work-groups took ticket " + std::to_string(ticket) +
                        " twice or too late, on " + device_->info().name +
                        ": its atomic functions or launches do not work");
    }
    seen[ticket] = true;
  }
  (void)device_->programs().store(*program_);
  return {taken.begin(), taken.end()};
}

OrderFit fit_of(const std::vector<std::int64_t>& tickets, const std::array<std::int64_t, 2>& groups,
                int dimension) {
  const std::int64_t fast = groups[static_cast<std::size_t>(dimension)];
  const auto count = static_cast<std::int64_t>(tickets.size());
  OrderFit fit;
  std::int64_t before = -1;
  double distance = 0.0;
  double walked = 0.0;
  for (std::int64_t place = 0; place < count; ++place) {
    const std::int64_t at = dimension == 0 ? place : place / fast + place % fast * groups[0];
    const std::int64_t ticket = tickets[static_cast<std::size_t>(at)];
    if (ticket < before) ++fit.pieces;
    if (place > 0) walked += static_cast<double>(std::abs(ticket - before));
    before = ticket;
    distance += static_cast<double>(std::abs(ticket - place));
  }
  fit.displacement = distance / (static_cast<double>(count) * static_cast<double>(count));
  fit.step = walked / static_cast<double>(count);
  return fit;
}

}  // namespace morton::device
