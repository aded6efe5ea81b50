// SPDX-License-Identifier: Apache-2.0
//
// An OpenCL layer, as ocl-icd 2.3 and Khronos' loader load it
// (OPENCL_LAYERS=/path/libmorton_fault_layer.so): it stands between a program and all drivers. It
// counts the calls of each function, keeps account of objects and bytes, and lets a chosen call
// fail, as a test program in the same process says (opencl_layer.hpp) or, for other programs, as
// two environment variables say:
//   MORTON_LAYER_FAULT=FUNCTION:CALL:ERROR:WAY
//       "clFinish:3:-5:once"; ways: once, from-here, lie, stall
//   MORTON_LAYER_REPORT=FILE
//       gets a line when the process ends: what is live, and the most bytes
#include "faults/opencl_layer.hpp"

#include <CL/cl_layer.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

enum Function : int {
#define MORTON_ENTRY_POINT(name, ...) k_##name,
#include "faults/entry_points.def"
#undef MORTON_ENTRY_POINT
  kFunctions
};

constexpr int kOfAll[] = {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY, -9999};

struct Entry {
  const char* name;
  std::array<int, 24> errors;
  int count;
};

template <typename... Codes>
constexpr Entry entry(const char* name, Codes... codes) {
  Entry one{name, {codes...}, sizeof...(codes)};
  for (const int code : kOfAll) one.errors[static_cast<std::size_t>(one.count++)] = code;
  return one;
}

constexpr Entry kEntries[] = {
#define MORTON_ENTRY_POINT(name, ...) entry(#name, __VA_ARGS__),
#include "faults/entry_points.def"
#undef MORTON_ENTRY_POINT
};

struct Object {
  const char* type = "";
  long references = 0;
  std::int64_t bytes = 0;
  const void* context = nullptr;
  void* parent = nullptr;  ///< of a sub-buffer, whose memory lives as long as it does
};

struct State {
  std::array<std::atomic<long>, kFunctions> calls{};
  std::atomic<long> fired{0};
  std::atomic<int> armed{-1};  ///< a function
  std::atomic<bool> gone{false};
  const void* gone_context = nullptr;
  long call = 0;
  int error = 0;
  FaultWay way = kFaultOnce;
  cl_event stalled = nullptr;  ///< what a kernel waits for that does not begin
  std::mutex mutex;
  std::map<void*, Object> objects;
  std::int64_t bytes = 0, peak_bytes = 0;
};

/// Never destroyed: drivers' threads may call when the process ends.
State& state() {
  static State* const one = new State;
  return *one;
}

thread_local int in_driver = 0;

/// The context of an object; itself of a context, null of what belongs to none.
const void* context_of(const void* handle) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  const auto found = all.objects.find(const_cast<void*>(handle));
  return found == all.objects.end() ? nullptr : found->second.context;
}

/// `maker` is what it was made of: a context, or an object in one.
void hold(void* handle, const char* type, std::int64_t bytes, void* parent, const void* maker) {
  const void* const context = maker == nullptr ? handle : context_of(maker);
  State& all = state();
  const std::lock_guard lock(all.mutex);
  all.objects[handle] = {type, 1, bytes, context, parent};
  if (parent != nullptr) ++all.objects[parent].references;
  all.bytes += bytes;
  all.peak_bytes = std::max(all.peak_bytes, all.bytes);
}

void change(void* handle, long by) {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  while (handle != nullptr) {
    const auto found = all.objects.find(handle);
    if (found == all.objects.end()) return;  // the driver's own: a device of the platform
    found->second.references += by;
    if (found->second.references > 0) return;
    void* const parent = found->second.parent;
    all.bytes -= found->second.bytes;
    all.objects.erase(found);
    handle = parent;
  }
}

/// Whether this call fails, and how. `subject` is the object that it is about.
bool fails(int function, long call, const void* subject, FaultWay& way) {
  State& all = state();
  const bool chosen = all.armed.load() == function && call == all.call;
  if (!chosen && !all.gone.load()) return false;
  // Handles go on to be counted when their device is gone.
  const std::string_view name = kEntries[function].name;
  if (!chosen && (name.starts_with("clRelease") || name.starts_with("clRetain"))) return false;
  const void* const context = context_of(subject);
  if (!chosen && all.gone_context != nullptr && context != all.gone_context) return false;
  way = all.way;
  ++all.fired;
  if (chosen && way == kFaultFromHere) {
    all.gone_context = context;
    all.gone = true;
  }
  return true;
}

template <typename Handle>
const char* type_of_handle() {
  if constexpr (std::is_same_v<Handle, cl_mem>) return "cl_mem";
  if constexpr (std::is_same_v<Handle, cl_context>) return "cl_context";
  if constexpr (std::is_same_v<Handle, cl_command_queue>) return "cl_command_queue";
  if constexpr (std::is_same_v<Handle, cl_program>) return "cl_program";
  if constexpr (std::is_same_v<Handle, cl_kernel>) return "cl_kernel";
  if constexpr (std::is_same_v<Handle, cl_event>) return "cl_event";
  return "";
}

