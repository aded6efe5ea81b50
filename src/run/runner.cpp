// SPDX-License-Identifier: Apache-2.0
#include "run/runner.hpp"

#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "plan/ir/plan.hpp"
#include "run/streamed_weights.hpp"

namespace morton::run {
namespace {

ValueId find_port(const std::vector<Port>& ports, const std::string& name, const char* kind) {
  std::string known;
  for (const auto& [port, value] : ports) {
    if (port == name) return value;
    known += (known.empty() ? "'" : ", '") + port + "'";
  }
  throw UsageError("session: the model has no " + std::string(kind) + " '" + name + "' (it has " +
                   known + ")");
}

/// The calls of a step, each from the end of the one before; none where the clock makes no sense.
std::vector<CallRecord> call_records(const StepEvents& events) {
  std::vector<CallRecord> records;
  std::int64_t before_ns = 0;
  for (const CallEvent& call : events.calls) {
    const std::optional<DeviceSpan> span = device_span(events.first, call.last);
    if (!span || span->end_ns < before_ns) return {};
    const std::int64_t from_ns = records.empty() ? span->start_ns : before_ns;
    records.push_back({call.routine, static_cast<double>(span->end_ns - from_ns) / 1e3});
    before_ns = span->end_ns;
  }
  return records;
}

}  // namespace

Runner::Runner(std::shared_ptr<const LoadedPlan> loaded, OpenClDevice::QueueKind kind)
    : loaded_(std::move(loaded)), kind_(kind) {
  for (const auto& device : loaded_->devices()) queues_.add(device->make_queue(kind));
  own_queue_ = {queues_.front(), kind};
  const Plan& plan = loaded_->plan();
  own_.blocks.resize(plan.blocks.size());
  buffers_.resize(plan.values.size());
  launched_.resize(plan.steps.size());
  for (const DeviceIndex device : queues_.ids()) {
    with_device_errors("making a session", info(device), [&] { prepare(device); });
  }
  own_.buffers = buffers_;
  with_errors("making a session", [&] {
    transfers_.turns = turns_of(plan, loaded_->streamed(), loaded_->device(), buffers_);
  });
}

void Runner::prepare(DeviceIndex device) {
  const Plan& plan = loaded_->plan();
  for (const BlockId b : own_.blocks.ids()) {
    const PlannedBlock& block = plan.blocks[b];
    const bool is_loadeds =
        block.kind == PlannedBlock::Kind::weights || block.kind == PlannedBlock::Kind::loading;
    if (is_loadeds || block.device != device) continue;
    own_.blocks[b] = loaded_->device(device).memory().allocate(block.bytes);
  }
  slice_blocks(device);
  for (const auto& [name, value] : plan.states) {
    if (value_at(value).device != device) continue;
    const Tensor& initial = value_at(value).data;
    write_buffer(queue_of(device), info(device), buffer_of(value), 0,
                 {initial.data(), initial.bytes()});
  }
  for (std::size_t s = 0; s < launched_.size(); ++s) {
    const Step& step = plan.steps[s];
    if (step.device != device) continue;
    if (const Transfer* transfer = step.transfer()) {
      const auto bytes = static_cast<std::size_t>(transfer->all_bytes());
      transfers_.staging.resize(std::max(transfers_.staging.size(), bytes));
      continue;
    }
    launched_[s] =
        loaded_->launch(step, [&](ValueId value) -> const cl::Buffer& { return buffer_of(value); });
  }
}

void Runner::slice_blocks(DeviceIndex device) {
  const Plan& plan = loaded_->plan();
  // What begins at the same byte shares a handle, as large as the largest needs it: NVIDIA's driver
  // cannot bear sub-buffers that overlap in another way.
  struct Place {
    std::int64_t bytes = 1;  // OpenCL has no empty buffers; an empty tensor gets a byte
    std::vector<ValueId> values;
  };
  std::map<std::pair<BlockId, std::int64_t>, Place> places;
  for (const ValueId v : buffers_.ids()) {
    const Value& value = plan.values[v];
    if (is_resident(value) || value.device != device) continue;
    Place& place = places[{value.block, value.offset_bytes}];
    place.bytes = std::max(place.bytes, value.bytes);
    place.values.push_back(v);
  }
  for (const auto& [start, place] : places) {
    const Block& block = own_.blocks[start.first];
    const cl::Buffer part = block.slice(start.second, place.bytes);
    for (const ValueId v : place.values) buffers_[v] = part;
  }
}

Runner::~Runner() {
  if (!is_lost()) mapped_.clear();
  finish_quietly();
  if (is_lost()) abandon();
}

void Runner::finish_quietly() noexcept {
  for (const DeviceIndex device : queues_.ids()) {
    try {
      await(device);
      queue_of(device).finish();
    } catch (const DeviceError&) {
      return;  // lost
    } catch (const cl::Error&) {
      // A dead context has nothing left to wait for.
    }
  }
}

const cl::Buffer& Runner::buffer_of(ValueId value) const {
  if (is_resident(value_at(value))) return loaded_->constant(value);
  return buffers_[value];
}

const Value& Runner::value_at(ValueId value) const { return loaded_->plan().values[value]; }

void Runner::with_errors(const std::string& what, const std::function<void()>& call) const {
  with_device_errors(what, loaded_->device().info(), call);
}

ValueId Runner::input(const std::string& name) const {
  return find_port(loaded_->plan().inputs, name, "input");
}

ValueId Runner::output(const std::string& name) const {
  return find_port(loaded_->plan().outputs, name, "output");
}

ValueId Runner::state(const std::string& name) const {
  return find_port(loaded_->plan().states, name, "state");
}

void Runner::begin_run() {
  require_not_lost();
  require_unmapped("running");
  for (const ValueId input : lent_.gone) {
    if (buffers_[input]() != own_.buffers[input]()) continue;  // the caller's holds what it holds
    throw UsageError("session: input '" + value_at(input).name +
                     "' was given for a run that is over; set it again (set_input)");
  }
  return_results();
  if (transfers_.turns != nullptr) transfers_.turns->begin_run();
  transfers_.read_apart.clear();
  transfers_.stayed.clear();
}

void Runner::enqueue(Part part) {
  begin_run();
  enqueue_steps(part);
}

void Runner::enqueue_steps(Part part) {
  require_not_lost();
  const bool is_timed = kind_ == OpenClDevice::QueueKind::profiling || watch_.limit.is_set();
  times_.events.assign(is_timed ? launched_.size() : 0, StepEvents());
  times_.host.assign(times_.events.size(), HostTimes());
  const Stopwatch watch;
  read_waits_.begin();
  const std::vector<Step>& steps = loaded_->plan().steps;
  // Lent rows go to a device right before its first kernel: the devices before it compute by then.
  std::vector<std::size_t> rows;
  for (std::size_t first = 0; first < steps.size();) {
    const DeviceIndex device = steps[first].device;
    std::size_t end = first;
    while (end < steps.size() && steps[end].device == device) ++end;
    with_device_errors("running the model", info(device), [&] {
      for (std::size_t s = first; s < end; ++s) {
        if (part == Part::computing && steps[s].role == Step::Role::repack) continue;
        if (as_lent_rows(s) != nullptr) {
          rows.push_back(s);
          continue;
        }
        // Results are gathered behind the rows of all.
        const bool for_all = steps[s].transfer() != nullptr;
        const auto due = std::ranges::stable_partition(
            rows, [&](std::size_t r) { return !for_all && steps[r].device != device; });
        for (const std::size_t r : due) enqueue_timed(r, watch);
        rows.erase(due.begin(), due.end());
        enqueue_timed(s, watch);
      }
      queue_of(device).flush();
    });
    first = end;
  }
}

void Runner::run_step_by_step() {
  if (kind_ != OpenClDevice::QueueKind::profiling) {
    throw UsageError("session: to run step by step it must profile (set_profiling)");
  }
  begin_run();
  times_.events.assign(launched_.size(), StepEvents());
  times_.host.assign(times_.events.size(), HostTimes());
  const Stopwatch watch;
  for (std::size_t s = 0; s < launched_.size(); ++s) {
    const DeviceIndex device = loaded_->plan().steps[s].device;
    with_device_errors("running the model", info(device), [&] {
      enqueue_timed(s, watch);
      await(device);
      queue_of(device).finish();
    });
    times_.host[s].whole_us = watch.microseconds() - times_.host[s].enqueued_at_us;
  }
}

void Runner::run_watched(const std::function<void(std::size_t)>& after) {
  begin_run();
  for (std::size_t s = 0; s < launched_.size(); ++s) {
    const DeviceIndex device = loaded_->plan().steps[s].device;
    with_device_errors("running the model", info(device), [&] {
      enqueue_step(s, nullptr);
      await(device);
      queue_of(device).finish();
    });
    after(s);
  }
}

void Runner::enqueue_timed(std::size_t index, const Stopwatch& run) {
  if (times_.events.empty()) return enqueue_step(index, nullptr);
  const double enqueued_at_us = run.microseconds();
  enqueue_step(index, &times_.events[index]);
  times_.host[index].enqueued_at_us = enqueued_at_us;
  times_.host[index].enqueue_us = run.microseconds() - enqueued_at_us;
}

void Runner::enqueue_step(std::size_t index, StepEvents* events) {
  const Step& step = loaded_->plan().steps[index];
  // These wait for what is enqueued.
  if (step.transfer() != nullptr) await(value_at(step.transfer()->from).device);
  if (transfers_.turns != nullptr) transfers_.turns->before_step(index, queue_of(step.device));
  if (is_on_host(step)) await(step.device);
  if (const Transfer* rows = as_lent_rows(index)) {
    transfer_lent(*rows);
  } else if (const Transfer* stretch = step.transfer()) {
    if (stays(*stretch)) {
      transfers_.stayed.push_back(stretch);
    } else {
      transfer(*stretch);
    }
  } else {
    launched_[index]->enqueue(queue_of(step.device), events);
  }
}

cl::Event Runner::marker() {
  require_not_lost();
  cl::Event event;
  with_errors("marking the queue",
              [&] { queues_.front().enqueueMarkerWithWaitList(nullptr, &event); });
  return event;
}

void Runner::wait() {
  for (const DeviceIndex device : queues_.ids()) {
    await(device);
    with_device_errors("waiting for the model", info(device), [&] { queue_of(device).finish(); });
  }
}

std::vector<StepRecord> Runner::step_records() {
  wait();
  std::vector<StepRecord> records;
  if (kind_ != OpenClDevice::QueueKind::profiling) return records;
  for (std::size_t s = 0; s < times_.events.size(); ++s) {
    StepRecord record;
    record.step = &loaded_->plan().steps[s];
    const HostTimes& host = times_.host[s];
    record.enqueued_at_us = host.enqueued_at_us;
    record.enqueue_us = host.enqueue_us;
    record.host_us = host.whole_us;
    const bool has_events = record.step->transfer() == nullptr && !is_on_host(*record.step);
    const StepEvents& events = times_.events[s];
    if (has_events) record.device = device_span(events.first, events.last);
    if (record.device) record.calls = call_records(events);
    records.push_back(record);
  }
  return records;
}

}  // namespace morton::run
