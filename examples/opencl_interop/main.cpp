// SPDX-License-Identifier: Apache-2.0
//
// A network inside an application that has OpenCL already: its context, its queue, its buffers.
//
//     build/examples/opencl_interop                     ten digits, with LeNet-5
//     build/examples/opencl_interop [MODEL.onnx [PART_OF_A_DEVICE'S_NAME]]    LeNet-5's shapes
//
// The paths that are assumed hold in the repository's root. The program needs OpenCL's headers and
// links OpenCL. An application without OpenCL of its own is better off with 06_own_kernel.

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <morton/interop.hpp>
#include <morton/morton.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

/// What the application computes before the network, and behind it.
constexpr const char* kKernels = R"(
__kernel void frame(__global const uchar* levels, __global float* input, int side, int border) {
  const int x = get_global_id(0), y = get_global_id(1), n = get_global_id(2);
  const int inner = side - 2 * border, u = x - border, v = y - border;
  const bool is_inside = u >= 0 && v >= 0 && u < inner && v < inner;
  input[(n * side + y) * side + x] =
      is_inside ? levels[(n * inner + v) * inner + u] / 255.0f : 0.0f;
}
__kernel void best(__global const float* scores, __global int* found, int classes) {
  const int n = get_global_id(0);
  int at = 0;
  for (int i = 1; i < classes; ++i) {
    if (scores[n * classes + i] > scores[n * classes + at]) at = i;
  }
  found[n] = at;
}
)";

void require(cl_int status, const char* action) {
  if (status == CL_SUCCESS) return;
  throw std::runtime_error(std::string(action) + ": OpenCL error " + std::to_string(status));
}

/// A handle of OpenCL that is released at the end.
template <typename Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, cl_int(CL_API_CALL*)(Handle)>;

std::string name_of(cl_device_id device) {
  char name[256] = "";
  require(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name), name, nullptr),
          "asking for a name");
  return name;
}

/// The first device of all platforms whose name has `part`.
cl_device_id find_device(const std::string& part) {
  cl_uint count = 0;
  require(clGetPlatformIDs(0, nullptr, &count), "asking for platforms");
  std::vector<cl_platform_id> platforms(count);
  require(clGetPlatformIDs(count, platforms.data(), nullptr), "asking for platforms");
  std::string others;
  for (cl_platform_id platform : platforms) {
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) continue;
    std::vector<cl_device_id> devices(count);
    require(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.data(), nullptr),
            "asking for devices");
    char maker[256] = "";
    require(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(maker), maker, nullptr),
            "asking for a platform's name");
    for (cl_device_id device : devices) {
      if (name_of(device).find(part) != std::string::npos) return device;
      others += "\n  " + name_of(device) + " (" + maker + ")";
    }
  }
  throw std::runtime_error("there is no device whose name has '" + part +
                           "'; those here:" + (others.empty() ? " none" : others));
}

/// What an application has before it meets Morton.
class Application {
 public:
  explicit Application(cl_device_id device) : device_(device) {
    cl_int status = CL_SUCCESS;
    context_.reset(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status));
    require(status, "making a context");
    queue_.reset(clCreateCommandQueue(context(), device_, 0, &status));
    require(status, "making a queue");
    const char* text = kKernels;
    program_.reset(clCreateProgramWithSource(context(), 1, &text, nullptr, &status));
    require(status, "taking the kernels");
    require(clBuildProgram(program_.get(), 1, &device_, "-cl-std=CL1.2", nullptr, nullptr),
            "building the kernels");
  }

  [[nodiscard]] cl_device_id device() const { return device_; }
  [[nodiscard]] cl_context context() const { return context_.get(); }
  [[nodiscard]] cl_command_queue queue() const { return queue_.get(); }

  [[nodiscard]] Owned<cl_mem> buffer(std::size_t bytes) const {
    cl_int status = CL_SUCCESS;
    cl_mem made = clCreateBuffer(context(), CL_MEM_READ_WRITE, bytes, nullptr, &status);
    require(status, "making a buffer");
    return {made, clReleaseMemObject};
  }
  /// Puts a kernel with these arguments into the queue.
  template <typename... Arguments>
  void enqueue(const char* name, const std::vector<std::size_t>& global,
               const Arguments&... arguments) const {
    cl_int status = CL_SUCCESS;
    const Owned<cl_kernel> kernel(clCreateKernel(program_.get(), name, &status), clReleaseKernel);
    require(status, name);
    cl_uint index = 0;
    (require(clSetKernelArg(kernel.get(), index++, sizeof(Arguments), &arguments), name), ...);
    require(clEnqueueNDRangeKernel(queue(), kernel.get(), static_cast<cl_uint>(global.size()),
                                   nullptr, global.data(), nullptr, 0, nullptr, nullptr),
            name);
  }

 private:
  cl_device_id device_;
  Owned<cl_context> context_{nullptr, clReleaseContext};
  Owned<cl_command_queue> queue_{nullptr, clReleaseCommandQueue};
  Owned<cl_program> program_{nullptr, clReleaseProgram};
};