template <typename Handle>
constexpr bool is_counted =
    std::is_same_v<Handle, cl_mem> || std::is_same_v<Handle, cl_context> ||
    std::is_same_v<Handle, cl_command_queue> || std::is_same_v<Handle, cl_program> ||
    std::is_same_v<Handle, cl_kernel> || std::is_same_v<Handle, cl_event>;

template <int Id, typename Pointer>
struct Layered;

template <int Id, typename R, typename... A>
struct Layered<Id, R (*)(A...)> {
  static inline R (*target)(A...) = nullptr;

  static R call(A... arguments) {
    const long number = ++state().calls[Id];
    FaultWay way = kFaultOnce;
    if (!fails(Id, number, subject_of(arguments...), way)) return real(arguments...);
    if constexpr (Id == k_clEnqueueNDRangeKernel) {
      if (way == kFaultStall) return stall(arguments...);
    }
    if constexpr (std::is_same_v<R, cl_int>) {
      // Whoever releases has given the object away, whatever comes back; and a device that has
      // vanished does no more work when somebody has waited for it.
      constexpr bool is_release = std::string_view(kEntries[Id].name).starts_with("clRelease");
      constexpr bool is_wait = Id == k_clFinish || Id == k_clWaitForEvents;
      if (is_release || (is_wait && way == kFaultFromHere)) real(arguments...);
      return state().error;
    } else {
      const auto all = std::forward_as_tuple(arguments...);
      cl_int* const status = std::get<sizeof...(A) - 1>(all);
      if (status != nullptr) *status = way == kFaultLie ? CL_SUCCESS : state().error;
      return nullptr;
    }
  }

  template <typename First, typename... Rest>
  static const void* subject_of(First first, [[maybe_unused]] Rest... rest) {
    if constexpr (Id == k_clWaitForEvents) {
      return *std::get<0>(std::forward_as_tuple(rest...));
    } else if constexpr (std::is_pointer_v<First>) {
      return first;
    } else {
      return nullptr;
    }
  }

  static R stall(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                 const size_t* global, const size_t* local, cl_uint count, const cl_event* events,
                 cl_event* made);

  static R real(A... arguments) {
    const auto all = std::forward_as_tuple(arguments...);
    constexpr std::string_view name = kEntries[Id].name;
    ++in_driver;
    const R result = target(arguments...);
    --in_driver;
    if constexpr (name.starts_with("clRetain")) {
      if (result == CL_SUCCESS) change(std::get<0>(all), 1);
    } else if constexpr (name.starts_with("clRelease")) {
      if (result == CL_SUCCESS) change(std::get<0>(all), -1);
    } else if constexpr (is_counted<R>) {
      if (result != nullptr) {
        const void* maker = nullptr;
        if constexpr (Id != k_clCreateContext) maker = std::get<0>(all);
        hold(result, type_of_handle<R>(), bytes_of(result), parent_of(all), maker);
      }
    }
    (hold_event(std::get<0>(all), arguments), ...);
    return result;
  }

  template <typename Queue, typename T>
  static void hold_event([[maybe_unused]] Queue queue, T argument) {
    if constexpr (std::is_same_v<T, cl_event*>) {
      if (argument != nullptr && *argument != nullptr)
        hold(*argument, "cl_event", 0, nullptr, queue);
    }
  }

  template <typename All>
  static void* parent_of(const All& all) {
    if constexpr (Id == k_clCreateSubBuffer) {
      return std::get<0>(all);
    } else {
      return nullptr;
    }
  }

  static std::int64_t bytes_of([[maybe_unused]] R result);
};

const cl_icd_dispatch* drivers = nullptr;

template <int Id, typename R, typename... A>
std::int64_t Layered<Id, R (*)(A...)>::bytes_of([[maybe_unused]] R result) {
  if constexpr (Id == k_clCreateBuffer || Id == k_clCreateImage) {
    std::size_t bytes = 0;
    drivers->clGetMemObjectInfo(result, CL_MEM_SIZE, sizeof(bytes), &bytes, nullptr);
    return static_cast<std::int64_t>(bytes);
  } else {
    return 0;
  }
}

/// Enqueues the kernel behind an event that nobody sets before the layer is disarmed.
template <int Id, typename R, typename... A>
R Layered<Id, R (*)(A...)>::stall(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const size_t* offset, const size_t* global, const size_t* local,
                                  cl_uint count, const cl_event* events, cl_event* made) {
  cl_context context = nullptr;
  drivers->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(context), &context, nullptr);
  cl_int status = CL_SUCCESS;
  state().stalled = drivers->clCreateUserEvent(context, &status);
  std::vector<cl_event> behind(events, events + count);
  behind.push_back(state().stalled);
  return real(queue, kernel, dimensions, offset, global, local, count + 1, behind.data(), made);
}

