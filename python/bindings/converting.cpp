// SPDX-License-Identifier: Apache-2.0
//
// Conversion of models.
#include <optional>

#include "taking.hpp"

namespace morton::python {
namespace {

ConvertOptions convert_options(py::dict given) {
  ConvertOptions options;
  using Ports = ConvertOptions::Ports;
  using Constants = ConvertOptions::Constants;
  std::optional<std::string> precision;
  take(given, "precision", precision);
  if (precision) options.precision = parse_dtype(*precision);
  take_word<Ports>(given, "ports", options.ports,
                   {{"keep", Ports::keep}, {"convert", Ports::convert}});
  take(given, "in_float", options.in_float);
  take(given, "batch", options.batch);
  take(given, "shapes", options.shapes);
  take(given, "opset", options.opset);
  take_word<Constants>(given, "constants", options.constants,
                       {{"fold", Constants::fold}, {"leave", Constants::leave}});
  require_taken(given, "convert");
  return options;
}

py::tuple convert_model(const Model& model, const py::kwargs& given) {
  const ConvertOptions options = convert_options(py::dict(**given));
  std::optional<ConvertedModel> made;
  {
    const py::gil_scoped_release released;
    made = convert(model, options);
  }
  py::list in_float;
  for (const FloatNode& node : made->in_float) {
    py::dict facts;
    facts["node"] = node.node;
    facts["op"] = node.op;
    facts["why"] = node.why;
    in_float.append(facts);
  }
  py::list notes;
  for (const Message& note : made->notes) notes.append(note.print());
  py::dict report;
  report["in_float"] = in_float;
  report["notes"] = notes;
  report["nodes_before"] = made->nodes_before;
  report["nodes_after"] = made->nodes_after;
  report["parameter_bytes_before"] = made->parameter_bytes_before;
  report["parameter_bytes_after"] = made->parameter_bytes_after;
  return py::make_tuple(made->model, report);
}

}  // namespace

void bind_converting(py::module_& module) {
  module.def("convert", &convert_model, py::arg("model"),
             "Makes a model that computes the same and that other engines run too "
             "(docs/conversion.md): the model, and a report, a dict. Options are those of C++'s "
             "ConvertOptions: precision (\"f16\", \"bf16\"), ports (\"keep\", \"convert\"), "
             "in_float, batch, shapes, opset, constants (\"fold\", \"leave\").");
}

}  // namespace morton::python
