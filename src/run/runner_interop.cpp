// SPDX-License-Identifier: Apache-2.0
//
// A runner on objects of the caller's: they belong to the first device, where inputs and outputs
// lie.
#include "base/error.hpp"
#include "base/rooms.hpp"
#include "run/runner.hpp"

namespace morton::run {

void Runner::use_queue(const cl::CommandQueue& queue) {
  require_unmapped("changing the queue");
  if (queue() == nullptr) {
    wait();
    queues_.front() = own_queue_.queue;
    kind_ = own_queue_.kind;
    return;
  }
  cl_command_queue_properties properties = 0;
  cl_context context = nullptr;
  cl_device_id device = nullptr;
  with_errors("looking at the caller's queue", [&] {
    properties = queue.getInfo<CL_QUEUE_PROPERTIES>();
    context = queue.getInfo<CL_QUEUE_CONTEXT>()();
    device = queue.getInfo<CL_QUEUE_DEVICE>()();
  });
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
    throw UsageError("session: the queue must run its commands in order");
  }
  if (context != loaded_->device().context()()) {
    throw UsageError("session: the queue belongs to another context than the model's device");
  }
  if (device != loaded_->device().device()()) {
    throw UsageError("session: the queue belongs to another device than the model's");
  }
  wait();
  kind_ = (properties & CL_QUEUE_PROFILING_ENABLE) != 0 ? OpenClDevice::QueueKind::profiling
                                                        : OpenClDevice::QueueKind::plain;
  queues_.front() = queue;
}

void Runner::use_kind(OpenClDevice::QueueKind kind) {
  require_unmapped("changing the queue");
  if (queues_.front()() != own_queue_.queue()) {
    throw UsageError(
        "session: the caller's queue decides whether it profiles; give the session "
        "its own back first (use_queue with null)");
  }
  if (kind == own_queue_.kind) return;
  wait();
  // Nothing changes unless all of them can be made.
  Indexed<DeviceIndex, cl::CommandQueue> queues;
  for (const auto& device : loaded_->devices()) queues.add(device->make_queue(kind));
  queues_ = std::move(queues);
  own_queue_ = {queues_.front(), kind};
  kind_ = kind;
  times_ = {};
}

void Runner::check_buffer(ValueId value, const cl::Buffer& buffer) const {
  const Value& target = value_at(value);
  const std::string where = "session: the buffer for '" + target.name + "'";
  std::int64_t bytes = 0;
  cl_context context = nullptr;
  cl_mem_object_type type = 0;
  cl_mem_flags flags = 0;
  with_errors("looking at the caller's buffer for '" + target.name + "'", [&] {
    bytes = static_cast<std::int64_t>(buffer.getInfo<CL_MEM_SIZE>());
    context = buffer.getInfo<CL_MEM_CONTEXT>()();
    type = buffer.getInfo<CL_MEM_TYPE>();
    flags = buffer.getInfo<CL_MEM_FLAGS>();
  });
  if (type != CL_MEM_OBJECT_BUFFER) throw UsageError(where + " is an image");
  if (context != loaded_->device().context()()) {
    throw UsageError(where + " belongs to another context than the model's device");
  }
  if (bytes < target.bytes) {
    throw UsageError(where + " has " + std::to_string(bytes) + " bytes, needs " +
                     std::to_string(target.bytes));
  }
  const bool written = target.kind == Value::Kind::output;
  if ((flags & (written ? CL_MEM_READ_ONLY : CL_MEM_WRITE_ONLY)) != 0) {
    throw UsageError(where + " may not be " + (written ? "written" : "read") + " by kernels");
  }
  // One buffer may feed two inputs; an output must be nobody else's.
  for (const auto* ports : {&loaded_->plan().inputs, &loaded_->plan().outputs}) {
    for (const auto& [name, other] : *ports) {
      const bool shared = buffer_of(other)() == buffer() && !same_place(other, value);
      if (shared && (written || value_at(other).kind == Value::Kind::output)) {
        throw UsageError(where + " is the memory of '" + name + "' already");
      }
    }
  }
}

const Port* Runner::other_name(ValueId value) const {
  const Plan& plan = loaded_->plan();
  for (const auto* ports : {&plan.inputs, &plan.outputs, &plan.states}) {
    for (const Port& port : *ports) {
      if (port.value != value && same_place(port.value, value)) return &port;
    }
  }
  return nullptr;
}

void Runner::bind(ValueId value, const cl::Buffer& buffer) {
  const Value& target = value_at(value);
  if (is_fixed(target)) {
    throw UsageError("session: '" + target.name + "' is a constant and has no memory to replace");
  }
  require_unmapped("replacing a buffer");
  if (buffer() == nullptr && is_lent(value)) return;  // it has no buffer of the caller's
  if (buffer() != nullptr) {
    if (const Port* other = other_name(value)) {
      throw UsageError("session: '" + target.name + "' and '" + other->name +
                       "' are one memory under two names; neither can have a buffer of its own");
    }
    check_buffer(value, buffer);
  }
  bring_in(value);
  const cl::Buffer chosen = buffer() != nullptr ? buffer : own_.buffers[value];
  with_errors("using the buffer for '" + target.name + "'", [&] { rebind(value, chosen); });
  lent_.results.erase(value);
}

void Runner::rebind(ValueId value, const cl::Buffer& buffer) {
  const cl::Buffer before = buffer_of(value);
  // Names that share the memory (a reshaped input) follow.
  const auto give = [&](const cl::Buffer& chosen) {
    for (const ValueId v : buffers_.ids()) {
      if (!same_place(v, value)) continue;
      for (auto& step : launched_) {
        if (step != nullptr) step->rebind(v, chosen);
      }
      buffers_[v] = chosen;
    }
  };
  try {
    give(buffer);
  } catch (...) {
    // A driver may refuse the buffer to one step after others took it (an image on it).
    try {
      give(before);
    } catch (const cl::Error& error) {
      // Steps with the wrong memory must never run.
      watch_.lost = "session: the steps have no memory for '" + value_at(value).name + "', since " +
                    error.what() + " returned " + opencl_error_text(error.err()) +
                    "; make another session, or go on on another device (move_to)";
      require_not_lost();
    }
    throw;
  }
}

bool Runner::uses_callers_objects() const {
  if (queues_.front()() != own_queue_.queue()) return true;
  for (const ValueId v : buffers_.ids()) {
    if (buffers_[v]() != own_.buffers[v]() && !is_lent(v)) return true;
  }
  return false;
}

}  // namespace morton::run