void arm_as_told(const char* text) {
  char name[64] = "", way[16] = "";
  long call = 0;
  int error = 0;
  if (std::sscanf(text, "%63[^:]:%ld:%d:%15s", name, &call, &error, way) == 4) {
    constexpr std::string_view kWays[] = {"once", "from-here", "lie", "stall"};
    for (int w = 0; w < 4; ++w) {
      for (int f = 0; f < kFunctions; ++f) {
        if (std::string_view(kEntries[f].name) != name || kWays[w] != way) continue;
        return morton_layer_arm(f, call, error, static_cast<FaultWay>(w));
      }
    }
  }
  std::fprintf(stderr,
               "fault layer: MORTON_LAYER_FAULT: expected FUNCTION:CALL:ERROR:WAY, got '%s'\n",
               text);
  std::abort();
}

void report_at_end() {
  char live[512];
  morton_layer_live_text(live, sizeof(live));
  std::FILE* file = std::fopen(std::getenv("MORTON_LAYER_REPORT"), "a");
  if (file == nullptr) return;
  std::fprintf(file, "live %ld (%s), bytes %lld, peak bytes %lld, failed calls %ld\n",
               morton_layer_live(), live, static_cast<long long>(morton_layer_bytes()),
               static_cast<long long>(morton_layer_peak_bytes()), morton_layer_fired());
  std::fclose(file);
}

}  // namespace

extern "C" {

cl_int clGetLayerInfo(cl_layer_info name, size_t size, void* value, size_t* size_ret) {
  const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  const char title[] = "faults of Morton's tests";
  const bool is_version = name == CL_LAYER_API_VERSION;
  if (!is_version && name != CL_LAYER_NAME) return CL_INVALID_VALUE;
  const void* const from = is_version ? static_cast<const void*>(&version) : title;
  const std::size_t bytes = is_version ? sizeof(version) : sizeof(title);
  if (value != nullptr && size < bytes) return CL_INVALID_VALUE;
  if (value != nullptr) std::memcpy(value, from, bytes);
  if (size_ret != nullptr) *size_ret = bytes;
  return CL_SUCCESS;
}

cl_int clInitLayer(cl_uint entries, const cl_icd_dispatch* target, cl_uint* entries_ret,
                   const cl_icd_dispatch** layer_ret) {
  if (target == nullptr || entries_ret == nullptr || layer_ret == nullptr) return CL_INVALID_VALUE;
  static cl_icd_dispatch layer;
  if (entries < sizeof(layer) / sizeof(layer.clGetPlatformIDs)) return CL_INVALID_VALUE;
  drivers = target;
  layer = *target;
#define MORTON_ENTRY_POINT(name, ...)                                                  \
  Layered<k_##name, std::remove_const_t<decltype(layer.name)>>::target = target->name; \
  layer.name = Layered<k_##name, std::remove_const_t<decltype(layer.name)>>::call;
#include "faults/entry_points.def"
#undef MORTON_ENTRY_POINT
  *entries_ret = sizeof(layer) / sizeof(layer.clGetPlatformIDs);
  *layer_ret = &layer;
  if (std::getenv("MORTON_LAYER_REPORT") != nullptr) std::atexit(report_at_end);
  if (const char* fault = std::getenv("MORTON_LAYER_FAULT")) arm_as_told(fault);
  return CL_SUCCESS;
}

int morton_layer_functions(void) { return kFunctions; }

const char* morton_layer_name(int function) { return kEntries[function].name; }

int morton_layer_errors(int function, const int** at) {
  *at = kEntries[function].errors.data();
  return kEntries[function].count;
}

int morton_layer_makes_objects(int function) {
  return std::string_view(kEntries[function].name).starts_with("clCreate") ? 1 : 0;
}

long morton_layer_calls(int function) {
  return state().calls[static_cast<std::size_t>(function)].load();
}

void morton_layer_reset(void) {
  morton_layer_disarm();
  for (auto& count : state().calls) count = 0;
}

void morton_layer_arm(int function, long call, int error, enum FaultWay way) {
  State& all = state();
  all.call = call;
  all.error = error;
  all.way = way;
  all.fired = 0;
  all.gone = false;
  all.armed = function;
}

void morton_layer_disarm(void) {
  State& all = state();
  all.armed = -1;
  all.gone = false;
  if (const cl_event stalled = std::exchange(all.stalled, nullptr)) {
    drivers->clSetUserEventStatus(stalled, CL_COMPLETE);
    drivers->clReleaseEvent(stalled);
  }
}

long morton_layer_fired(void) { return state().fired.load(); }

long morton_layer_live(void) {
  const std::lock_guard lock(state().mutex);
  long count = 0;
  for (const auto& [handle, object] : state().objects) count += object.references;
  return count;
}

std::int64_t morton_layer_bytes(void) {
  const std::lock_guard lock(state().mutex);
  return state().bytes;
}

std::int64_t morton_layer_peak_bytes(void) {
  const std::lock_guard lock(state().mutex);
  return state().peak_bytes;
}

void morton_layer_live_text(char* to, size_t size) {
  const std::lock_guard lock(state().mutex);
  std::map<std::string, long> counts;
  for (const auto& [handle, object] : state().objects) counts[object.type] += object.references;
  std::string text;
  for (const auto& [type, count] : counts)
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + type;
  std::snprintf(to, size, "%s", text.c_str());
}

int morton_layer_is_in_driver(void) { return in_driver > 0 ? 1 : 0; }
}
