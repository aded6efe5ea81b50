// SPDX-License-Identifier: Apache-2.0
#include "run/runner.hpp"

#include <chrono>

#include "base/error.hpp"
#include "base/shape.hpp"
#include "device/timing.hpp"

namespace morton {
namespace {

int find_port(const std::vector<std::pair<std::string, int>>& ports, const std::string& name,
              const char* kind) {
  std::string known;
  for (const auto& [port, value] : ports) {
    if (port == name) return value;
    known += (known.empty() ? "'" : ", '") + port + "'";
  }
  throw UsageError("session: the model has no " + std::string(kind) + " '" + name + "' (it has " +
                   known + ")");
}

}  // namespace

Runner::Runner(std::shared_ptr<const LoadedPlan> loaded, OpenClDevice::QueueKind kind)
    : loaded_(std::move(loaded)), kind_(kind), own_kind_(kind) {
  const Plan& plan = loaded_->plan();
  with_errors("making a session", [&] {
    OpenClDevice& device = loaded_->device();
    queue_ = device.make_queue(kind_);
    own_queue_ = queue_;
    blocks_.resize(plan.blocks.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (plan.blocks[b].kind == PlannedBlock::Kind::weights) continue;
      blocks_[b] = device.memory().allocate(plan.blocks[b].bytes);
    }
    buffers_.resize(plan.values.size());
    for (std::size_t v = 0; v < buffers_.size(); ++v) {
      const Value& value = plan.values[v];
      if (is_fixed(value)) continue;
      // Two names of one place share the handle: some drivers cannot bear overlapping sub-buffers.
      for (std::size_t known = 0; known < v && buffers_[v]() == nullptr; ++known) {
        if (same_place(static_cast<int>(known), static_cast<int>(v))) buffers_[v] = buffers_[known];
      }
      if (buffers_[v]() != nullptr) continue;
      // OpenCL has no empty buffers; an empty tensor gets a byte that nobody reads.
      buffers_[v] = blocks_[static_cast<std::size_t>(value.block)].slice(
          value.offset_bytes, std::max<std::int64_t>(value.bytes, 1));
    }
    own_ = buffers_;
    for (const auto& [name, value] : plan.states) {
      const Tensor& initial = value_at(value).data;
      write_buffer(queue_, device.info(), buffer_of(value), 0, {initial.data(), initial.bytes()});
    }
    for (const auto& step : plan.steps) {
      const auto& instance = plan.instances[static_cast<std::size_t>(step.instance)];
      steps_.emplace_back(step, instance.function, loaded_->program_of(step.instance),
                          [&](int value) -> const cl::Buffer& { return buffer_of(value); });
    }
  });
}

Runner::~Runner() {
  mapped_.clear();
  try {
    queue_.finish();
  } catch (const cl::Error&) {
    // A dead context has nothing left to wait for.
  }
}

const cl::Buffer& Runner::buffer_of(int value) const {
  if (is_fixed(value_at(value))) return loaded_->constant(value);
  return buffers_[static_cast<std::size_t>(value)];
}

const Value& Runner::value_at(int value) const {
  return loaded_->plan().values[static_cast<std::size_t>(value)];
}

void Runner::with_errors(const std::string& what, const std::function<void()>& call) const {
  with_device_errors(what, loaded_->device().info(), call);
}

int Runner::input(const std::string& name) const {
  return find_port(loaded_->plan().inputs, name, "input");
}

int Runner::output(const std::string& name) const {
  return find_port(loaded_->plan().outputs, name, "output");
}

int Runner::state(const std::string& name) const {
  return find_port(loaded_->plan().states, name, "state");
}

void Runner::write(int value, const Tensor& tensor) {
  const Value& target = value_at(value);
  if (tensor.dtype() != target.arrangement.dtype ||
      tensor.shape() != target.arrangement.tensor_shape) {
    throw UsageError("session: '" + target.name + "' is " +
                     std::string(name_of(target.arrangement.dtype)) + " " +
                     to_string(target.arrangement.tensor_shape) + ", got " +
                     std::string(name_of(tensor.dtype())) + " " + to_string(tensor.shape()));
  }
  require_unmapped(value, "setting");
  with_errors("writing input '" + target.name + "'", [&] {
    write_buffer(queue_, loaded_->device().info(), buffer_of(value), 0,
                 {tensor.data(), tensor.bytes()});
  });
}

void Runner::read(int value, Tensor& tensor) {
  const Value& source = value_at(value);
  if (tensor.dtype() != source.arrangement.dtype ||
      tensor.shape() != source.arrangement.tensor_shape) {
    throw UsageError("session: output '" + source.name + "' is " +
                     std::string(name_of(source.arrangement.dtype)) + " " +
                     to_string(source.arrangement.tensor_shape) + ", the destination is " +
                     std::string(name_of(tensor.dtype())) + " " + to_string(tensor.shape()));
  }
  with_errors("reading output '" + source.name + "'", [&] {
    read_buffer(queue_, loaded_->device().info(), buffer_of(value), 0,
                {tensor.mutable_data(), tensor.bytes()});
  });
}

void Runner::enqueue() {
  require_unmapped("running");
  const bool profiling = kind_ == OpenClDevice::QueueKind::profiling;
  events_.assign(profiling ? steps_.size() : 0, cl::Event());
  enqueue_us_.assign(events_.size(), 0.0);
  with_errors("running the model", [&] {
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (!profiling) {
        steps_[s].enqueue(queue_, nullptr);
        continue;
      }
      const auto start = std::chrono::steady_clock::now();
      steps_[s].enqueue(queue_, &events_[s]);
      const std::chrono::duration<double, std::micro> elapsed =
          std::chrono::steady_clock::now() - start;
      enqueue_us_[s] = elapsed.count();
    }
    queue_.flush();
  });
}

