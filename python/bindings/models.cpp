// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"

namespace morton::python {
namespace {

/// Extents as numbers, and where the model leaves one open its name, or None.
py::list extents_of(const PortInfo& port) {
  py::list extents;
  for (std::size_t d = 0; d < port.shape.size(); ++d) {
    const bool is_open = port.shape[d] < 0;
    const std::string symbol = d < port.symbols.size() ? port.symbols[d] : "";
    if (!is_open) {
      extents.append(port.shape[d]);
    } else if (symbol.empty()) {
      extents.append(py::none());
    } else {
      extents.append(symbol);
    }
  }
  return extents;
}

py::dict summary_of(const Model& model) {
  const ModelSummary summary = model.summary();
  py::dict unsupported;
  for (const auto& [node, why] : summary.unsupported) unsupported[node.c_str()] = why.print();
  py::dict operators;
  for (const auto& [name, count] : summary.operators) operators[name.c_str()] = count;
  py::dict facts;
  facts["name"] = summary.name;
  facts["opset"] = summary.opset;
  facts["parameters"] = summary.parameters;
  facts["parameter_bytes"] = summary.parameter_bytes;
  facts["operators"] = operators;
  facts["unsupported"] = unsupported;
  facts["planned_inputs"] = summary.planned_inputs;
  return facts;
}

py::dict facts_of(const Model& model) {
  const ModelFacts known = model.facts();
  py::dict facts;
  facts["producer"] = known.producer;
  facts["producer_version"] = known.producer_version;
  facts["domain"] = known.domain;
  facts["version"] = known.version;
  facts["description"] = known.description;
  facts["graph_description"] = known.graph_description;
  facts["metadata"] = known.metadata;
  facts["left_out"] = known.left_out;
  return facts;
}

LoadOptions load_options(const std::string& weights_folder, const std::string& limits) {
  return {weights_folder, with_limits({}, limits)};
}

Model load_model(const std::string& path, const std::string& weights_folder,
                 const std::string& limits) {
  const py::gil_scoped_release released;
  return Model::load(path, load_options(weights_folder, limits));
}

Model model_of_bytes(const py::bytes& onnx, const std::string& name,
                     const std::string& weights_folder, const std::string& limits) {
  const auto text = static_cast<std::string_view>(onnx);
  const py::gil_scoped_release released;
  return Model::from_bytes(text, name, load_options(weights_folder, limits));
}

Model with_other_classes(const Model& model, std::int64_t classes, std::uint64_t seed) {
  const py::gil_scoped_release released;
  return with_classes(model, classes, seed);
}

}  // namespace

void bind_models(py::module_& module) {
  py::class_<PortInfo>(module, "Port", "An input or an output of a model.")
      .def_readonly("name", &PortInfo::name, "Its name in the model.")
      .def_property_readonly("shape", &extents_of,
                             "Its extents: numbers, and of those that are open their names.")
      .def_property_readonly(
          "dtype", [](const PortInfo& port) { return numpy_name(port.dtype); },
          "NumPy's name of the element type.")
      .def_readonly("labels", &PortInfo::labels, "Of a classifier's results the classes' names.")
      .def_property_readonly(
          "is_tensor", [](const PortInfo& port) { return port.form.is_tensor(); },
          "False for lists and optional values.")
      .def_property_readonly(
          "has_any_shape", [](const PortInfo& port) { return port.form.any_shape; },
          "Whether the model leaves open how many dimensions it has.")
      .def("__repr__", [](const PortInfo& port) {
        return "<morton.Port " + port.name + " " + numpy_name(port.dtype) + " " +
               py::repr(extents_of(port)).cast<std::string>() + ">";
      });
  py::class_<Model>(module, "Model", "A network as its file states it.")
      .def_static("load", &load_model, py::arg("path"), py::arg("weights_folder") = "",
                  py::arg("limits") = "",
                  "Reads an ONNX file, or a network definition of R17 (.json). Files that it names "
                  "may lie beneath `weights_folder`, also behind links; `limits` say what loading "
                  "may take (\"nodes=1000,seconds=5\", docs/security.md). Raises ModelError, "
                  "UnsupportedError, UsageError.")
      .def_static("from_bytes", &model_of_bytes, py::arg("onnx"), py::arg("name") = "model",
                  py::arg("weights_folder") = "", py::arg("limits") = "",
                  "Reads ONNX from bytes; external data is refused unless `weights_folder` says "
                  "where it lies. `limits` as for load. Raises likewise.")
      .def(
          "save",
          [](const Model& self, const std::string& path) {
            const py::gil_scoped_release released;
            self.save(path);
          },
          py::arg("path"), "Writes .onnx, or .json. The file appears whole or not at all.")
      .def_property_readonly(
          "inputs", [](const Model& self) { return self.inputs(); },
          "Its inputs, a Port each; open extents have names.")
      .def_property_readonly(
          "outputs", [](const Model& self) { return self.outputs(); }, "Its outputs, likewise.")
      .def_property_readonly("summary", &summary_of, "Facts in short, a dict.")
      .def_property_readonly("facts", &facts_of, "What the file says besides the network, a dict.")
      .def_property_readonly("replaceable_constants", &Model::replaceable_constants,
                             "Constants that the file lists among its inputs, as ports.")
      .def_property_readonly("text", &Model::text, "The graph as text.")
      .def("__repr__",
           [](const Model& self) { return "<morton.Model " + self.summary().name + ">"; });
  module.def("with_classes", &with_other_classes, py::arg("model"), py::arg("classes"),
             py::arg("seed") = 1,
             "The model with a new last layer of so many outputs, to be trained on other data; all "
             "other weights stay. Raises UsageError that names the node in the way.");
}

}  // namespace morton::python
