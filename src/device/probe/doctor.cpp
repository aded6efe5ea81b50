// SPDX-License-Identifier: Apache-2.0
#include "device/probe/doctor.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "base/error.hpp"
#include "base/files/trusted.hpp"
#include "device/open/opencl_device.hpp"
#include "device/open/quirks.hpp"
#include "device/use/transfer.hpp"

namespace morton::device {
namespace {

namespace fs = std::filesystem;
using Outcome = DoctorCheck::Outcome;
using Checks = std::vector<DoctorCheck>;

constexpr const char* kInstall =
    "install a driver: 'apt-get install pocl-opencl-icd' for the CPU, or the GPU maker's package";

/// A variable of the loader or of a driver; Morton's own are in base/environment_variables.
std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void check_loader(Checks& checks) {
  Dl_info where{};
  const bool known = dladdr(reinterpret_cast<const void*>(&clGetPlatformIDs), &where) != 0;
  checks.push_back({"OpenCL loader", Outcome::ok,
                    known && where.dli_fname != nullptr ? where.dli_fname : "linked", ""});
}

/// The .icd files that the loader reads; what is wrong with their folder goes to `checks`.
std::vector<fs::path> driver_files(Checks& checks) {
  const std::string chosen = variable("OCL_ICD_VENDORS");
  const fs::path place = chosen.empty() ? fs::path("/etc/OpenCL/vendors") : fs::path(chosen);
  const std::string name = "drivers in " + place.string();
  const std::string fix =
      chosen.empty() ? kInstall : "unset OCL_ICD_VENDORS, which replaces /etc/OpenCL/vendors";
  std::error_code status;
  if (fs::is_regular_file(place, status)) return {place};
  if (!fs::is_directory(place, status)) {
    checks.push_back({name, Outcome::failed, "there is no such file or folder", fix});
    return {};
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(place, status)) {
    if (entry.path().extension() == ".icd") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  if (status) {
    checks.push_back({name, Outcome::failed, "cannot be read: " + status.message(), fix});
  } else if (files.empty()) {
    checks.push_back({name, Outcome::failed, "no .icd file, so no driver is known", fix});
  } else {
    checks.push_back({name, Outcome::ok, std::to_string(files.size()) + " found", ""});
  }
  return files;
}

std::string fix_for_library(const std::string& library) {
  if (contains_ignoring_case(library, "pocl")) return "apt-get install --reinstall pocl-opencl-icd";
  if (contains_ignoring_case(library, "nvidia")) {
    return "install the NVIDIA driver's OpenCL library (nvidia-opencl-icd) of the kernel module's "
           "version";
  }
  if (contains_ignoring_case(library, "mali")) return "install the board's Mali user-space driver";
  return "reinstall the driver that this file belongs to, or remove the file";
}

/// Whether one of the drivers is PoCL.
bool check_drivers(Checks& checks) {
  bool has_pocl = false;
  for (const fs::path& file : driver_files(checks)) {
    DoctorCheck check{"driver " + file.filename().string(), Outcome::ok, "", ""};
    std::string library;
    // The loader takes a file with another name for the library itself.
    if (file.extension() == ".icd") {
      std::ifstream in(file);
      std::getline(in, library);
    } else {
      library = file.string();
    }
    if (library.empty()) {
      check.outcome = Outcome::failed;
      check.detail = file.string() + " names no library";
      check.fix = fix_for_library("");
    } else if (dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) {
      // A library that loads is kept: drivers with threads do not survive being unloaded.
      const char* why = dlerror();
      check.outcome = Outcome::failed;
      check.detail = library + " does not load: " + (why == nullptr ? "no reason given" : why);
      check.fix = fix_for_library(library);
    } else {
      check.detail = library + " loads";
      has_pocl = has_pocl || contains_ignoring_case(library, "pocl");
    }
    checks.push_back(check);
  }
  return has_pocl;
}

void check_device_files(Checks& checks) {
  std::vector<fs::path> files{"/dev/mali0", "/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm"};
  std::error_code status;
  for (const auto& entry : fs::directory_iterator("/dev/dri", status)) {
    if (entry.path().filename().string().starts_with("renderD")) files.push_back(entry.path());
  }
  int there = 0;
  for (const fs::path& file : files) {
    if (!fs::exists(file, status)) continue;
    ++there;
    const bool open = ::access(file.c_str(), R_OK | W_OK) == 0;
    checks.push_back({"access to " + file.string(), open ? Outcome::ok : Outcome::failed,
                      open ? "may be read and written" : std::strerror(errno),
                      open ? "" : "'sudo usermod -aG render,video $USER', then log in again"});
  }
  if (there == 0) {
    checks.push_back({"GPU device files", Outcome::skipped,
                      "no /dev/dri/renderD*, /dev/mali0 or /dev/nvidia*: no GPU that needs them",
                      ""});
  }
}

/// Why files cannot be made in `folder`, which need not exist yet; empty when they can.
std::string why_not_writable(const fs::path& folder) {
  fs::path nearest = folder;
  std::error_code status;
  while (!fs::exists(nearest, status) && nearest.has_relative_path()) {
    nearest = nearest.parent_path();
  }
  if (!fs::is_directory(nearest, status)) return nearest.string() + " is not a folder";
  if (::access(nearest.c_str(), W_OK | X_OK) != 0) {
    return nearest.string() + ": " + std::strerror(errno);
  }
  return "";
}

void check_pocl_cache(Checks& checks) {
  fs::path folder = variable("POCL_CACHE_DIR");
  if (folder.empty()) {
    const std::string base = variable("XDG_CACHE_HOME");
    const fs::path home = variable("HOME").empty() ? "/tmp" : variable("HOME");
    folder = (base.empty() ? home / ".cache" : fs::path(base)) / "pocl" / "kcache";
  }
  const std::string why = why_not_writable(folder);
  checks.push_back({"PoCL's cache", why.empty() ? Outcome::ok : Outcome::failed,
                    why.empty() ? folder.string() + " can be written" : why,
                    why.empty() ? ""
                                : "PoCL shows no device without it: set POCL_CACHE_DIR to a folder "
                                  "that you may write"});
}

std::vector<DeviceInfo> check_devices(Checks& checks) {
  std::vector<cl::Platform> platforms;
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error& error) {
    checks.push_back({"platforms", Outcome::failed, opencl_error_text(error.err()), kInstall});
    checks.push_back({"devices", Outcome::skipped, "there is no platform", ""});
    return {};
  }
  checks.push_back({"platforms", Outcome::ok, std::to_string(platforms.size()) + " found", ""});
  std::vector<std::string> problems;
  const std::vector<DeviceInfo> infos = OpenClDevice::list(&problems);
  for (const std::string& problem : problems) {
    checks.push_back({"device", Outcome::failed, problem,
                      "see the checks above; else reinstall "
                      "this platform's driver"});
  }
  if (infos.empty()) {
    checks.push_back({"devices", Outcome::failed, "no platform has a device", kInstall});
  }
  for (const DeviceInfo& info : infos) {
    std::string known;
    for (const std::string& quirk : info.quirks) known += (known.empty() ? "" : ", ") + quirk;
    checks.push_back({"device " + info.id, Outcome::ok,
                      info.name + (known.empty() ? "" : "; known bugs: " + known), ""});
  }
  return infos;
}

constexpr const char* kAddSource = R"(
__kernel void add(__global const float* a, __global const float* b, __global float* c, int n) {
  const int i = get_global_id(0);
  if (i < n) c[i] = a[i] + b[i];
}
)";

/// Adds two vectors of `n` numbers on the device; true when every sum is right and nothing is
/// written behind the last.
bool adds_right(OpenClDevice& device, cl::Kernel& kernel, int n) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<float> a(size);
  std::vector<float> b(size);
  std::vector<float> c(size + 1, -1.0F);
  for (std::size_t i = 0; i < size; ++i) {
    a[i] = static_cast<float>(i) + 0.5F;
    b[i] = 3.0F * static_cast<float>(i);
  }
  const cl::CommandQueue queue = device.make_queue(OpenClDevice::QueueKind::plain);
  std::vector<Block> blocks;
  for (const auto* values : {&a, &b, &c}) {
    const auto bytes = std::as_bytes(std::span(*values));
    blocks.push_back(device.memory().allocate(static_cast<std::int64_t>(bytes.size())));
    write_buffer(queue, device.info(), blocks.back().buffer(), 0, bytes);
    kernel.setArg(static_cast<cl_uint>(blocks.size() - 1), blocks.back().buffer());
  }
  kernel.setArg(3, n);
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, cl::NDRange(64), cl::NDRange(1));
  read_buffer(queue, device.info(), blocks[2].buffer(), 0, std::as_writable_bytes(std::span(c)));
  for (std::size_t i = 0; i < size; ++i) {
    if (c[i] != a[i] + b[i]) return false;
  }
  return c[size] == -1.0F;
}