cl::Event Runner::marker() {
  cl::Event event;
  with_errors("marking the queue", [&] { queue_.enqueueMarkerWithWaitList(nullptr, &event); });
  return event;
}

void Runner::wait() {
  with_errors("waiting for the model", [&] { queue_.finish(); });
}

std::span<std::byte> Runner::map(int value, MappedBuffer::Access access) {
  const Value& target = value_at(value);
  require_unmapped(value, "mapping");
  std::span<std::byte> bytes;
  if (target.bytes == 0) return bytes;
  with_errors("mapping '" + target.name + "'", [&] {
    const MappedBuffer::Range whole{0, target.bytes};
    mapped_.push_back({value, std::make_unique<MappedBuffer>(queue_, loaded_->device().info(),
                                                             buffer_of(value), whole, access)});
    bytes = mapped_.back().memory->bytes();
  });
  return bytes;
}

void Runner::unmap() {
  with_errors("unmapping", [&] {
    for (const auto& mapping : mapped_) mapping.memory->unmap();
  });
  mapped_.clear();
}

bool Runner::same_place(int a, int b) const {
  const Value& one = value_at(a);
  const Value& other = value_at(b);
  return one.block == other.block && one.offset_bytes == other.offset_bytes &&
         one.bytes == other.bytes;
}

void Runner::require_unmapped(const std::string& action) const {
  if (is_mapped()) throw UsageError("session: unmap inputs and outputs before " + action);
}

void Runner::require_unmapped(int value, const std::string& action) const {
  for (const auto& mapping : mapped_) {
    if (!same_place(mapping.value, value)) continue;
    throw UsageError("session: '" + value_at(value).name + "' is mapped; unmap it before " +
                     action + " it");
  }
}

void Runner::use_queue(const cl::CommandQueue& queue) {
  require_unmapped("changing the queue");
  if (queue() == nullptr) {
    wait();
    queue_ = own_queue_;
    kind_ = own_kind_;
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
  queue_ = queue;
}

void Runner::use_kind(OpenClDevice::QueueKind kind) {
  require_unmapped("changing the queue");
  if (queue_() != own_queue_()) {
    throw UsageError(
        "session: the caller's queue decides whether it profiles; give the session "
        "its own back first (use_queue with null)");
  }
  if (kind == own_kind_) return;
  wait();
  with_errors("making a queue", [&] { own_queue_ = loaded_->device().make_queue(kind); });
  queue_ = own_queue_;
  kind_ = own_kind_ = kind;
  events_.clear();
  enqueue_us_.clear();
}

void Runner::check_buffer(int value, const cl::Buffer& buffer) const {
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

void Runner::require_own_memory(int value) const {
  for (const auto* ports : {&loaded_->plan().inputs, &loaded_->plan().outputs}) {
    for (const auto& [name, other] : *ports) {
      if (other == value || !same_place(other, value)) continue;
      throw UsageError("session: '" + value_at(value).name + "' and '" + name +
                       "' are one memory under two names; neither can have a buffer of its own");
    }
  }
}

void Runner::bind(int value, const cl::Buffer& buffer) {
  const Value& target = value_at(value);
  if (target.kind == Value::Kind::constant) {
    throw UsageError("session: '" + target.name + "' is a constant and has no memory to replace");
  }
  require_unmapped("replacing a buffer");
  if (buffer() != nullptr) {
    require_own_memory(value);
    check_buffer(value, buffer);
  }
  const cl::Buffer chosen = buffer() != nullptr ? buffer : own_[static_cast<std::size_t>(value)];
  with_errors("using the buffer for '" + target.name + "'", [&] {
    // Names that share the memory (a reshaped input) follow.
    for (std::size_t v = 0; v < buffers_.size(); ++v) {
      if (!same_place(static_cast<int>(v), value)) continue;
      buffers_[v] = chosen;
      for (auto& step : steps_) step.rebind(static_cast<int>(v), chosen);
    }
  });
}

bool Runner::uses_callers_objects() const {
  if (queue_() != own_queue_()) return true;
  for (std::size_t v = 0; v < buffers_.size(); ++v) {
    if (buffers_[v]() != own_[v]()) return true;
  }
  return false;
}

std::vector<StepRecord> Runner::step_records() {
  wait();
  std::vector<StepRecord> records;
  for (std::size_t s = 0; s < events_.size(); ++s) {
    StepRecord record;
    record.step = &steps_[s].step();
    record.enqueue_us = enqueue_us_[s];
    if (const auto time = device_time_ns(events_[s])) {
      record.device_us = static_cast<double>(*time) / 1e3;
    }
    records.push_back(record);
  }
  return records;
}

}  // namespace morton
