// SPDX-License-Identifier: Apache-2.0
#include "device/open/opencl_device.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "device/open/facts.hpp"
#include "device/open/kept_peaks.hpp"
#include "device/open/quirks.hpp"

namespace morton::device {
namespace {

constexpr int kPlatformNotFound =
    -1001;  // CL_PLATFORM_NOT_FOUND_KHR: what a loader without drivers says

struct Found {
  cl::Device device;
  DeviceInfo info;
};

/// Devices of every platform that the driver can describe; what went wrong with the others goes to
/// `problems`.
std::vector<Found> find_devices(std::vector<std::string>& problems) {
  std::vector<cl::Platform> platforms;
  try {
    cl::Platform::get(&platforms);
  } catch (const cl::Error& error) {
    if (error.err() != kPlatformNotFound) {
      problems.push_back(std::string(error.what()) + " returned " + opencl_error_text(error.err()));
    }
    return {};
  }
  std::vector<Found> found;
  for (std::size_t p = 0; p < platforms.size(); ++p) {
    std::vector<cl::Device> devices;
    try {
      platforms[p].getDevices(CL_DEVICE_TYPE_ALL, &devices);
    } catch (const cl::Error& error) {
      if (error.err() == CL_DEVICE_NOT_FOUND) continue;
      problems.push_back("platform " + std::to_string(p) + ": " + error.what() + " returned " +
                         opencl_error_text(error.err()));
      continue;
    }
    for (std::size_t d = 0; d < devices.size(); ++d) {
      const std::string id = std::to_string(p) + ":" + std::to_string(d);
      try {
        if (devices[d].getInfo<CL_DEVICE_AVAILABLE>() == CL_FALSE) {
          problems.push_back("device " + id + ": the driver says that it is not available");
          continue;
        }
        found.push_back({devices[d], facts_of(devices[d], id)});
      } catch (const cl::Error& error) {
        problems.push_back("device " + id + ": " + error.what() + " returned " +
                           opencl_error_text(error.err()));
      }
    }
  }
  return found;
}

std::string listing_of(const std::vector<Found>& found, const std::vector<std::string>& problems) {
  std::string text;
  for (const auto& [device, info] : found) {
    text += "\n  " + info.id + "  " + std::string(name_of(info.kind)) + ", " +
            std::to_string(info.compute.units) + " compute units, " + info.name + " (" +
            info.driver.platform + ")";
  }
  for (const std::string& problem : problems) text += "\n  not usable: " + problem;
  return text;
}

/// The number N of "units=N", or nothing for another selector; throws for a bad number.
std::optional<std::int64_t> units_in(const std::string& selector) {
  constexpr std::string_view kPrefix = "units=";
  if (!selector.starts_with(kPrefix)) return std::nullopt;
  std::int64_t units = 0;
  const char* end = selector.data() + selector.size();
  const auto [stop, status] = std::from_chars(selector.data() + kPrefix.size(), end, units);
  if (status != std::errc() || stop != end || units < 1) {
    throw UsageError("device '" + selector + "': expected units=N with N of 1 or more");
  }
  return units;
}

bool is_id(const std::string& selector) {
  return selector.find(':') != std::string::npos &&
         selector.find_first_not_of("0123456789:") == std::string::npos;
}

bool matches(const DeviceInfo& info, const std::string& selector) {
  if (const auto units = units_in(selector)) return info.compute.units == *units;
  if (is_id(selector)) return info.id == selector;
  if (selector == "cpu" || selector == "gpu") return selector == name_of(info.kind);
  return contains_ignoring_case(info.name, selector);
}

/// A GPU before a CPU before anything else; among equals the one with the most compute units.
const Found& best_of(const std::vector<Found>& found) {
  const auto rank = [](const Found& candidate) {
    const auto kind = candidate.info.kind;
    const int order = kind == DeviceInfo::Kind::gpu ? 2 : kind == DeviceInfo::Kind::cpu ? 1 : 0;
    return std::pair(order, candidate.info.compute.units);
  };
  return *std::max_element(found.begin(), found.end(),
                           [&](const Found& a, const Found& b) { return rank(a) < rank(b); });
}

/// Whether the context of these members serves `device`: PoCL lists the whole device for a context
/// that was made for a part of it.
bool is_member(const std::vector<cl::Device>& members, const cl::Device& device) {
  cl_device_id ancestor = device();
  while (ancestor != nullptr) {
    for (const cl::Device& member : members) {
      if (member() == ancestor) return true;
    }
    cl_device_id parent = nullptr;
    if (clGetDeviceInfo(ancestor, CL_DEVICE_PARENT_DEVICE, sizeof(parent), &parent, nullptr) !=
        CL_SUCCESS) {
      return false;
    }
    ancestor = parent;
  }
  return false;
}

Found select(const std::string& selector) {
  if (selector.empty()) {
    throw UsageError("no device is named: say P:D, cpu, gpu, auto, units=N or part of a name");
  }
  std::vector<std::string> problems;
  const std::vector<Found> found = find_devices(problems);
  if (found.empty()) {
    throw DeviceError(
        "no OpenCL device is found: install a driver (for the CPU the package pocl-opencl-icd; "
        "Morton's Python wheel brings one with its extra [cpu]); " +
        setting("doctor") + " shows what is missing" + listing_of(found, problems));
  }
  if (selector == "auto") return best_of(found);
  std::vector<Found> matching;
  std::copy_if(found.begin(), found.end(), std::back_inserter(matching),
               [&](const Found& candidate) { return matches(candidate.info, selector); });
  if (matching.empty()) {
    throw UsageError("device '" + selector +
                     "': no device matches; there are:" + listing_of(found, problems));
  }
  if (matching.size() > 1) {
    throw UsageError("device '" + selector + "': " + std::to_string(matching.size()) +
                     " devices match, name one by its id:" + listing_of(matching, problems));
  }
  return matching.front();
}

}  // namespace

std::vector<DeviceInfo> OpenClDevice::list(std::vector<std::string>* problems) {
  std::vector<std::string> ignored;
  std::vector<DeviceInfo> infos;
  for (Found& found : find_devices(problems == nullptr ? ignored : *problems)) {
    infos.push_back(std::move(found.info));
  }
  return infos;
}

std::shared_ptr<OpenClDevice> OpenClDevice::open(const std::string& selector,
                                                 const DeviceOptions& options) {
  Found found = select(selector);
  cl::Context context;
  with_device_errors("device " + found.info.id, found.info,
                     [&] { context = cl::Context(found.device); });
  return std::make_shared<OpenClDevice>(context, found.device, std::move(found.info), options);
}

std::shared_ptr<OpenClDevice> OpenClDevice::adopt(const cl::Context& context,
                                                  const cl::Device& device,
                                                  const DeviceOptions& options) {
  if (context() == nullptr || device() == nullptr) {
    throw UsageError("adopted device: the context and the device must not be null");
  }
  DeviceInfo unknown;
  unknown.name = "an adopted device";
  DeviceInfo info;
  std::vector<cl::Device> members;
  with_device_errors("adopted device", unknown, [&] {
    members = context.getInfo<CL_CONTEXT_DEVICES>();
    info = facts_of(device, "adopted");
  });
  if (!is_member(members, device)) {
    throw UsageError("adopted device: " + info.name + " does not belong to the context given");
  }
  std::vector<std::string> problems;
  for (const Found& found : find_devices(problems)) {
    if (found.device() == device()) info.id = found.info.id;
  }
  return std::make_shared<OpenClDevice>(context, device, std::move(info), options);
}

OpenClDevice::OpenClDevice(cl::Context context, cl::Device device, DeviceInfo info,
                           const DeviceOptions& options)
    : context_(std::move(context)),
      device_(std::move(device)),
      info_(std::move(info)),
      cache_folder_(options.cache_folder),
      programs_(std::make_unique<ProgramCache>(
          context_, device_, info_,
          ProgramCache::Disk{options.cache_folder, options.cache_limit_bytes})),
      memory_(std::make_unique<MemoryPool>(context_, info_)) {
  if (!options.cache_problem.empty()) notes_.push_back(options.cache_problem);
  const KeptPeaks kept = read_kept_peaks(cache_folder_, info_);
  if (kept.peaks) info_.peaks = *kept.peaks;
  if (!kept.problem.empty()) notes_.push_back(kept.problem);
}

cl::CommandQueue OpenClDevice::make_queue(QueueKind kind) const {
  cl::CommandQueue queue;
  // Where events carry no times, wall time is taken (device/use/timing.hpp).
  const bool profiles = kind == QueueKind::profiling && info_.features.profiling;
  with_device_errors("queue", info_, [&] {
    queue = cl::CommandQueue(context_, device_, profiles ? CL_QUEUE_PROFILING_ENABLE : 0);
  });
  return queue;
}

}  // namespace morton::device
