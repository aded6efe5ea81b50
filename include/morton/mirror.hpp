// SPDX-License-Identifier: Apache-2.0
#pragma once

/// For programs with OpenCL kernels of their own, beside Morton's: arrays and kernels that follow
/// their work to another device (R17, chapter 4). All is in this header, and it calls OpenCL
/// itself: an application that includes it has <CL/cl.h> and links OpenCL.
/// examples/06_own_kernel shows its use. morton.hpp does not include it.

#include <CL/cl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "morton/device.hpp"
#include "morton/error.hpp"
#include "morton/interop.hpp"

namespace morton {

/// Where work happens at present: a device and a queue on it. Arrays and kernels that live here
/// follow it to another device by themselves. In R17 (CLManager) a move recompiles and invalidates
/// everything at once; here each thing follows when it is next used, and results that only the old
/// device holds are fetched from it first. Not thread-safe. Must outlive what lives here.
class DeviceHome {
 public:
  /// Throws DeviceError when the device gives no queue, as `move_to` does.
  explicit DeviceHome(Device device) : device_(std::move(device)), queue_(make_queue(device_)) {}
  DeviceHome(const DeviceHome&) = delete;
  DeviceHome& operator=(const DeviceHome&) = delete;

  [[nodiscard]] const Device& device() const { return device_; }
  /// In order; not retained for the caller.
  [[nodiscard]] cl_command_queue queue() const { return queue_.get(); }
  /// Counts the moves.
  [[nodiscard]] std::int64_t generation() const { return generation_; }
  /// Waits for all work on the present device, then makes `device` the home. Throws DeviceError
  /// when that work failed or the new device gives no queue; the home stays where it was then.
  void move_to(Device device) {
    require(clFinish(queue()), "moving to another device");
    queue_ = make_queue(device);
    device_ = std::move(device);
    ++generation_;
  }
  /// Waits for all work that was enqueued. Throws DeviceError when it failed.
  void finish() { require(clFinish(queue()), "waiting for the device"); }

  /// Throws DeviceError, with `action` and the device's name, unless a call of OpenCL succeeded.
  void require(cl_int status, const std::string& action) const { require(device_, status, action); }

 private:
  template <typename T>
  friend class MirroredArray;

  static void require(const Device& device, cl_int status, const std::string& action) {
    if (status == CL_SUCCESS) return;
    throw DeviceError(action + ", on " + device.name() + ": OpenCL error " +
                      std::to_string(status));
  }
  static std::shared_ptr<_cl_command_queue> make_queue(const Device& device) {
    cl_int status = CL_SUCCESS;
// Of OpenCL 1.2, and deprecated for programs that target 2.0.
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
    cl_command_queue queue =
        clCreateCommandQueue(context_of(device), device_of(device), 0, &status);
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
    require(device, status, "making a queue");
    return {queue, clReleaseCommandQueue};
  }

  Device device_;
  std::shared_ptr<_cl_command_queue> queue_;
  std::int64_t generation_ = 0;
};

/// A host array and its image in the memory of the home's device (R17's Mirrorable). Copies between
/// the two happen when asked for (`push`, `pull`) and when the home has moved: then the next
/// `buffer` makes a new one on the new device and fills it with the newest elements, which it takes
/// from the old device if a kernel wrote them there. What fails throws DeviceError.
template <typename T>
class MirroredArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Owns its elements.
  MirroredArray(DeviceHome& home, std::vector<T> elements)
      : home_(&home), owned_(std::move(elements)), elements_(owned_) {}
  /// Works on the caller's elements, which must outlive it.
  MirroredArray(DeviceHome& home, std::span<T> elements) : home_(&home), elements_(elements) {}
  MirroredArray(const MirroredArray&) = delete;
  MirroredArray& operator=(const MirroredArray&) = delete;
  /// Waits for kernels that may still use the image; what only the device held is lost. Where that
  /// work failed, whoever waits for it learns so.
  ~MirroredArray() {
    if (image_) static_cast<void>(clFinish(image_->queue.get()));
  }

  /// The host's elements; `push` after changing them, `pull` before reading a kernel's results.
  [[nodiscard]] std::span<T> host() const { return elements_; }
  /// Whether a device, present or former, holds an image of the elements.
  [[nodiscard]] bool is_mirrored() const { return image_.has_value(); }
  /// Whether the home's present device does.
  [[nodiscard]] bool verify() const {
    return image_.has_value() && image_->generation == home_->generation();
  }
  /// Makes the image on the present device unless it is there, and fills it with the newest
  /// elements.
  MirroredArray& mirror() {
    if (verify()) return *this;
    // Results that nobody pulled would be lost with the former device.
    if (image_.has_value() && newest_ == Newest::device) pull();
    cl_int status = CL_SUCCESS;
    cl_mem buffer =
        clCreateBuffer(context_of(home_->device()), CL_MEM_READ_WRITE,
                       std::max<std::size_t>(elements_.size_bytes(), 1), nullptr, &status);
    home_->require(status, "allocating " + std::to_string(elements_.size_bytes()) + " bytes");
    image_ =
        Image{home_->device(), home_->queue_, home_->generation(), {buffer, clReleaseMemObject}};
    return push();
  }
  /// Host to device.
  MirroredArray& push() {
    if (!verify()) {
      newest_ = Newest::host;
      return mirror();
    }
    if (!elements_.empty()) {
      home_->require(
          clEnqueueWriteBuffer(image_->queue.get(), image_->buffer.get(), CL_TRUE, 0,
                               elements_.size_bytes(), elements_.data(), 0, nullptr, nullptr),
          "writing a mirrored array");
    }
    newest_ = Newest::both;
    return *this;
  }
  /// Device to host, from the device that holds the image; nothing when there is none.
  MirroredArray& pull() {
    if (!image_.has_value()) return *this;
    if (!elements_.empty()) {
      DeviceHome::require(
          image_->device,
          clEnqueueReadBuffer(image_->queue.get(), image_->buffer.get(), CL_TRUE, 0,
                              elements_.size_bytes(), elements_.data(), 0, nullptr, nullptr),
          "reading a mirrored array");
    }
    newest_ = Newest::both;
    return *this;
  }
  /// Lets go of the image; what only the device held is lost, so `pull` first.
  void unmirror() {
    const std::optional<Image> image = std::exchange(image_, std::nullopt);
    newest_ = Newest::host;
    if (!image.has_value()) return;
    DeviceHome::require(image->device, clFinish(image->queue.get()),
                        "ending the work on a mirrored array");
  }
  /// For kernels that read it: on the present device, holding the newest elements. Not retained for
  /// the caller.
  [[nodiscard]] cl_mem buffer() { return mirror().image_->buffer.get(); }
  /// For kernels that write it, or for bind_buffer of an output: from now on the device's elements
  /// are the newest, until `pull` or `push`.
  [[nodiscard]] cl_mem writable_buffer() {
    const cl_mem result = buffer();
    newest_ = Newest::device;
    return result;
  }

