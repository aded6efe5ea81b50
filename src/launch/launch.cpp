// SPDX-License-Identifier: Apache-2.0
#include "launch/launch.hpp"

#include <vector>

#include "device/open/memory_budget.hpp"
#include "device/open/refused_kernels.hpp"
#include "device/use/image.hpp"

namespace morton::launch {
namespace {

/// As few dimensions as say the same: drivers launch those faster.
cl::NDRange to_range(const std::array<std::int64_t, 3>& size, std::size_t dimensions) {
  const auto extent = [&](std::size_t i) { return static_cast<cl::size_type>(size[i]); };
  if (dimensions == 1) return {extent(0)};
  if (dimensions == 2) return {extent(0), extent(1)};
  return {extent(0), extent(1), extent(2)};
}

std::size_t dimensions_of(const KernelLaunch& launch) {
  for (std::size_t i = 3; i-- > 1;) {
    if (launch.global[i] != 1 || launch.local[i] != 1) return i + 1;
  }
  return 1;
}

/// An operand that a kernel reads as an image.
class ImageArgument {
 public:
  ImageArgument(cl_uint index, const PlannedImage& planned, const OpenClDevice& device,
                const cl::Buffer& buffer)
      : index_(index),
        source_(planned.source),
        size_{planned.width, planned.height,
              planned.texel == DType::f16 ? TexelType::f16 : TexelType::f32},
        device_(&device) {
    take(buffer);
  }

  [[nodiscard]] cl_uint index() const { return index_; }
  [[nodiscard]] const cl::Image2D& image() const { return image_; }

  /// Reads from this buffer from now on.
  void take(const cl::Buffer& buffer) {
    // PoCL 3.1 crashes when it copies from a sub-buffer, so copies are from the buffer around it.
    const auto around = buffer.getInfo<CL_MEM_ASSOCIATED_MEMOBJECT>();
    offset_ = around() != nullptr ? buffer.getInfo<CL_MEM_OFFSET>() : 0;
    buffer_ = around() != nullptr ? cl::Buffer(around(), true) : buffer;
    is_filled_ = false;
    if (source_ == PlannedImage::Source::shared) {
      image_ = image2d_on(*device_, buffer, size_, size_.width * texel_bytes(size_.type));
    } else if (image_() == nullptr) {
      const std::int64_t bytes = size_.width * size_.height * texel_bytes(size_.type);
      share_ = MemoryShare::require(bytes, "memory of an image");
      image_ = make_image2d(*device_, size_);
    }
  }

  /// Fills an image with memory of its own; returns whether there was anything to enqueue.
  bool enqueue_copy(const cl::CommandQueue& queue, cl::Event* event) {
    using Source = PlannedImage::Source;
    if (source_ == Source::shared || (source_ == Source::kept && is_filled_)) return false;
    if (source_ == Source::kept && device_->info().memory.is_unified) {
      write_mapped_image(queue, device_->info(), image_, size_, buffer_, offset_);
      is_filled_ = true;
      return false;
    }
    const auto extent = [](std::int64_t value) { return static_cast<cl::size_type>(value); };
    queue.enqueueCopyBufferToImage(buffer_, image_, offset_, {0, 0, 0},
                                   {extent(size_.width), extent(size_.height), 1}, nullptr, event);
    is_filled_ = true;
    return true;
  }

 private:
  cl_uint index_;
  PlannedImage::Source source_;
  bool is_filled_ = false;
  ImageSize size_;
  const OpenClDevice* device_;
  cl::Buffer buffer_;
  cl::size_type offset_ = 0;
  MemoryShare share_;  ///< of an image with memory of its own
  cl::Image2D image_;
};

/// One kernel with its kernel object.
class KernelStep : public LaunchedStep {
 public:
  KernelStep(const Step& step, const std::string& function, const cl::Program& program,
             const OpenClDevice& device, const BufferOf& buffer_of)
      : LaunchedStep(step),
        kernel_(program, function.c_str()),
        global_(to_range(launch_of(step).global, dimensions_of(launch_of(step)))),
        local_(to_range(launch_of(step).local, dimensions_of(launch_of(step)))) {
    require_launchable(kernel_, launch_of(step).local, function, device);
    for (std::size_t i = 0; i < step.arguments.size(); ++i) {
      const StepArgument& argument = step.arguments[i];
      const auto index = static_cast<cl_uint>(i);
      const PassedValue* passed = argument.value();
      if (passed == nullptr) {
        kernel_.setArg(index, static_cast<cl_int>(*argument.integer()));
      } else if (passed->image.source != PlannedImage::Source::none) {
        images_.emplace_back(index, passed->image, device, buffer_of(passed->id));
        kernel_.setArg(index, images_.back().image());
      } else {
        kernel_.setArg(index, buffer_of(passed->id));
      }
    }
  }

  void rebind(ValueId value, const cl::Buffer& buffer) override {
    for (std::size_t i = 0; i < step().arguments.size(); ++i) {
      const PassedValue* passed = step().arguments[i].value();
      if (passed == nullptr || passed->id != value) continue;
      const auto index = static_cast<cl_uint>(i);
      if (passed->image.source == PlannedImage::Source::none) {
        kernel_.setArg(index, buffer);
        continue;
      }
      for (ImageArgument& image : images_) {
        if (image.index() != index) continue;
        image.take(buffer);
        kernel_.setArg(index, image.image());
      }
    }
  }

  void enqueue(const cl::CommandQueue& queue, StepEvents* events) override {
    bool first = true;
    for (ImageArgument& image : images_) {
      const bool timed = events != nullptr && first;
      if (image.enqueue_copy(queue, timed ? &events->first : nullptr)) first = false;
    }
    queue.enqueueNDRangeKernel(kernel_, cl::NullRange, global_, local_, nullptr,
                               events == nullptr ? nullptr : &events->last);
    if (events != nullptr && first) events->first = events->last;
  }

 private:
  cl::Kernel kernel_;
  cl::NDRange global_, local_;
  std::vector<ImageArgument> images_;
};

}  // namespace

std::unique_ptr<LaunchedStep> launch_kernel(const Step& step, const std::string& function,
                                            const cl::Program& program, const OpenClDevice& device,
                                            const BufferOf& buffer_of) {
  return std::make_unique<KernelStep>(step, function, program, device, buffer_of);
}

}  // namespace morton::launch