/// Levels of the ten digits, u8 [10, 28, 28].
std::vector<std::uint8_t> digits() {
  std::vector<std::uint8_t> all;
  for (int digit = 0; digit < 10; ++digit) {
    const std::string path = "examples/data/digit_" + std::to_string(digit) + ".png";
    const morton::Tensor picture = morton::read_tensors(path).front().tensor;  // u8 [28, 28, 1]
    const std::span<const std::uint8_t> levels = picture.as<std::uint8_t>();
    all.insert(all.end(), levels.begin(), levels.end());
  }
  return all;
}

std::string text_of(const morton::Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) {
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  }
  return text;
}

/// A buffer may be larger than the port, so the application itself sees that they agree.
void require_port(const morton::PortInfo& port, const morton::Shape& expected) {
  if (port.shape == expected && port.dtype == morton::DType::f32) return;
  throw std::runtime_error("the model's '" + port.name + "' is " + text_of(port.shape) +
                           "; this program has f32 of " + text_of(expected));
}

int classify(const std::string& model_path, const std::string& device_name) {
  constexpr std::size_t kDigits = 10, kSide = 32, kBorder = 2, kClasses = 10;

  // 1. The application: a context, a queue and buffers, all its own.
  const Application application(find_device(device_name));
  const std::vector<std::uint8_t> levels = digits();
  const auto levels_on_device = application.buffer(levels.size());
  const auto input = application.buffer(kDigits * kSide * kSide * sizeof(float));
  const auto scores = application.buffer(kDigits * kClasses * sizeof(float));
  const auto found = application.buffer(kDigits * sizeof(cl_int));

  // 2. Morton in that context. Weights and activations are buffers there, kernels programs of it.
  const morton::Device device = morton::adopt_device(application.context(), application.device());
  morton::CompileOptions options;
  options.batch = static_cast<std::int64_t>(kDigits);
  morton::Session session(morton::compile(morton::Model::load(model_path), device, options));

  const morton::PortInfo taken = session.model().inputs().front();
  const morton::PortInfo given = session.model().outputs().front();
  require_port(taken, {kDigits, 1, kSide, kSide});
  require_port(given, {kDigits, kClasses});

  // 3. In that queue, from one of the application's buffers to another.
  morton::use_queue(session, application.queue());
  morton::bind_buffer(session, taken.name, input.get());
  morton::bind_buffer(session, given.name, scores.get());

  // 4. A frame of the application: upload, its kernel, the network, its kernel, download. The queue
  //    has an order, and the only wait is the last read's.
  require(clEnqueueWriteBuffer(application.queue(), levels_on_device.get(), CL_FALSE, 0,
                               levels.size(), levels.data(), 0, nullptr, nullptr),
          "writing levels");
  application.enqueue("frame", {kSide, kSide, kDigits}, levels_on_device.get(), input.get(),
                      static_cast<cl_int>(kSide), static_cast<cl_int>(kBorder));
  static_cast<void>(session.enqueue());
  application.enqueue("best", {kDigits}, scores.get(), found.get(), static_cast<cl_int>(kClasses));
  std::vector<cl_int> answers(kDigits);
  require(clEnqueueReadBuffer(application.queue(), found.get(), CL_TRUE, 0,
                              answers.size() * sizeof(cl_int), answers.data(), 0, nullptr, nullptr),
          "reading answers");

  int right = 0;
  std::printf("the application's device: %s\nthe digits 0 to 9 are taken for",
              name_of(application.device()).c_str());
  for (std::size_t n = 0; n < kDigits; ++n) {
    std::printf(" %d", answers[n]);
    right += answers[n] == static_cast<cl_int>(n) ? 1 : 0;
  }
  std::printf("\n%d of %zu are right\n", right, kDigits);
  return right == static_cast<int>(kDigits) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return classify(argc > 1 ? argv[1] : "models/lenet5.onnx", argc > 2 ? argv[2] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