 private:
  struct Image {
    Device device;  ///< kept, so that results can be fetched after a move
    std::shared_ptr<_cl_command_queue> queue;
    std::int64_t generation = 0;
    std::shared_ptr<_cl_mem> buffer;
  };
  enum class Newest : std::uint8_t { host, device, both };

  DeviceHome* home_;
  std::vector<T> owned_;
  std::span<T> elements_;
  std::optional<Image> image_;
  Newest newest_ = Newest::host;
};

/// A kernel that follows its home: its program is built on the present device when it is next used.
/// DynamicCL::Kernel of R17, without counting the arguments by hand.
class HomeKernel {
 public:
  /// `source` is OpenCL C that defines the kernel `name`.
  HomeKernel(DeviceHome& home, std::string source, std::string name)
      : home_(&home), source_(std::move(source)), name_(std::move(name)) {}

  /// The kernel on the present device. Its arguments are unset after a move. Throws DeviceError,
  /// with the compiler's log, when the source does not build.
  [[nodiscard]] cl_kernel kernel() {
    if (generation_ == home_->generation()) return kernel_.get();
    const Device& device = home_->device();
    const char* text = source_.c_str();
    cl_int status = CL_SUCCESS;
    const std::shared_ptr<_cl_program> program(
        clCreateProgramWithSource(context_of(device), 1, &text, nullptr, &status),
        [](cl_program made) {
          if (made != nullptr) clReleaseProgram(made);
        });
    home_->require(status, "kernel " + name_);
    const cl_device_id id = device_of(device);
    status = clBuildProgram(program.get(), 1, &id, "-cl-std=CL1.2", nullptr, nullptr);
    home_->require(status, "kernel " + name_ + log_of(program.get(), id, status));
    cl_kernel kernel = clCreateKernel(program.get(), name_.c_str(), &status);
    home_->require(status, "kernel " + name_);
    kernel_ = {kernel, clReleaseKernel};
    generation_ = home_->generation();
    ++builds_;
    return kernel;
  }
  /// Sets the arguments in order (buffers of MirroredArray, scalars) and enqueues it on the home's
  /// queue, with this many work-items. An empty `local` lets the driver choose. Throws UsageError
  /// where `local` has other dimensions than `global`, DeviceError where OpenCL refuses.
  template <typename... Arguments>
  void run(const std::vector<std::size_t>& global, const std::vector<std::size_t>& local,
           const Arguments&... arguments) {
    static_assert((std::is_trivially_copyable_v<Arguments> && ...));
    if (!local.empty() && local.size() != global.size()) {
      throw UsageError("kernel " + name_ + ": local sizes have " + std::to_string(local.size()) +
                       " dimensions, global ones " + std::to_string(global.size()));
    }
    cl_kernel ready = kernel();
    cl_uint index = 0;
    (set(ready, index++, sizeof(Arguments), &arguments), ...);
    home_->require(clEnqueueNDRangeKernel(
                       home_->queue(), ready, static_cast<cl_uint>(global.size()), nullptr,
                       global.data(), local.empty() ? nullptr : local.data(), 0, nullptr, nullptr),
                   "kernel " + name_);
  }
  /// How often its program was built.
  [[nodiscard]] int builds() const { return builds_; }

 private:
  void set(cl_kernel kernel, cl_uint index, std::size_t bytes, const void* value) const {
    home_->require(clSetKernelArg(kernel, index, bytes, value),
                   "kernel " + name_ + ", argument " + std::to_string(index));
  }
  /// Nothing where the build succeeded.
  static std::string log_of(cl_program program, cl_device_id device, cl_int status) {
    std::size_t bytes = 0;
    if (status == CL_SUCCESS || clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0,
                                                      nullptr, &bytes) != CL_SUCCESS) {
      return "";
    }
    std::string log(bytes, '\0');
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
    return ":\n" + std::string(log.c_str()) + "\n";
  }

  DeviceHome* home_;
  std::string source_;
  std::string name_;
  std::shared_ptr<_cl_kernel> kernel_;
  std::int64_t generation_ = -1;
  int builds_ = 0;
};

}  // namespace morton
