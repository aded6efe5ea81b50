// SPDX-License-Identifier: Apache-2.0
#include "morton/session.hpp"

#include <algorithm>

#include "api/compile/compiled_state.hpp"
#include "api/inside.hpp"
#include "api/session/asked_outputs.hpp"
#include "api/session/lent_inputs.hpp"
#include "api/session/session_state.hpp"
#include "base/error.hpp"
#include "base/shape.hpp"
#include "morton/interop.hpp"
#include "run/runner.hpp"

namespace morton {
using namespace api;

struct Event::State {
  cl::Event event;
  std::shared_ptr<OpenClDevice> device;
};

namespace {

const PortInfo& find(const std::vector<PortInfo>& ports, const std::string& name) {
  const auto found = std::find_if(ports.begin(), ports.end(),
                                  [&](const PortInfo& port) { return port.name == name; });
  if (found == ports.end()) throw UsageError("session: the model has no port '" + name + "'");
  return *found;
}

std::vector<ValueId> values_of(Runner& runner, const AskedOutputs& asked) {
  std::vector<ValueId> values;
  for (const std::string* name : asked.names()) values.push_back(runner.output(*name));
  return values;
}

/// Whether the output counts an extent of one of these.
bool is_count(const std::vector<PortInfo>& ports, const std::string& name) {
  return std::ranges::any_of(ports, [&](const PortInfo& port) {
    return std::ranges::find(port.counts, name) != port.counts.end();
  });
}

void check_inputs(const std::vector<PortInfo>& ports, std::span<const NamedTensor> inputs) {
  for (const auto& port : ports) {
    const auto same = [&](const NamedTensor& input) { return input.name == port.name; };
    const auto count = std::count_if(inputs.begin(), inputs.end(), same);
    if (count != 1) {
      throw UsageError("session: input '" + port.name + "' (" + std::string(name_of(port.dtype)) +
                       " " + to_string(port.shape) + ") is given " + std::to_string(count) +
                       " times; it is needed once");
    }
  }
}

/// The value that the model was compiled with for the input, or nullptr where none mattered.
const Tensor* planned_value(const CompiledState& compiled, const std::string& name) {
  const auto given = compiled.planned_values.find(name);
  return given == compiled.planned_values.end() ? nullptr : &given->second;
}

/// Shapes follow from such an input's value, so it cannot change from run to run.
void check_planned(const CompiledState& compiled, const std::string& name, const Tensor& value) {
  const Tensor* planned = planned_value(compiled, name);
  if (planned == nullptr) return;
  const bool same = planned->dtype() == value.dtype() && planned->shape() == value.shape() &&
                    std::equal(value.data(), value.data() + value.bytes(), planned->data());
  if (same) return;
  throw UsageError("session: input '" + name +
                   "' has another value than the model was compiled with, and shapes follow from "
                   "it; compile again with the new value");
}

}  // namespace

Event::Event(std::shared_ptr<State> state) : state_(std::move(state)) {}

void Event::wait() const {
  const DeviceInfo& info = state_->device->info();
  with_device_errors("waiting for the model", info, [&] {
    const AnswerLimit limit;
    if (limit.is_set() && !limit.is_kept_by(state_->event)) {
      throw DeviceError("waiting for the model: " + info.name + " has not answered for " +
                        std::to_string(limit.milliseconds()) + " ms (MORTON_ANSWER_LIMIT)");
    }
    state_->event.wait();
  });
}

Session::Session(const CompiledModel& model, const SessionOptions& options)
    : state_(new State{model, options, make_runner(model, options), nullptr}) {}

Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

const CompiledModel& Session::model() const { return state_->model; }

std::vector<NamedTensor> Session::run(std::span<const NamedTensor> inputs) {
  check_inputs(Inside::of(state_->model)->inputs, inputs);
  state_->grown.check(state_->growths());
  take_final_plan();
  LentInputs lent(*this);
  for (const auto& input : inputs) lent.set(input.name, input.tensor);
  state_->grown.count_run(state_->growths());
  const std::vector<PortInfo>& ports = Inside::of(state_->model)->outputs;
  AskedOutputs asked;
  for (const PortInfo& port : ports) asked.add(port);
  std::vector<Tensor> tensors =
      asked.cut(state_->runner->compute(values_of(*state_->runner, asked)));
  // An output without bytes is not read, so nobody has waited for it.
  if (std::ranges::any_of(tensors, [](const Tensor& tensor) { return tensor.bytes() > 0; })) {
    lent.all_returned();
  }
  std::vector<NamedTensor> outputs;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    outputs.push_back({ports[i].name, std::move(tensors[i])});
  }
  return outputs;
}

void Session::set_input(const std::string& name, const Tensor& value) {
  check_planned(*Inside::of(state_->model), name, value);
  state_->runner->write(state_->runner->input(name), value);
}

void api::LentInputs::set(const std::string& name, const Tensor& value) {
  auto& state = Inside::of(session_);
  check_planned(*Inside::of(state.model), name, value);
  is_reading_ = true;
  state.runner->lend(state.runner->input(name), value);
}