void check_kernel(Checks& checks, const DeviceInfo& info) {
  DoctorCheck check{"a kernel on " + info.id, Outcome::ok, "adds 1, 3, 17 and 63 numbers right",
                    ""};
  const auto fail = [&](const std::string& why) {
    check.outcome = Outcome::failed;
    check.detail = why;
    check.fix = "the driver of " + info.driver.platform + " is broken: update or reinstall it";
  };
  try {
    const auto device = OpenClDevice::open(info.id, {});
    with_device_errors(check.name, info, [&] {
      BuildReport report;
      const auto program = device->programs().get(kAddSource, {"add"}, report);
      cl::Kernel kernel(program->program, "add");
      for (const int n : {1, 3, 17, 63}) {
        if (adds_right(*device, kernel, n)) continue;
        fail("adding " + std::to_string(n) + " numbers gives wrong sums");
        break;
      }
    });
  } catch (const Error& error) {
    fail(error.what());
  }
  checks.push_back(check);
}

void check_program_cache(Checks& checks, const fs::path& folder) {
  const std::string name = "program cache";
  if (folder.empty()) {
    checks.push_back({name, Outcome::skipped, "no folder is given", ""});
    return;
  }
  const std::string distrust = why_cache_not_trusted(folder).value_or("");
  const std::string why = distrust.empty() ? why_not_kept_in(folder / "programs") : distrust;
  checks.push_back({name, why.empty() ? Outcome::ok : Outcome::failed,
                    why.empty() ? folder.string() + " can be written" : why,
                    why.empty() ? ""
                                : "set MORTON_CACHE_DIR to a folder that you may write; without it "
                                  "kernels are built in every process"});
}

}  // namespace

std::string_view name_of(DoctorCheck::Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "ok";
    case Outcome::failed:
      return "failed";
    case Outcome::skipped:
      return "skipped";
  }
  throw InternalError("doctor: no such outcome: " + std::to_string(static_cast<int>(outcome)));
}

std::vector<DoctorCheck> run_doctor(const DoctorOptions& options) {
  Checks checks;
  check_loader(checks);
  if (check_drivers(checks)) check_pocl_cache(checks);
  check_device_files(checks);
  for (const DeviceInfo& info : check_devices(checks)) check_kernel(checks, info);
  check_program_cache(checks, options.cache_folder);
  return checks;
}

}  // namespace morton::device
