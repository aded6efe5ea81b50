// SPDX-License-Identifier: Apache-2.0
//
// Two networks on one device: what the first gives is what the second takes, and it stays there.
//
//     build/examples/two_models                     noisy digits, a denoiser, LeNet-5
//     build/examples/two_models [DENOISER.onnx [MODEL.onnx [FOLDER [DEVICE]]]]
//
// The paths that are assumed hold in the repository's root. A program that includes
// morton/mirror.hpp needs OpenCL's headers and links OpenCL.

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <morton/mirror.hpp>
#include <morton/morton.hpp>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr std::int64_t kBatch = 50;

std::string text_of(const morton::Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) {
    text += (text.empty() ? "" : "x") + std::to_string(extent);
  }
  return text;
}

/// Whether the networks fit each other, and say classes in the end.
void require_chain(const morton::PortInfo& between, const morton::PortInfo& input,
                   const morton::PortInfo& answers) {
  if (between.shape != input.shape || between.dtype != input.dtype) {
    throw std::runtime_error("DENOISER gives '" + between.name + "', " + text_of(between.shape) +
                             ", and MODEL takes '" + input.name + "', " + text_of(input.shape) +
                             "; expected the same shape and type");
  }
  if (answers.shape.size() != 2 || answers.shape[0] != kBatch ||
      answers.dtype != morton::DType::f32) {
    throw std::runtime_error("MODEL gives '" + answers.name + "', " + text_of(answers.shape) +
                             "; expected f32 shares of classes, " + std::to_string(kBatch) +
                             "xCLASSES");
  }
}

/// Whether the pictures and labels are such as the networks take and tell apart.
void require_digits(const morton::Dataset& digits, const morton::PortInfo& noisy,
                    std::int64_t classes) {
  const morton::Shape& pictures = digits.inputs.shape();
  const std::string found = digits.where + ": has examples of " + text_of(pictures);
  if (noisy.shape.size() != 4 || noisy.shape[1] != 1 || noisy.dtype != morton::DType::f32) {
    throw std::runtime_error("DENOISER takes '" + noisy.name + "', " + text_of(noisy.shape) +
                             "; expected grey f32 pictures, " + std::to_string(kBatch) +
                             "x1xHEIGHTxWIDTH");
  }
  if (digits.inputs.dtype() != morton::DType::u8 || pictures.size() != 4 || pictures[1] != 1 ||
      pictures[2] > noisy.shape[2] || pictures[3] > noisy.shape[3]) {
    throw std::runtime_error(found + "; expected u8 levels of grey pictures (1 channel), at most " +
                             std::to_string(noisy.shape[2]) + "x" + std::to_string(noisy.shape[3]) +
                             ", since DENOISER takes " + text_of(noisy.shape));
  }
  if (digits.size() < kBatch) {
    throw std::runtime_error(found + "; expected at least " + std::to_string(kBatch));
  }
  if (!digits.has_labels())
    throw std::runtime_error(digits.where + ": its examples have no labels");
  morton::require_labels_below(digits, classes);
}

/// The first kBatch examples as the networks take them: levels / 255, centred on black. A third of
/// the pixels then have any level.
morton::Tensor noisy_digits(const morton::Dataset& digits, const morton::Shape& shape) {
  const morton::Shape& pictures = digits.inputs.shape();  // [N, 1, H, W]
  const std::int64_t height = pictures[2], width = pictures[3];
  const std::int64_t top = (shape[2] - height) / 2, left = (shape[3] - width) / 2;
  const std::span<const std::uint8_t> levels = digits.inputs.as<std::uint8_t>();
  morton::Tensor batch = morton::Tensor::allocate(morton::DType::f32, shape);
  const std::span<float> values = batch.as_mutable<float>();
  for (std::int64_t i = 0; i < shape[0] * height * width; ++i) {
    const std::int64_t n = i / (height * width), y = i / width % height, x = i % width;
    const std::int64_t to = (n * shape[2] + top + y) * shape[3] + left + x;
    values[static_cast<std::size_t>(to)] =
        static_cast<float>(levels[static_cast<std::size_t>(i)]) / 255.0F;
  }
  std::mt19937 random(7);  // its numbers are the same everywhere
  for (float& value : values) {
    const auto drawn = static_cast<std::uint32_t>(random());
    if (drawn % 3 == 0) value = static_cast<float>(drawn >> 16 & 255U) / 255.0F;
  }
  return batch;
}

