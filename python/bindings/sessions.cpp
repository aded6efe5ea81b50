// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>

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

/// A session that any thread may call: one call at a time. Python's lock is free meanwhile.
template <typename Runner>
class Shared {
 public:
  /// What `make` gives, made without Python's lock.
  template <typename Make>
  explicit Shared(const Make& make) {
    require_own_process();
    const py::gil_scoped_release released;
    session_.emplace(make());
  }

  template <typename Work>
  auto locked(const Work& work) {
    require_own_process();
    const py::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    return work(*session_);
  }

  py::dict run(const py::dict& inputs) {
    std::vector<py::array> kept;
    const std::vector<NamedTensor> tensors = tensors_of(inputs, kept);
    std::vector<NamedTensor> outputs = locked([&](Runner& session) {
      std::vector<NamedTensor> found = session.run(tensors);
      if constexpr (std::is_same_v<Runner, SegmentedSession>) {
        // A constant of the model is given as it lies in the model, of a branch too.
        for (NamedTensor& output : found) output.tensor = output.tensor.clone();
      } else {
        make_own(found, tensors);
      }
      return found;
    });
    return arrays_of(std::move(outputs));
  }

 private:
  std::optional<Runner> session_;
  std::mutex mutex_;
};

using SharedSession = Shared<Session>;
using SharedSegments = Shared<SegmentedSession>;

std::unique_ptr<SharedSession> make_session(const CompiledModel& model, bool profiling) {
  using Profiling = SessionOptions::Profiling;
  const SessionOptions options{profiling ? Profiling::on : Profiling::off};
  return std::make_unique<SharedSession>([&] { return Session(model, options); });
}

std::unique_ptr<SharedSegments> make_segments(const Model& model, const Device& device,
                                              const py::dict& given) {
  std::vector<py::array> kept;
  const CompileOptions options = compile_options(given, kept);
  return std::make_unique<SharedSegments>([&] { return SegmentedSession(model, device, options); });
}

py::list step_times(SharedSession& self) {
  return times_of(self.locked([](Session& session) { return session.step_times(); }));
}

py::array state(SharedSession& self, const std::string& name) {
  return array_of(self.locked([&](Session& session) { return session.get_state(name).clone(); }));
}

void set_state(SharedSession& self, const std::string& name, py::handle array) {
  std::vector<py::array> kept;
  const Tensor value = tensor_of(array, name, kept);
  self.locked([&](Session& session) { session.set_state(name, value); });
}

py::dict segments_report(SharedSegments& self) {
  const SegmentsReport report =
      self.locked([](const SegmentedSession& session) { return session.report(); });
  py::list waits;
  for (const Wait& wait : report.waits) {
    waits.append(py::make_tuple(wait.node, wait.why.print(), wait.times));
  }
  py::dict facts;
  facts["waits"] = waits;
  facts["plans"] = report.plans;
  facts["built_kernels"] = report.built_kernels;
  return facts;
}

}  // namespace

void bind_sessions(py::module_& module) {
  py::class_<SharedSession>(module, "Session",
                            "A queue, the activations and the state of a compiled model. Threads "
                            "may share it; runs follow each other.")
      .def(py::init(&make_session), py::arg("model"), py::arg("profiling") = false)
      .def("run", &SharedSession::run, py::arg("inputs"),
           "One inference: a dict of arrays by name, all inputs; gives all outputs likewise.")
      .def("step_times", &step_times,
           "Times of the last run's steps, a dict each; empty without profiling.")
      .def("get_state", &state, py::arg("name"))
      .def("set_state", &set_state, py::arg("name"), py::arg("value"));
  py::class_<SharedSegments>(module, "SegmentedSession",
                             "A session whose inputs may have other shapes in each run; plans are "
                             "made when shapes come first, and kept.")
      .def(py::init(&make_segments), py::arg("model"), py::arg("device"),
           py::arg("options") = py::dict())
      .def("run", &SharedSegments::run, py::arg("inputs"), "As Session.run.")
      .def_property_readonly("report", &segments_report,
                             "What the last run took: waits of the host, plans, built kernels.");
}

}  // namespace morton::python
