// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"

namespace morton::python {
namespace {

Device open_device(const std::string& selector, const std::string& cache_dir) {
  require_own_process();
  note_process();
  DeviceConfig config;
  config.cache_dir = cache_dir;
  const py::gil_scoped_release released;
  return Device::open(selector, config);
}

template <auto kBytes>
auto bytes_of(const Device& device) {
  require_own_process();
  const py::gil_scoped_release released;
  return (device.*kBytes)();
}

}  // namespace

void bind_devices(py::module_& module) {
  py::class_<Device>(module, "Device", "An OpenCL device that is open.")
      .def(py::init(&open_device), py::arg("selector") = "", py::arg("cache_dir") = "",
           "Opens the device that `selector` names: \"P:D\", \"cpu\", \"gpu\", \"auto\", part of a "
           "name, or \"units=N\"; empty: $MORTON_DEVICE, else \"auto\". Raises UsageError, "
           "DeviceError.")
      .def_property_readonly("id", &Device::id, "\"P:D\": its platform and its number there.")
      .def_property_readonly("name", &Device::name, "As the driver gives it.")
      .def_property_readonly("description", &Device::description,
                             "Name, platform, driver and compute units in one line.")
      .def_property_readonly("json", &Device::json, "All facts as JSON text.")
      .def_property_readonly("used_bytes", &bytes_of<&Device::used_bytes>,
                             "Device memory that is held now.")
      .def_property_readonly("peak_bytes", &bytes_of<&Device::peak_bytes>,
                             "The most that ever was.")
      .def("__repr__", [](const Device& self) {
        return "<morton.Device " + self.id() + " " + self.description() + ">";
      });
  module.def("require_own_process", &require_own_process,
             "Raises UsageError in a process that was forked from one with an open device.");
  module.def(
      "device_jsons",
      [] {
        require_own_process();
        note_process();
        const py::gil_scoped_release released;
        return Device::list_json();
      },
      "Facts of all devices, a JSON text each.");
  module.def(
      "set_memory_limit", &set_memory_limit, py::arg("bytes"),
      "What device memory of the process may take, on all devices together; until it is set, "
      "$MORTON_MEMORY_LIMIT, else there is no limit. Devices opened afterwards count as "
      "having no more. What does not fit raises DeviceError.");
}

}  // namespace morton::python