std::int64_t right_answers(const morton::Tensor& answers, const morton::Dataset& digits) {
  const std::span<const float> shares = answers.as<float>();
  const std::span<const std::int32_t> labels = digits.targets.as<std::int32_t>();
  const auto classes = static_cast<std::size_t>(answers.shape()[1]);
  std::int64_t right = 0;
  for (std::size_t n = 0; n < static_cast<std::size_t>(answers.shape()[0]); ++n) {
    const std::span<const float> row = shares.subspan(n * classes, classes);
    right += std::ranges::max_element(row) - row.begin() == labels[n] ? 1 : 0;
  }
  return right;
}

/// Of 50 calls the median, in ms; one call before them is not measured.
double median_ms(const std::function<void()>& work) {
  work();
  std::vector<double> times;
  for (int i = 0; i < 50; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> passed =
        std::chrono::steady_clock::now() - start;
    times.push_back(passed.count());
  }
  std::ranges::sort(times);
  return times[times.size() / 2];
}

int run_both(const std::string& denoiser_path, const std::string& model_path,
             const std::string& folder, const std::string& device_name) {
  // 1. One device, and both networks compiled for it, for the same batch.
  const morton::Device device = morton::Device::open(device_name);
  morton::CompileOptions options;
  options.batch = kBatch;
  const morton::CompiledModel denoiser =
      morton::compile(morton::Model::load(denoiser_path), device, options);
  const morton::CompiledModel classifier =
      morton::compile(morton::Model::load(model_path), device, options);
  const morton::PortInfo noisy = denoiser.inputs().front(), clean = denoiser.outputs().front();
  const morton::PortInfo input = classifier.inputs().front();
  const morton::PortInfo shares = classifier.outputs().front();
  require_chain(clean, input, shares);
  const morton::Dataset digits = morton::read_dataset(folder, morton::Split::test);
  require_digits(digits, noisy, shares.shape[1]);
  const morton::Tensor pictures = noisy_digits(digits, noisy.shape);

  // 2. Through the host: each session has a queue of its own, and `run` waits for its outputs.
  morton::Session first(denoiser), second(classifier);
  const auto denoised = [&] { return first.run({{{noisy.name, pictures}}}).front().tensor; };
  const auto classified = [&](const morton::Tensor& of) {
    return second.run({{{input.name, of}}}).front().tensor;
  };
  const morton::Tensor between = denoised();
  const morton::Tensor answers = classified(between);

  // 3. On the device: one queue for both, and a buffer that one session writes and the other reads.
  //    The queue has an order, so nobody waits between the two.
  morton::DeviceHome home(device);
  morton::MirroredArray<float> shared(home,
                                      std::vector<float>(static_cast<std::size_t>(between.size())));
  morton::Session writer(denoiser), reader(classifier);
  morton::use_queue(writer, home.queue());
  morton::use_queue(reader, home.queue());
  morton::bind_buffer(writer, clean.name, shared.writable_buffer());
  morton::bind_buffer(reader, input.name, shared.buffer());
  const auto chained = [&] {
    writer.set_input(noisy.name, pictures);
    static_cast<void>(writer.enqueue());
    static_cast<void>(reader.enqueue());
    return reader.get_output(shares.name);  // waits for both
  };
  if (!std::ranges::equal(chained().as<float>(), answers.as<float>())) {
    std::fprintf(stderr, "error: the answers through the host and on the device differ\n");
    return 1;
  }

  std::printf("device: %s\n", device.description().c_str());
  std::printf("%lld of %lld noisy digits are right, %lld behind the denoiser\n",
              static_cast<long long>(right_answers(classified(pictures), digits)),
              static_cast<long long>(kBatch),
              static_cast<long long>(right_answers(answers, digits)));
  std::printf("denoiser alone           %.3f ms\n", median_ms([&] { denoised(); }));
  std::printf("classifier alone         %.3f ms\n", median_ms([&] { classified(between); }));
  std::printf("both through the host    %.3f ms\n", median_ms([&] { classified(denoised()); }));
  std::printf("both on the device       %.3f ms\n", median_ms([&] { chained(); }));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, const char* otherwise) {
    return std::string(argc > i ? argv[i] : otherwise);
  };
  try {
    return run_both(argument(1, "examples/two_models/denoiser.onnx"),
                    argument(2, "models/lenet5.onnx"), argument(3, "data/mnist"), argument(4, ""));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
