// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <atomic>

#include "bindings.hpp"

namespace morton::python {
namespace {

std::atomic<pid_t> owner{0};

/// What is a command where there is the program `morton` is one of the package here.
std::string python_setting(const NamedSetting& setting) {
  return setting.name == "doctor" ? "`python -m morton doctor`" : print_setting(setting);
}

void raise(const py::object& type, const Error& error) {
  PyErr_SetString(type.ptr(), error.message().print(python_setting).c_str());
}

}  // namespace

void note_process() {
  pid_t none = 0;
  owner.compare_exchange_strong(none, getpid());
}

void require_own_process() {
  if (owner == 0 || owner == getpid()) return;
  throw UsageError(
      "this process was forked from one that uses a device already; drivers do not follow a fork: "
      "open devices behind it, or start processes with multiprocessing's \"spawn\"");
}

void raise_usage_error(py::error_already_set& cause, const std::string& text) {
  const py::object type = py::module_::import("morton._native").attr("UsageError");
  py::raise_from(cause, type.ptr(), text.c_str());
  throw py::error_already_set();
}

void bind_errors(py::module_& module) {
  // The first that fits is taken, and the last that is registered is asked first.
  static py::exception<Error> base(module, "Error", PyExc_RuntimeError);
  base.doc() = "Base of all errors of Morton: what went wrong, what was expected, what to do.";
  static py::exception<InternalError> internal(module, "InternalError", base);
  internal.doc() = "Morton contradicts itself; please report it.";
  static py::exception<DeviceError> device(module, "DeviceError", base);
  device.doc() = "The device or its driver failed, or there is none.";
  static py::exception<UnsupportedError> unsupported(module, "UnsupportedError", base);
  unsupported.doc() = "A valid request that Morton, or this device, has no means for.";
  static py::exception<NeedsSegments> waits(module, "NeedsSegments", unsupported);
  waits.doc() = "The model has no plan before a run has found something out: use SegmentedSession.";
  static py::exception<ModelError> model(module, "ModelError", base);
  model.doc() = "A model or data file is damaged or contradicts itself.";
  static py::exception<UsageError> usage(module, "UsageError", base);
  usage.doc() = "The request cannot be met as stated: a wrong option, shape or name.";
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const UsageError& error) {
      raise(usage, error);
    } catch (const ModelError& error) {
      raise(model, error);
    } catch (const NeedsSegments& error) {
      raise(waits, error);
    } catch (const UnsupportedError& error) {
      raise(unsupported, error);
    } catch (const DeviceError& error) {
      raise(device, error);
    } catch (const InternalError& error) {
      raise(internal, error);
    } catch (const Error& error) {
      raise(base, error);
    }
  });
}

}  // namespace morton::python
