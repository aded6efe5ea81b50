// SPDX-License-Identifier: Apache-2.0
//
// Lesson 2: several threads share one compiled model; each has a session of its own.
//
//     build/examples/02_threads                                four threads, 2,000 digits
//     build/examples/02_threads [THREADS [MODEL.onnx [FOLDER [DEVICE]]]]
//
// The paths that are assumed hold in the repository's root.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <morton/morton.hpp>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::int64_t kBatch = 20;

/// The examples from `first` on, as many as a batch has, as the network takes them: centred on
/// black, levels / 255.
morton::Tensor batch_of(const morton::Dataset& digits, std::int64_t first,
                        const morton::Shape& shape) {
  const morton::Shape& pictures = digits.inputs.shape();  // [N, 1, H, W]
  const std::int64_t height = pictures[2], width = pictures[3];
  const std::int64_t top = (shape[2] - height) / 2, left = (shape[3] - width) / 2;
  const std::span<const std::uint8_t> levels = digits.inputs.as<std::uint8_t>();
  morton::Tensor batch = morton::Tensor::allocate(morton::DType::f32, shape);
  const std::span<float> values = batch.as_mutable<float>();
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    for (std::int64_t y = 0; y < height; ++y) {
      for (std::int64_t x = 0; x < width; ++x) {
        const std::int64_t from = ((first + n) * height + y) * width + x;
        const std::int64_t to = (n * shape[2] + top + y) * shape[3] + left + x;
        values[static_cast<std::size_t>(to)] =
            static_cast<float>(levels[static_cast<std::size_t>(from)]) / 255.0F;
      }
    }
  }
  return batch;
}

/// How many of a batch's answers are those of the labels.
std::int64_t right_answers(const morton::Tensor& answers, const morton::Dataset& digits,
                           std::int64_t first) {
  const std::span<const float> shares = answers.as<float>();
  const std::span<const std::int32_t> labels = digits.targets.as<std::int32_t>();
  const auto classes = static_cast<std::size_t>(answers.shape()[1]);
  std::int64_t right = 0;
  for (std::size_t n = 0; n < static_cast<std::size_t>(kBatch); ++n) {
    const std::span<const float> row = shares.subspan(n * classes, classes);
    const auto best = std::ranges::max_element(row) - row.begin();
    right += best == labels[static_cast<std::size_t>(first) + n] ? 1 : 0;
  }
  return right;
}

void classify(int threads, const std::string& model_path, const std::string& folder,
              const std::string& device_name) {
  // 1. Once: the device, the digits and the compiled model, which never change. All threads share
  //    them.
  const morton::Device device = morton::Device::open(device_name);
  const morton::Dataset digits = morton::read_dataset(folder, morton::Split::test);
  morton::CompileOptions options;
  options.batch = kBatch;
  const morton::CompiledModel compiled =
      morton::compile(morton::Model::load(model_path), device, options);

  // 2. Threads that take the next batch until none is left. An error of a thread is kept and thrown
  //    where they are joined.
  std::atomic<std::int64_t> next{0}, right{0};
  std::exception_ptr problem;
  std::mutex problem_mutex;
  const auto work = [&] {
    try {
      // A session belongs to one thread at a time: it has the memory of a run.
      morton::Session session(compiled);
      const morton::PortInfo input = compiled.inputs().front();
      for (std::int64_t first = next.fetch_add(kBatch); first + kBatch <= digits.size();
           first = next.fetch_add(kBatch)) {
        const std::vector<morton::NamedTensor> inputs{
            {input.name, batch_of(digits, first, input.shape)}};
        right += right_answers(session.run(inputs).front().tensor, digits, first);
      }
    } catch (...) {
      const std::scoped_lock lock(problem_mutex);
      problem = std::current_exception();
    }
  };

  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(work);
  for (std::thread& thread : all) thread.join();
  if (problem) std::rethrow_exception(problem);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  const std::int64_t done = digits.size() / kBatch * kBatch;
  std::printf("%d threads: %lld of %lld digits are right, %.0f a second\n", threads,
              static_cast<long long>(right), static_cast<long long>(done),
              static_cast<double>(done) / seconds.count());
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, const char* otherwise) {
    return std::string(argc > i ? argv[i] : otherwise);
  };
  const int threads = std::atoi(argument(1, "4").c_str());
  if (threads < 1 || threads > 64) {
    std::fprintf(stderr, "error: THREADS: expected 1 to 64, got '%s'\n", argv[1]);
    return 1;
  }
  try {
    classify(threads, argument(2, "models/lenet5.onnx"), argument(3, "data/mnist"),
             argument(4, ""));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
