// SPDX-License-Identifier: Apache-2.0
#include "run/streamed_weights.hpp"

#include <algorithm>
#include <utility>

#include "base/numbers/checked.hpp"
#include "device/use/transfer.hpp"
#include "plan/ir/lifetimes.hpp"
#include "run/weight_file.hpp"

namespace morton::run {
namespace {

/// Values begin at pages of the file.
constexpr std::int64_t kFilePageBytes = 4096;

bool takes_turns(const Value& value) { return value.is_streamed && !value.memory_of; }

}  // namespace

StreamedWeights::StreamedWeights(const Plan& plan, const std::string& folder)
    : bytes_(plan.values.size()) {
  std::int64_t all = 0;
  for (const Value& value : plan.values) {
    if (takes_turns(value)) all += round_up(value.bytes, kFilePageBytes);
  }
  if (all == 0) return;
  file_ = std::make_shared<WeightFile>(folder, all);
  std::int64_t at = 0;
  for (const ValueId v : plan.values.ids()) {
    const Value& value = plan.values[v];
    if (!takes_turns(value)) continue;
    bytes_[v] =
        file_->bytes().subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(value.bytes));
    at += round_up(value.bytes, kFilePageBytes);
  }
}

std::span<std::byte> StreamedWeights::bytes_of(ValueId value) const { return bytes_[value]; }

void StreamedWeights::written() const {
  if (file_ != nullptr) file_->drop_pages();
}

WeightTurns::WeightTurns(const Plan& plan, const StreamedWeights& weights,
                         const OpenClDevice& device, const Indexed<ValueId, cl::Buffer>& buffers)
    : weights_(weights),
      buffers_(buffers),
      queue_(device.make_queue(OpenClDevice::QueueKind::plain)),
      reads_(plan.steps.size()),
      arrivals_(plan.values.size()) {
  const Lifetimes lives = lifetimes(plan);
  for (const ValueId v : plan.values.ids()) {
    if (takes_turns(plan.values[v]) && plan.values[v].bytes > 0) {
      turns_.push_back({v, lives[v].first});
    }
  }
  std::ranges::stable_sort(turns_, {}, &Turn::begins);
  for (std::size_t s = 0; s < plan.steps.size(); ++s) {
    for (const ValueId value : plan.steps[s].reads) {
      const ValueId root = memory_root(plan.values, value);
      if (plan.values[root].is_streamed) reads_[s].push_back(root);
    }
  }
}

void WeightTurns::begin_run() {
  next_ = 0;
  arrivals_.assign(arrivals_.size(), cl::Event());
}

void WeightTurns::before_step(std::size_t step, const cl::CommandQueue& queue) {
  std::vector<cl::Event> behind;
  for (; next_ < turns_.size() && turns_[next_].begins <= step; ++next_) {
    if (behind.empty()) {
      behind.emplace_back();
      queue.enqueueMarkerWithWaitList(nullptr, &behind.front());
      queue.flush();
    }
    const ValueId value = turns_[next_].value;
    const std::span<const std::byte> bytes = weights_.bytes_of(value);
    queue_.enqueueWriteBuffer(buffers_[value], CL_FALSE, 0, bytes.size(), bytes.data(), &behind,
                              &arrivals_[value]);
  }
  if (!behind.empty()) queue_.flush();
  std::vector<cl::Event> needed;
  for (const ValueId value : reads_[step]) {
    if (arrivals_[value]() != nullptr) needed.push_back(std::exchange(arrivals_[value], {}));
  }
  if (!needed.empty()) queue.enqueueBarrierWithWaitList(&needed);
}

std::shared_ptr<WeightTurns> turns_of(const Plan& plan, const StreamedWeights& weights,
                                      const OpenClDevice& device,
                                      const Indexed<ValueId, cl::Buffer>& buffers) {
  if (streamed_bytes(plan) == 0) return nullptr;
  return std::make_shared<WeightTurns>(plan, weights, device, buffers);
}

}  // namespace morton::run
