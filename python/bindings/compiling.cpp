// SPDX-License-Identifier: Apache-2.0
#include "taking.hpp"

namespace morton::python {
namespace {

/// An option of compile: how its value goes into the options.
using Setter = void (*)(CompileOptions& options, py::handle value, std::vector<py::array>& kept);

const std::vector<std::pair<const char*, Setter>>& setters() {
  using Options = CompileOptions;
  using Kept = std::vector<py::array>;
  static const std::vector<std::pair<const char*, Setter>> kSetters{
      {"batch", [](Options& o, py::handle v, Kept&) { o.batch = v.cast<std::int64_t>(); }},
      {"shapes",
       [](Options& o, py::handle v, Kept&) { o.shapes = v.cast<std::map<std::string, Shape>>(); }},
      {"values",
       [](Options& o, py::handle v, Kept& kept) {
         for (NamedTensor& value : tensors_of(v.cast<py::dict>(), kept)) {
           o.values[value.name] = value.tensor.clone();
         }
       }},
      {"feeds", [](Options& o, py::handle v,
                   Kept&) { o.feeds = v.cast<std::map<std::string, std::string>>(); }},
      {"use", [](Options& o, py::handle v,
                 Kept&) { o.use = v.cast<std::map<std::string, std::string>>(); }},
      {"exclude",
       [](Options& o, py::handle v, Kept&) { o.exclude = v.cast<std::vector<std::string>>(); }},
      {"local",
       [](Options& o, py::handle v, Kept&) { o.local = v.cast<std::vector<std::int64_t>>(); }},
      {"tunables",
       [](Options& o, py::handle v, Kept&) {
         o.tunables = v.cast<std::map<std::string, std::map<std::string, std::int64_t>>>();
       }},
      {"tuning_files", [](Options& o, py::handle v,
                          Kept&) { o.tuning_files = v.cast<std::vector<std::string>>(); }},
      {"skip_passes",
       [](Options& o, py::handle v, Kept&) { o.skip_passes = v.cast<std::vector<std::string>>(); }},
      {"catalogue_files", [](Options& o, py::handle v,
                             Kept&) { o.catalogue_files = v.cast<std::vector<std::string>>(); }},
      {"weights",
       [](Options& o, py::handle v, Kept&) { o.weights = v.cast<std::vector<double>>(); }},
      {"precision", [](Options& o, py::handle v,
                       Kept&) { o.precision.operands = parse_dtype(v.cast<std::string>()); }},
      {"sums", [](Options& o, py::handle v,
                  Kept&) { o.precision.sums = parse_dtype(v.cast<std::string>()); }},
      {"workspace_limit_bytes",
       [](Options& o, py::handle v, Kept&) { o.limits.workspace_bytes = v.cast<std::int64_t>(); }},
      {"weight_limit_bytes",
       [](Options& o, py::handle v, Kept&) { o.limits.weight_bytes = v.cast<std::int64_t>(); }},
      {"max_kernel_ms",
       [](Options& o, py::handle v, Kept&) { o.limits.kernel_ms = v.cast<double>(); }},
      {"tuning",
       [](Options& o, py::handle v, Kept&) {
         using Tuning = Options::Tuning;
         o.tuning = choice<Tuning>(v, "tuning", {{"use", Tuning::use}, {"ignore", Tuning::ignore}});
       }},
      {"self_test",
       [](Options& o, py::handle v, Kept&) {
         using SelfTest = Options::SelfTest;
         o.self_test =
             choice<SelfTest>(v, "self_test", {{"once", SelfTest::once}, {"off", SelfTest::off}});
       }},
      {"start",
       [](Options& o, py::handle v, Kept&) {
         using Start = Options::Start;
         o.start = choice<Start>(v, "start",
                                 {{"ready", Start::ready},
                                  {"at_once", Start::at_once},
                                  {"interim_alone", Start::interim_alone}});
       }},
      {"cache_dir", [](Options& o, py::handle v, Kept&) { o.cache_dir = v.cast<std::string>(); }},
      {"launches",
       [](Options& o, py::handle v, Kept&) {
         o.launches = choice<JoinedLaunches>(v, "launches",
                                             {{"automatic", JoinedLaunches::automatic},
                                              {"apart", JoinedLaunches::apart},
                                              {"joined", JoinedLaunches::joined}});
       }},
      {"other_shapes",
       [](Options& o, py::handle v, Kept&) {
         using Other = Options::OtherShapes;
         o.other_shapes = choice<Other>(v, "other_shapes",
                                        {{"prepare", Other::prepare}, {"leave", Other::leave}});
       }},
      {"unkept",
       [](Options& o, py::handle v, Kept&) {
         using Unkept = Options::Unkept;
         o.unkept =
             choice<Unkept>(v, "unkept", {{"report", Unkept::report}, {"refuse", Unkept::refuse}});
       }},
      {"fallback",
       [](Options& o, py::handle v, Kept&) {
         using Fallback = Options::Fallback;
         o.fallback = choice<Fallback>(
             v, "fallback", {{"report", Fallback::report}, {"refuse", Fallback::refuse}});
       }},
  };
  return kSetters;
}

std::vector<std::string> printed(const std::vector<Message>& messages) {
  std::vector<std::string> texts;
  for (const Message& message : messages) texts.push_back(message.print());
  return texts;
}

py::dict report_of(const CompiledModel& model) {
  const CompileReport& report = model.report();
  py::dict facts;
  facts["kernels_built"] = report.kernels.built;
  facts["kernels_from_cache"] = report.kernels.from_disk + report.kernels.from_memory;
  facts["passes_ms"] = report.times.passes_ms;
  facts["plan_ms"] = report.times.plan_ms;
  facts["build_ms"] = report.times.build_ms;
  facts["upload_ms"] = report.times.upload_ms;
  facts["self_test_ms"] = report.times.self_test_ms;
  facts["weight_bytes"] = report.memory.weight_bytes;
  facts["streamed_bytes"] = report.memory.streamed_bytes;
  facts["activation_bytes"] = report.memory.activation_bytes;
  facts["workspace_bytes"] = report.memory.workspace_bytes;
  facts["notes"] = printed(report.notes);
  facts["fallbacks"] = printed(report.fallbacks);
  return facts;
}

py::list steps_of(const CompiledModel& model) {
  py::list steps;
  for (const StepInfo& step : model.steps()) {
    py::dict facts;
    facts["name"] = step.name;
    facts["kernel"] = step.kernel;
    facts["formats"] = step.formats;
    facts["flop"] = step.flop;
    facts["bytes"] = step.bytes;
    facts["estimated_us"] = step.estimated_us;
    facts["tunables"] = step.tunables;
    steps.append(facts);
  }
  return steps;
}

CompiledModel compile_model(const Model& model, const Device& device, const py::kwargs& given) {
  require_own_process();
  std::vector<py::array> kept;
  const CompileOptions options = compile_options(given, kept);
  const py::gil_scoped_release released;
  return compile(model, device, options);
}

}  // namespace

CompileOptions compile_options(const py::dict& given, std::vector<py::array>& kept) {
  CompileOptions options;
  for (const auto& [key, value] : given) {
    const std::string name = text_of_name(key, "options");
    bool found = false;
    for (const auto& [known, set] : setters()) {
      if (name != known) continue;
      try {
        set(options, value, kept);
      } catch (const py::cast_error&) {
        refuse_type(name, value);
      }
      found = true;
    }
    if (found) continue;
    std::string known;
    for (const auto& setter : setters()) {
      known += (known.empty() ? "" : ", ") + std::string(setter.first);
    }
    throw UsageError(setting(name) + ": there is no such option; there are " + known);
  }
  return options;
}

void bind_compiling(py::module_& module) {
  py::class_<CompiledModel>(module, "CompiledModel",
                            "A model planned for a device, its kernels built, its weights there.")
      .def_property_readonly("inputs", &CompiledModel::inputs,
                             "Its inputs, a Port each, with all extents known.")
      .def_property_readonly("outputs", &CompiledModel::outputs, "Its outputs, likewise.")
      .def_property_readonly("report", &report_of,
                             "Where kernels came from, times and bytes: a dict.")
      .def_property_readonly("steps", &steps_of, "The plan's steps, a dict each.")
      .def(
          "plan_text",
          [](const CompiledModel& self, bool why) {
            return self.plan_text(why ? PlanDetail::why : PlanDetail::brief);
          },
          py::arg("why") = false, "The plan as text; with `why` the reason of every choice.")
      .def_property_readonly("device", &CompiledModel::device,
                             "The Device that it is planned for.");
  module.def(
      "compile", &compile_model, py::arg("model"), py::arg("device"),
      "Plans the model for the device and builds what is not cached. Options are those of C++'s "
      "CompileOptions by name: batch=8, shapes={\"input\": [1, 3, 224, 224]}, precision=\"f16\". "
      "Raises UsageError for options that do not fit the model, UnsupportedError, ModelError, "
      "DeviceError.");
}

}  // namespace morton::python
