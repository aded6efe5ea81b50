// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "host/formats_files.hpp"
#include "support/rooms.hpp"
#include "training/loop/training_loop.hpp"

namespace morton::test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// A learner whose one weight and whose losses depend on every batch and rate so far.
class FakeLearner : public Learner {
 public:
  PortInfo input() const override { return {"input", DType::f32, {3, 1, 4, 4}, {}}; }
  PortInfo target() const override { return {"labels", DType::i32, {3}, {}}; }
  BatchResult step(const Tensor& inputs, const Tensor& targets, double learning_rate) override {
    double sum = 0.0;
    for (std::int64_t i = 0; i < inputs.size(); ++i) {
      sum = std::fmod(sum * 1.7 + inputs.at(i), 1.0);
    }
    for (std::int64_t i = 0; i < targets.size(); ++i) sum += targets.at(i);
    weight_ = static_cast<float>(std::fmod(weight_ * 0.9 + learning_rate * sum, 10.0));
    ++steps_;
    rates.push_back(learning_rate);
    const double loss = steps_ == spoilt_loss_at ? kNan : weight_;
    if (steps_ == spoilt_weight_at) weight_ = std::numeric_limits<float>::infinity();
    return {loss, steps_ % 4, 3};
  }
  BatchResult evaluate(const Tensor& /*inputs*/, const Tensor& /*targets*/,
                       std::int64_t rows) override {
    if (evaluated_rows == 0) {
      evaluated_first = steps_;
      std::this_thread::sleep_for(first_evaluation);
    }
    evaluated_rows += rows;
    return {validation_loss ? validation_loss(steps_) : weight_, steps_ == wrong_at ? 0 : rows,
            rows};
  }
  std::vector<NamedTensor> state() override {
    return {{"weight", Tensor::from({1}, std::vector<float>{weight_})},
            {"morton.progress", Tensor::from({1}, std::vector<std::int64_t>{steps_})}};
  }
  void set_state(const std::vector<NamedTensor>& state) override {
    weight_ = state[state[0].name == "weight" ? 0 : 1].tensor.as<float>()[0];
    steps_ = state[state[0].name == "weight" ? 1 : 0].tensor.as<std::int64_t>()[0];
  }
  std::int64_t accumulate() const override { return accumulated; }
  std::int64_t classes() const override { return 10; }
  std::vector<std::string> trained() const override { return {"weight"}; }
  std::map<std::string, std::string> settings() const override {
    return {{"optimizer", "fake"}, {"digest of the network", network}};
  }
  std::vector<std::string> parameters() const override { return {"weight"}; }
  std::string plan_digest() const override { return digest; }
  std::int64_t program_builds() const override { return steps_ < 2 ? steps_ : steps_ + 5; }
  const Graph& graph() const override { return model; }

  std::int64_t steps() const { return steps_; }
  void begin_at(float weight) { weight_ = weight; }
  Graph model;
  std::int64_t accumulated = 1;
  std::chrono::milliseconds first_evaluation{0};
  std::int64_t spoilt_loss_at = 0, spoilt_weight_at = 0, evaluated_rows = 0, evaluated_first = -1,
               wrong_at = -1;
  std::function<double(std::int64_t)> validation_loss;
  std::vector<double> rates;
  std::string digest = "plan", network = "network";

 private:
  float weight_ = 1.0F;
  std::int64_t steps_ = 0;
};

/// `count` pictures of noise.
inline Dataset noise(std::int64_t count) {
  Dataset data;
  data.where = "noise";
  data.inputs = Tensor::allocate(DType::u8, {count, 1, 4, 4});
  for (std::int64_t i = 0; i < data.inputs.size(); ++i) {
    data.inputs.set(i, static_cast<double>(i * i % 251));
  }
  data.targets = Tensor::allocate(DType::i32, {count});
  for (std::int64_t i = 0; i < count; ++i) data.targets.set(i, static_cast<double>(i % 10));
  data.classes = 10;
  return data;
}

inline TrainingRunOptions options_in(const std::filesystem::path& folder) {
  TrainingRunOptions options;
  options.epochs = 4;
  options.learning_rate = 0.5;
  options.schedule = "plateau:patience=1,factor=0.5,warmup=4";
  options.augmentation = "shift=1,flip";
  options.folder = folder.string();
  options.start = TrainingRunOptions::Start::resume;
  return options;
}

inline TrainingReport run(FakeLearner& learner, const TrainingRunOptions& options,
                          std::optional<Dataset> validation = noise(7)) {
  return TrainingLoop(learner, noise(17), validation ? &*validation : nullptr, options).run();
}

/// The lines of log.csv without the two columns that tell of time.
inline std::vector<std::string> logged(const std::filesystem::path& folder) {
  std::istringstream lines(bytes_of_file(folder / "log.csv"));
  std::vector<std::string> kept;
  for (std::string line; std::getline(lines, line);) {
    for (int i = 0; i < 2; ++i) line.resize(line.rfind(','));
    kept.push_back(line);
  }
  return kept;
}

}  // namespace morton::test
