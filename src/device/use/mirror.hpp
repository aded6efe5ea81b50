// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/numbers/checked.hpp"
#include "base/rooms.hpp"
#include "device/open/opencl_device.hpp"
#include "device/use/transfer.hpp"

namespace morton::device {

/// Where work happens at present: a device and a queue on it. Arrays and kernels that live here
/// follow it to another device by themselves. R17 chapter 4 (CLManager); there a move recompiles
/// and invalidates everything at once, here each thing follows when it is next used, and results
/// that only the old device holds are fetched from it first. Not thread-safe. Must outlive what
/// lives here.
class DeviceHome {
 public:
  explicit DeviceHome(std::shared_ptr<OpenClDevice> device)
      : device_(std::move(device)), queue_(device_->make_queue(OpenClDevice::QueueKind::plain)) {}
  DeviceHome(const DeviceHome&) = delete;
  DeviceHome& operator=(const DeviceHome&) = delete;

  [[nodiscard]] const std::shared_ptr<OpenClDevice>& device() const { return device_; }
  [[nodiscard]] const cl::CommandQueue& queue() const { return queue_; }
  /// Counts the moves.
  [[nodiscard]] std::int64_t generation() const { return generation_; }
  /// Waits for all work on the present device, then makes `device` the home. Throws DeviceError
  /// when that work failed or the new device gives no queue; the home stays where it was then.
  void move_to(std::shared_ptr<OpenClDevice> device) {
    with_device_errors("moving to another device", device_->info(), [&] { queue_.finish(); });
    queue_ = device->make_queue(OpenClDevice::QueueKind::plain);
    device_ = std::move(device);
    ++generation_;
  }
  /// The same by OpenClDevice::open's selector ("units=4", as R17 chose).
  void move_to(const std::string& selector, const DeviceOptions& options) {
    move_to(OpenClDevice::open(selector, options));
  }

 private:
  std::shared_ptr<OpenClDevice> device_;
  cl::CommandQueue queue_;
  std::int64_t generation_ = 0;
};

/// A host array and its image in the memory of the home's device (R17's Mirrorable). Copies between
/// the two happen when asked for (`push`, `pull`) and when the home has moved: then the next
/// `buffer` makes a new one on the new device and fills it with the newest elements, which it takes
/// from the old device if a kernel wrote them there.
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
  /// Waits for kernels that may still use the image; what only the device held is lost.
  ~MirroredArray() {
    try {
      unmirror();
    } catch (const DeviceError&) {
      // The work that used the image failed; whoever waits for it is told.
    }
  }

  /// The host's elements; `push` after changing them, `pull` before reading a kernel's results.
  [[nodiscard]] std::span<T> host() const { return elements_; }
  [[nodiscard]] std::int64_t bytes() const {
    return checked_mul(static_cast<std::int64_t>(elements_.size()), sizeof(T), "mirrored array");
  }
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
    image_ = Image{home_->device(), home_->queue(), home_->generation(),
                   home_->device()->memory().allocate(bytes())};
    return push();
  }
  /// Host to device.
  MirroredArray& push() {
    if (!verify()) {
      newest_ = Newest::host;
      return mirror();
    }
    write_buffer(image_->queue, image_->device->info(), image_->block.buffer(), 0,
                 std::as_bytes(elements_));
    newest_ = Newest::both;
    return *this;
  }
  /// Device to host, from the device that holds the image; nothing when there is none.
  MirroredArray& pull() {
    if (!image_.has_value()) return *this;
    read_buffer(image_->queue, image_->device->info(), image_->block.buffer(), 0,
                std::as_writable_bytes(elements_));
    newest_ = Newest::both;
    return *this;
  }
  /// Lets go of the image; what only the device held is lost, so `pull` first.
  void unmirror() {
    std::optional<Image> image = std::exchange(image_, std::nullopt);
    newest_ = Newest::host;
    if (!image.has_value()) return;
    with_device_errors("ending the work on a mirrored array", image->device->info(),
                       [&] { image->queue.finish(); });
  }
  /// For kernels that read it: on the present device, holding the newest elements.
  [[nodiscard]] const cl::Buffer& buffer() { return mirror().image_->block.buffer(); }
  /// For kernels that write it: from now on the device's elements are the newest, until `pull` or
  /// `push`.
  [[nodiscard]] const cl::Buffer& writable_buffer() {
    const cl::Buffer& result = buffer();
    newest_ = Newest::device;
    return result;
  }

 private:
  struct Image {
    std::shared_ptr<OpenClDevice> device;  ///< kept, so that results can be fetched after a move
    cl::CommandQueue queue;
    std::int64_t generation = 0;
    Block block;
  };
  enum class Newest : std::uint8_t { host, device, both };

  DeviceHome* home_;
  std::vector<T> owned_;
  std::span<T> elements_;
  std::optional<Image> image_;
  Newest newest_ = Newest::host;
};

/// A kernel that follows its home: its program is built (or found in the cache) on the present
/// device when it is next used. DynamicCL::Kernel of R17, without counting the arguments by hand.
class HomeKernel {
 public:
  HomeKernel(DeviceHome& home, std::string source, std::string name)
      : home_(&home), source_(std::move(source)), name_(std::move(name)) {}

  /// The kernel on the present device. Its arguments are unset after a move.
  [[nodiscard]] cl::Kernel& kernel() {
    if (generation_ == home_->generation()) return kernel_;
    OpenClDevice& device = *home_->device();
    const auto built = device.programs().get(source_, {name_}, report_);
    with_device_errors("kernel " + name_, device.info(),
                       [&] { kernel_ = cl::Kernel(built->program, name_.c_str()); });
    generation_ = home_->generation();
    return kernel_;
  }
  /// Sets the arguments in order (buffers of MirroredArray, scalars) and enqueues it on the home's
  /// queue. `local` may be cl::NullRange.
  template <typename... Arguments>
  void run(const cl::NDRange& global, const cl::NDRange& local, const Arguments&... arguments) {
    cl::Kernel& ready = kernel();
    with_device_errors("kernel " + name_, home_->device()->info(), [&] {
      cl_uint index = 0;
      (ready.setArg(index++, arguments), ...);
      home_->queue().enqueueNDRangeKernel(ready, cl::NullRange, global, local);
    });
  }
  /// What all of its builds cost.
  [[nodiscard]] const BuildReport& report() const { return report_; }

 private:
  DeviceHome* home_;
  std::string source_;
  std::string name_;
  cl::Kernel kernel_;
  std::int64_t generation_ = -1;
  BuildReport report_;
};

}  // namespace morton::device
