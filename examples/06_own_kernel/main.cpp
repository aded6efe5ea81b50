// SPDX-License-Identifier: Apache-2.0
//
// Lesson 6: an OpenCL kernel of your own in front of a network, without a copy between the two.
//
//     build/examples/06_own_kernel                          a seven, with LeNet-5
//     build/examples/06_own_kernel DIGIT.png [MODEL.onnx [DEVICE [OTHER_DEVICE]]]
//
// The paths that are assumed hold in the repository's root. A program that includes
// morton/mirror.hpp needs OpenCL's headers and links OpenCL.

#include <algorithm>
#include <cstdio>
#include <exception>
#include <morton/mirror.hpp>
#include <morton/morton.hpp>
#include <span>
#include <string>
#include <vector>

namespace {

/// Moves a picture to the right; the pixels at its edge follow.
constexpr const char* kShift = R"(
__kernel void shift(__global const float* src, __global float* dst, int width, int by) {
  const int x = get_global_id(0);
  const int y = get_global_id(1);
  dst[y * width + x] = src[y * width + clamp(x - by, 0, width - 1)];
}
)";

void classify_shifted(const std::string& image_path, const std::string& model_path,
                      const std::string& device_name, const std::string& other_name) {
  // 1. A device, and a home on it: arrays and kernels that live there share its queue.
  const morton::Device device = morton::Device::open(device_name);
  morton::DeviceHome home(device);
  std::printf("device: %s\n", device.description().c_str());

  // 2. The network, for one picture.
  morton::CompileOptions options;
  options.batch = 1;
  morton::Session session(morton::compile(morton::Model::load(model_path), device, options));
  const morton::PortInfo port = session.model().inputs().front();
  const std::string output = session.model().outputs().front().name;

  // 3. Mirrored arrays: elements of the host with an image on the device, made when it is needed.
  const morton::Tensor digit =
      morton::image_to_input(morton::read_tensors(image_path).front().tensor, port.shape);
  const std::span<const float> pixels = digit.as<float>();
  morton::MirroredArray<float> picture(home, std::vector<float>(pixels.begin(), pixels.end()));
  morton::MirroredArray<float> shifted(home, std::vector<float>(pixels.size()));
  morton::HomeKernel shift(home, kShift, "shift");

  // 4. The network reads what the kernel writes, and follows it in the same queue.
  morton::use_queue(session, home.queue());
  morton::bind_buffer(session, port.name, shifted.buffer());
  const auto width = static_cast<std::size_t>(port.shape.at(3));
  const std::vector<std::size_t> all{width, static_cast<std::size_t>(port.shape.at(2))};
  for (const int by : {0, 1, 2, 4, 8}) {
    shift.run(all, {}, picture.buffer(), shifted.writable_buffer(), static_cast<int>(width), by);
    static_cast<void>(session.enqueue());
    const morton::Tensor result = session.get_output(output);
    const std::span<const float> probabilities = result.as<float>();
    const auto best = std::ranges::max_element(probabilities);
    std::printf("%s, %d pixels to the right: a %td (%.2f %%)\n", image_path.c_str(), by,
                best - probabilities.begin(), 100.0 * static_cast<double>(*best));
  }

  // 5. Another device: the kernel is built there, and the arrays follow when it next runs.
  if (other_name.empty()) return;
  shifted.pull();
  const std::vector<float> before(shifted.host().begin(), shifted.host().end());
  home.move_to(morton::Device::open(other_name));
  shift.run(all, {}, picture.buffer(), shifted.writable_buffer(), static_cast<int>(width), 8);
  shifted.pull();
  std::printf("on %s: %s\n", home.device().description().c_str(),
              std::ranges::equal(shifted.host(), before) ? "the same picture" : "another picture");
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, const char* otherwise) {
    return std::string(argc > i ? argv[i] : otherwise);
  };
  try {
    classify_shifted(argument(1, "examples/data/digit_7.png"), argument(2, "models/lenet5.onnx"),
                     argument(3, ""), argument(4, ""));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
