// SPDX-License-Identifier: Apache-2.0
//
// A model in training, for bench/training.py: says what it is in a line of JSON, then answers lines
// of standard input in lines of JSON.
//
//     speed N     runs N steps; milliseconds of each, the copies of its batch and its loss included
//     losses N    starts anew from the model's weights and runs N steps; the loss of each
//     profile N   runs N steps; of each step of the plan its name, kernel, flop and the median of
//                 its microseconds by the device's clock
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <morton/morton.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace {

using morton::Tensor;

struct Arguments {
  std::string model, batches, device = "auto", optimizer = "sgd";
  double rate = 0.01;
  bool apart = false;  ///< each kernel in a launch of its own
};

/// Row `index` of a tensor [count, ...].
Tensor row_of(const Tensor& all, std::int64_t index) {
  const morton::Shape shape(all.shape().begin() + 1, all.shape().end());
  Tensor row = Tensor::allocate(all.dtype(), shape);
  std::copy_n(all.data() + static_cast<std::size_t>(index) * row.bytes(), row.bytes(),
              row.mutable_data());
  return row;
}

class Subject {
 public:
  explicit Subject(const Arguments& arguments) : arguments_(arguments) {
    for (const auto& named : morton::read_tensors(arguments.batches)) {
      auto& rows = named.name == "x" ? inputs_ : targets_;
      for (std::int64_t i = 0; i < named.tensor.shape()[0]; ++i) {
        rows.push_back(row_of(named.tensor, i));
      }
    }
    start();
    for (int i = 0; i < 4; ++i) (void)step(static_cast<std::size_t>(i));
  }

  [[nodiscard]] std::string facts() const {
    const auto& report = trainer_->step_model().report();
    std::ostringstream text;
    text << "{\"version\": \"Morton, " << trainer_->step_model().device().name()
         << "\", \"steps\": " << trainer_->summary().steps
         << ", \"activation_bytes\": " << report.memory.activation_bytes
         << ", \"kernels_built\": " << report.kernels.built << "}";
    return text.str();
  }

  std::vector<double> speed(std::size_t count) {
    std::vector<double> times;
    for (std::size_t i = 0; i < count; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      (void)step(i);
      const std::chrono::duration<double, std::milli> time =
          std::chrono::steady_clock::now() - begin;
      times.push_back(time.count());
    }
    return times;
  }

  std::vector<double> losses(std::size_t count) {
    start();
    std::vector<double> losses;
    for (std::size_t i = 0; i < count; ++i) losses.push_back(step(i));
    return losses;
  }

  /// A list in JSON.
  std::string profile(std::size_t count) {
    trainer_->set_profiling(morton::SessionOptions::Profiling::on);
    const auto plan = trainer_->step_model().steps();
    std::vector<std::vector<double>> times(plan.size());
    for (std::size_t i = 0; i < count; ++i) {
      (void)step(i);
      const auto taken = trainer_->step_times();
      for (std::size_t s = 0; s < taken.size(); ++s) {
        times[s].push_back(taken[s].device_us.value_or(taken[s].enqueue_us));
      }
    }
    trainer_->set_profiling(morton::SessionOptions::Profiling::off);
    std::ostringstream text;
    for (std::size_t s = 0; s < plan.size(); ++s) {
      std::ranges::sort(times[s]);
      text << (s == 0 ? "[" : ", ") << "{\"name\": \"" << plan[s].name << "\", \"kernel\": \""
           << plan[s].kernel << "\", \"flop\": " << plan[s].flop
           << ", \"us\": " << times[s].at(times[s].size() / 2) << "}";
    }
    return text.str() + "]";
  }

 private:
  void start() {
    morton::TrainerOptions options;
    options.batch = inputs_.at(0).shape().at(0);
    if (arguments_.optimizer == "adam") {
      options.optimizer.kind = morton::OptimizerOptions::Kind::adam;
    }
    if (arguments_.apart) options.compile.launches = morton::CompileOptions::Launches::apart;
    const bool is_file = arguments_.model.find('.') != std::string::npos;
    const auto model =
        is_file ? morton::Model::load(arguments_.model) : morton::new_model(arguments_.model, 1);
    options.compile.shapes[model.inputs().at(0).name] = inputs_.at(0).shape();
    trainer_ =
        std::make_unique<morton::Trainer>(model, morton::Device::open(arguments_.device), options);
  }

  double step(std::size_t i) {
    const std::size_t at = i % inputs_.size();
    return trainer_->step(inputs_[at], targets_[at], arguments_.rate).loss;
  }

  Arguments arguments_;
  std::vector<Tensor> inputs_, targets_;
  std::unique_ptr<morton::Trainer> trainer_;
};

/// As Python's json reads it.
std::string json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0.0 ? "Infinity" : "-Infinity";
  char number[32];
  std::snprintf(number, sizeof number, "%.9g", value);
  return number;
}

void print(const std::vector<double>& numbers) {
  std::string text;
  for (const double value : numbers) {
    text += (text.empty() ? "[" : ", ") + json_number(value);
  }
  std::puts((text + "]").c_str());
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  if (argc != 6 && argc != 7) {
    std::fputs("usage: training MODEL BATCHES.npz DEVICE sgd|adam RATE [apart]\n", stderr);
    return 2;
  }
  Arguments arguments;
  arguments.model = argv[1];
  arguments.batches = argv[2];
  arguments.device = argv[3];
  arguments.optimizer = argv[4];
  arguments.rate = std::stod(argv[5]);
  arguments.apart = argc == 7 && std::string(argv[6]) == "apart";
  Subject subject(arguments);
  std::puts(subject.facts().c_str());
  std::fflush(stdout);
  std::string what;
  std::size_t count = 0;
  while (std::cin >> what >> count) {
    if (what == "profile") {
      std::puts(subject.profile(count).c_str());
      std::fflush(stdout);
    } else {
      print(what == "speed" ? subject.speed(count) : subject.losses(count));
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "training: %s\n", error.what());
    return 1;
  }
}
