// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "morton/version.hpp"

PYBIND11_MODULE(_native, module) {
  using namespace morton::python;  // NOLINT(google-build-using-namespace)
  module.doc() = "Morton's C++ library; `import morton` is its Python interface.";
  module.attr("__version__") = MORTON_VERSION;
  module.attr("pybind11_version") = py::make_tuple(PYBIND11_VERSION_MAJOR, PYBIND11_VERSION_MINOR);
  bind_errors(module);
  bind_devices(module);
  bind_models(module);
  bind_compiling(module);
  bind_sessions(module);
  bind_pictures(module);
  bind_datasets(module);
  bind_training(module);
  bind_quantizing(module);
  bind_converting(module);
}