void api::LentInputs::all_returned() {
  Inside::of(session_).runner->take_back();
  is_reading_ = false;
}

api::LentInputs::~LentInputs() {
  if (!is_reading_) return;
  Runner& runner = *Inside::of(session_).runner;  // it may be lost, and then keeps what it was lent
  runner.finish_quietly();
  try {
    runner.take_back();
  } catch (const DeviceError&) {
    // Who throws already tells of the device.
  }
}

Event Session::enqueue(Steps steps) {
  state_->grown.count_run(state_->growths());
  if (steps == Steps::all) take_final_plan();
  state_->runner->enqueue(steps == Steps::all ? Runner::Part::all : Runner::Part::computing);
  return Event(std::make_shared<Event::State>(
      Event::State{state_->runner->marker(), state_->runner->loaded().devices().front()}));
}

void Session::get_output(const std::string& name, Tensor& destination) {
  state_->runner->read(state_->runner->output(name), destination);
}

Tensor Session::get_output(const std::string& name) { return get_outputs({name}).front(); }

std::vector<Tensor> Session::get_outputs(const std::vector<std::string>& names) {
  const std::vector<PortInfo>& ports = Inside::of(state_->model)->outputs;
  AskedOutputs asked;
  for (const std::string& name : names) {
    static_cast<void>(state_->runner->output(name));  // which names those that there are
    if (is_count(ports, name)) {
      asked.add_count(name);
    } else {
      asked.add(find(ports, name));
    }
  }
  const std::vector<ValueId> values = values_of(*state_->runner, asked);
  std::vector<Tensor> tensors;
  for (const ValueId value : values) tensors.push_back(tensor_of(*state_->runner, value));
  state_->runner->read(values, tensors);
  return asked.cut(std::move(tensors));
}

Tensor Session::map_input(const std::string& name) {
  const ValueId value = state_->runner->input(name);
  if (planned_value(*Inside::of(state_->model), name) != nullptr) {
    throw UsageError("session: shapes follow from the value of input '" + name +
                     "', so it cannot be mapped; set it");
  }
  const PortInfo& port = find(Inside::of(state_->model)->inputs, name);
  const auto bytes = state_->runner->map(value, MappedBuffer::Access::overwrite);
  return Tensor::borrow(port.dtype, port.shape, bytes.data(), bytes.size());
}

Tensor Session::map_output(const std::string& name) {
  const ValueId value = state_->runner->output(name);
  const PortInfo& port = find(Inside::of(state_->model)->outputs, name);
  const auto bytes = state_->runner->map(value, MappedBuffer::Access::read);
  return Tensor::share(port.dtype, port.shape, bytes.data(), bytes.size(), nullptr);
}

void Session::unmap() { state_->runner->unmap(); }

void Session::set_profiling(SessionOptions::Profiling profiling) {
  const SessionOptions options{profiling};
  state_->runner->use_kind(queue_kind(options));
  state_->options = options;
}

std::vector<StepTime> Session::step_times() {
  std::vector<StepTime> times;
  for (const auto& record : state_->runner->step_records()) {
    StepTime& time = times.emplace_back();
    time.name = record.step->name;
    time.kernel = record.step->kernel;
    if (is_on_host(*record.step)) time.place = StepInfo::Place::host;
    time.enqueued_at_us = record.enqueued_at_us;
    time.enqueue_us = record.enqueue_us;
    time.host_us = record.host_us;
    if (const auto& span = record.device) {
      time.device_us = static_cast<double>(span->end_ns - span->start_ns) / 1e3;
      time.device_span = StepSpan{span->enqueued_ns, span->start_ns, span->end_ns};
    }
    for (const auto& [routine, us] : record.calls) time.calls.push_back({routine, us});
  }
  return times;
}

void Session::run_step_by_step() {
  state_->grown.count_run(state_->growths());
  state_->runner->run_step_by_step();
}

void use_queue(Session& session, cl_command_queue queue) {
  Runner& runner = *Inside::of(session).runner;
  with_device_errors("retaining the caller's queue", runner.loaded().device().info(), [&] {
    runner.use_queue(queue == nullptr ? cl::CommandQueue() : cl::CommandQueue(queue, true));
  });
}

void bind_buffer(Session& session, const std::string& port, cl_mem buffer) {
  Runner& runner = *Inside::of(session).runner;
  const auto& inputs = Inside::of(session.model())->inputs;
  const bool is_input = std::any_of(inputs.begin(), inputs.end(),
                                    [&](const PortInfo& input) { return input.name == port; });
  if (buffer != nullptr && planned_value(*Inside::of(session.model()), port) != nullptr) {
    throw UsageError("session: shapes follow from the value of input '" + port +
                     "', so it cannot have a buffer of its own; set it");
  }
  const ValueId value = is_input ? runner.input(port) : runner.output(port);
  with_device_errors("retaining the caller's buffer", runner.loaded().device().info(), [&] {
    runner.bind(value, buffer == nullptr ? cl::Buffer() : cl::Buffer(buffer, true));
  });
}

}  // namespace morton
