// SPDX-License-Identifier: Apache-2.0
#include "device/workers/compile_worker.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/files/trusted.hpp"
#include "device/open/build_log.hpp"
#include "device/open/opencl_device.hpp"
#include "device/open/program_file.hpp"
#include "device/open/quirks.hpp"
#include "device/open/refused_kernels.hpp"
#include "device/use/given_program.hpp"
#include "device/use/image.hpp"
#include "device/workers/kernel_job.hpp"
#include "device/workers/pocl_objects.hpp"
#include "device/workers/private_folder.hpp"
#include "device/workers/worker_pool.hpp"

namespace morton::device {
namespace {

/// Zeros that take memory only where they are written.
class Zeros {
 public:
  explicit Zeros(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory_ == MAP_FAILED) {
      throw OutOfMemory("a worker process has no " + std::to_string(bytes) + " bytes");
    }
  }
  Zeros(Zeros&& other) noexcept
      : bytes_(other.bytes_), memory_(std::exchange(other.memory_, MAP_FAILED)) {}
  Zeros& operator=(Zeros&&) = delete;
  ~Zeros() {
    if (memory_ != MAP_FAILED) ::munmap(memory_, bytes_);
  }
  [[nodiscard]] void* get() const { return memory_; }

 private:
  std::size_t bytes_;
  void* memory_;
};

/// The device of a job: of those with its name and driver, the one with its id if there is one.
std::shared_ptr<OpenClDevice> device_of(const KernelJob& job) {
  std::string chosen;
  for (const DeviceInfo& info : OpenClDevice::list()) {
    if (info.name != job.device || info.driver.version != job.driver_version) continue;
    if (chosen.empty() || info.id == job.id) chosen = info.id;
  }
  if (chosen.empty()) throw DeviceError("a worker process finds no device " + job.device);
  return OpenClDevice::open(chosen, {});
}

/// Launches the kernel once, on zeros.
void launch_once(const KernelJob& job, const cl::Program& program, const OpenClDevice& device) {
  cl::Kernel kernel(program, job.function.c_str());
  require_launchable(kernel, job.local, job.function, device);
  std::vector<Zeros> memory;  // outlives the buffers on it
  std::vector<cl::Memory> held;
  for (std::size_t i = 0; i < job.arguments.size(); ++i) {
    const JobArgument& argument = job.arguments[i];
    const auto index = static_cast<cl_uint>(i);
    if (argument.kind == JobArgument::Kind::integer) {
      kernel.setArg(index, static_cast<cl_int>(argument.value));
    } else if (argument.kind == JobArgument::Kind::buffer) {
      memory.emplace_back(argument.value);
      const cl::Buffer buffer(device.context(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                              static_cast<cl::size_type>(argument.value), memory.back().get());
      kernel.setArg(index, buffer);
      held.push_back(buffer);
    } else {
      const bool is_half = argument.kind == JobArgument::Kind::image_f16;
      const cl::Image2D image = make_image2d(
          device, {argument.width, argument.height, is_half ? TexelType::f16 : TexelType::f32});
      kernel.setArg(index, image);
      held.push_back(image);
    }
  }
  const auto range = [](const std::array<std::int64_t, 3>& sizes) {
    const auto size = [&](std::size_t i) { return static_cast<cl::size_type>(sizes[i]); };
    return cl::NDRange(size(0), size(1), size(2));
  };
  const cl::CommandQueue queue = device.make_queue(OpenClDevice::QueueKind::plain);
  queue.enqueueNDRangeKernel(kernel, cl::NullRange, range(job.global), range(job.local));
  queue.finish();
}

class CompileWorker {
 public:
  explicit CompileWorker(const std::filesystem::path& cache) : objects_(cache) {}

  /// Builds, launches and stores; tells how many objects the driver compiled, or why the file could
  /// not be written.
  Json carry_out(const KernelJob& job) {
    if (device_ == nullptr || device_->info().name != job.device) device_ = device_of(job);
    const std::string what = "kernel " + job.function;
    CachedProgram built;
    built.kernels = {job.function};
    with_device_errors(what, device_->info(), [&] {
      built.program = cl::Program(device_->context(), job.source);
      build_program(built.program, device_->device(), job.options);
      launch_once(job, built.program, *device_);
    });
    if (has_effect(device_->info(), QuirkEffect::binary_compiles_again) && pocl_is_as_it_comes()) {
      // Without the link the binary is as good and takes longer.
      static_cast<void>(objects_.link_launched(job.function));
    }
    const std::string binary = binary_of(*device_, built);
    const int compiled = objects_.compiled();
    built.program = cl::Program();
    objects_.clear();
    try {
      write_trusted_file(job.path, encode({job.key, job.owner, built.kernels, binary}));
    } catch (const Error& error) {
      return {{"unkept", error.what()}};
    }
    return {{"compiled", compiled}};
  }

 private:
  PoclObjects objects_;
  std::shared_ptr<OpenClDevice> device_;
};

Json answer_to(const std::string& line, CompileWorker& worker) {
  try {
    const Json json = parse_json(line, "job");
    return worker.carry_out(kernel_job_from(JsonReader(json, "job")));
  } catch (const std::exception& error) {
    return {{"problem", error.what()}};
  }
}

/// The next line of the standard input, without its end; false where there is none, or none has
/// begun for as long as a worker waits.
bool read_line(std::string& line) {
  line.clear();
  // Requests come one at a time, so nothing has been read ahead.
  pollfd waiting{STDIN_FILENO, POLLIN, 0};
  const int most = static_cast<int>(std::chrono::milliseconds(kWorkerWaits).count());
  int begun = 0;
  while ((begun = ::poll(&waiting, 1, most)) < 0 && errno == EINTR) {
  }
  if (begun == 0) return false;
  for (int c = std::getc(stdin); c != EOF; c = std::getc(stdin)) {
    if (c == '\n') return true;
    line += static_cast<char>(c);
  }
  return false;
}

}  // namespace

int serve_compile_jobs() {
  // Answers have the standard output for themselves: what drivers print goes to the errors.
  const int answers = ::dup(STDOUT_FILENO);
  if (answers < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return 1;
  // Who asked may be gone: that is an error of writing, and no end before the folder is removed.
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const PrivateFolder folder;
    ::setenv("POCL_CACHE_DIR", folder.path().c_str(), 1);
    ::setenv("POCL_MAX_PTHREAD_COUNT", "1", 1);
    ::unsetenv("POCL_AFFINITY");  // the one thread of each worker would be on the first processor
    CompileWorker worker(folder.path());
    std::string line;
    while (read_line(line)) {
      const std::string answer =
          answer_to(line, worker).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
      if (::write(answers, answer.data(), answer.size()) != static_cast<ssize_t>(answer.size())) {
        return 1;
      }
    }
  } catch (const Error& error) {
    std::fprintf(stderr, "morton-compile: %s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace morton::device
