// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <mutex>
#include <optional>

#include "bindings.hpp"

namespace morton::python {
namespace {

py::dict arrays_of(std::vector<NamedTensor> tensors) {
  py::dict arrays;
  for (NamedTensor& tensor : tensors) {
    arrays[py::str(tensor.name)] = array_of(std::move(tensor.tensor));
  }
  return arrays;
}

py::list times_of(const std::vector<StepTime>& times) {
  py::list steps;
  for (const StepTime& step : times) {
    py::dict facts;
    facts["name"] = step.name;
    facts["kernel"] = step.kernel;
    facts["device_us"] = step.device_us ? py::object(py::float_(*step.device_us)) : py::none();
    facts["start_ns"] =
        step.device_span ? py::object(py::int_(step.device_span->start_ns)) : py::none();
    steps.append(facts);
  }
  return steps;
}

/// A session that any thread may call: one run at a time.
class SharedSession {
 public:
  SharedSession(const CompiledModel& model, bool profiling)
      : session_(model,
                 {profiling ? SessionOptions::Profiling::on : SessionOptions::Profiling::off}) {}

  py::dict run(const py::dict& inputs) {
    require_own_process();
    std::vector<py::array> kept;
    const std::vector<NamedTensor> tensors = tensors_of(inputs, kept);
    std::vector<NamedTensor> outputs;
    {
      const py::gil_scoped_release released;
      const std::lock_guard lock(mutex_);
      outputs = session_.run(tensors);
    }
    return arrays_of(std::move(outputs));
  }

  py::list step_times() {
    std::vector<StepTime> times;
    {
      const py::gil_scoped_release released;
      const std::lock_guard lock(mutex_);
      times = session_.step_times();
    }
    return times_of(times);
  }

  py::array state(const std::string& name) {
    std::optional<Tensor> value;
    {
      const py::gil_scoped_release released;
      const std::lock_guard lock(mutex_);
      value = session_.get_state(name);
    }
    return array_of(std::move(*value));
  }

  void set_state(const std::string& name, py::handle array) {
    std::vector<py::array> kept;
    const Tensor value = tensor_of(array, name, kept);
    const py::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    session_.set_state(name, value);
  }

 private:
  Session session_;
  std::mutex mutex_;
};

/// The same of a session whose inputs may have other shapes in each run.
class SharedSegments {
 public:
  SharedSegments(const Model& model, const Device& device, const py::dict& given) {
    require_own_process();
    std::vector<py::array> kept;
    session_.emplace(model, device, compile_options(given, kept));
  }

  py::dict run(const py::dict& inputs) {
    require_own_process();
    std::vector<py::array> kept;
    const std::vector<NamedTensor> tensors = tensors_of(inputs, kept);
    std::vector<NamedTensor> outputs;
    {
      const py::gil_scoped_release released;
      const std::lock_guard lock(mutex_);
      outputs = session_->run(tensors);
    }
    return arrays_of(std::move(outputs));
  }

  py::dict report() {
    const std::lock_guard lock(mutex_);
    py::list waits;
    for (const Wait& wait : session_->report().waits) {
      waits.append(py::make_tuple(wait.node, wait.why.print(), wait.times));
    }
    py::dict facts;
    facts["waits"] = waits;
    facts["plans"] = session_->report().plans;
    facts["built_kernels"] = session_->report().built_kernels;
    return facts;
  }

 private:
  std::optional<SegmentedSession> session_;
  std::mutex mutex_;
};

}  // namespace

void bind_sessions(py::module_& module) {
  py::class_<SharedSession>(module, "Session",
                            "A queue, the activations and the state of a compiled model. Threads "
                            "may share it; runs follow each other.")
      .def(py::init<const CompiledModel&, bool>(), py::arg("model"), py::arg("profiling") = false)
      .def("run", &SharedSession::run, py::arg("inputs"),
           "One inference: a dict of arrays by name, all inputs; gives all outputs likewise.")
      .def("step_times", &SharedSession::step_times,
           "Times of the last run's steps, a dict each; empty without profiling.")
      .def("get_state", &SharedSession::state, py::arg("name"))
      .def("set_state", &SharedSession::set_state, py::arg("name"), py::arg("value"));
  py::class_<SharedSegments>(module, "SegmentedSession",
                             "A session whose inputs may have other shapes in each run; plans are "
                             "made when shapes come first, and kept.")
      .def(py::init<const Model&, const Device&, const py::dict&>(), py::arg("model"),
           py::arg("device"), py::arg("options") = py::dict())
      .def("run", &SharedSegments::run, py::arg("inputs"), "As Session.run.")
      .def_property_readonly("report", &SharedSegments::report,
                             "What the last run took: waits of the host, plans, built kernels.");
}

}  // namespace morton::python
