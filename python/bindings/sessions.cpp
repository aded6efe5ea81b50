// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>

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

/// Makes the outputs of a SegmentedSession their arrays' own. It gives a model's constants as they
/// lie in the model, writable ones too. Which outputs these are shows at the second run: they lie
/// where they lay at the first, whose outputs are kept until then. Whoever has branches or loops
/// may give a constant in some runs only, so all of those outputs are copied.
class Constants {
 public:
  explicit Constants(const Model& model) {
    constexpr std::array<std::string_view, 4> kWithBodies{"If", "Loop", "Scan", "SequenceMap"};
    for (const auto& [name, count] : model.summary().operators) {
      has_bodies_ = has_bodies_ || std::ranges::find(kWithBodies, name) != kWithBodies.end();
    }
  }

  void copy(std::vector<NamedTensor>& outputs, const std::vector<NamedTensor>& inputs) {
    const bool is_first = first_.empty() && !is_known_;
    if (is_first) first_ = outputs;
    for (std::size_t i = 0; i < first_.size() && !is_first; ++i) {
      if (first_[i].tensor.stored() == outputs[i].tensor.stored()) names_.insert(outputs[i].name);
    }
    for (NamedTensor& output : outputs) {
      const bool is_copied = is_first || has_bodies_ || names_.contains(output.name);
      if (is_copied) output.tensor = output.tensor.clone();
    }
    if (!is_first) {
      first_.clear();
      is_known_ = true;
    }
    make_own(outputs, inputs);
  }

 private:
  bool has_bodies_ = false;
  bool is_known_ = false;
  std::vector<NamedTensor> first_;  ///< the first run's outputs, between it and the second
  std::set<std::string> names_;     ///< of outputs that are constants
};

/// A session that any thread may call: one call at a time. Python's lock is free meanwhile.
template <typename Runner>
class Shared {
 public:
  /// What `make` gives, made without Python's lock; `model` where its constants may come out.
  template <typename Make>
  Shared(const Model* model, const Make& make) {
    require_own_process();
    const py::gil_scoped_release released;
    session_.emplace(make());
    if (model != nullptr) constants_.emplace(*model);
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
      if (constants_) {
        constants_->copy(found, tensors);
      } else {
        make_own(found, tensors);
      }
      return found;
    });
    return arrays_of(std::move(outputs));
  }

 private:
  std::optional<Runner> session_;
  std::optional<Constants> constants_;
  std::mutex mutex_;
};

using SharedSession = Shared<Session>;
using SharedSegments = Shared<SegmentedSession>;

std::unique_ptr<SharedSession> make_session(const CompiledModel& model, bool profiling) {
  using Profiling = SessionOptions::Profiling;
  const SessionOptions options{profiling ? Profiling::on : Profiling::off};
  return std::make_unique<SharedSession>(nullptr, [&] { return Session(model, options); });
}

std::unique_ptr<SharedSegments> make_segments(const Model& model, const Device& device,
                                              const py::dict& given) {
  std::vector<py::array> kept;
  const CompileOptions options = compile_options(given, kept);
  return std::make_unique<SharedSegments>(&model,
                                          [&] { return SegmentedSession(model, device, options); });
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
  py::list fallbacks;
  for (const Message& line : report.fallbacks) fallbacks.append(line.print());
  facts["fallbacks"] = fallbacks;
  return facts;
}

}  // namespace

void bind_sessions(py::module_& module) {
  py::class_<SharedSession>(module, "Session",
                            "A queue, the activations and the state of a compiled model. Threads "
                            "may share it; runs follow each other.")
      .def(py::init(&make_session), py::arg("model"), py::arg("profiling") = false,
           "`profiling` measures each step with the device's clock, for step_times.")
      .def("run", &SharedSession::run, py::arg("inputs"),
           "One inference: a dict of arrays by name, all inputs, of the "
           "compiled shapes and types; gives all outputs likewise. Raises UsageError for a wrong "
           "input, and DeviceError.")
      .def("step_times", &step_times,
           "Times of the last run's steps, a dict each; empty without profiling.")
      .def("get_state", &state, py::arg("name"),
           "The value of a state that runs renew (feeds) as an array. Raises UsageError for an "
           "unknown name.")
      .def("set_state", &set_state, py::arg("name"), py::arg("value"),
           "Puts another value in its place, of its type and shape (UsageError).");
  py::class_<SharedSegments>(module, "SegmentedSession",
                             "A session whose inputs may have other shapes in each run; plans are "
                             "made when shapes come first, and kept.")
      .def(py::init(&make_segments), py::arg("model"), py::arg("device"),
           py::arg("options") = py::dict())
      .def("run", &SharedSegments::run, py::arg("inputs"), "As Session.run.")
      .def_property_readonly(
          "report", &segments_report,
          "What the last run took: waits of the host, plans, built kernels. And `fallbacks` of "
          "all plans so far.");
}

}  // namespace morton::python
