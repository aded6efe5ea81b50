// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <thread>

#include "faults/scenario.hpp"
#include "faults/small_training.hpp"
#include "morton/morton.hpp"

namespace morton::faults {
namespace {

namespace fs = std::filesystem;

void add(Answer& answer, const std::vector<NamedTensor>& tensors) {
  for (const NamedTensor& named : tensors) answer.push_back(bytes_of(named.tensor));
}

class Load : public Scenario {
 public:
  Load(const std::string& folder, DeviceConfig::DiskCache cache)
      : config_{folder + "/cache", cache}, file_(folder + "/model.onnx") {
    fs::create_directories(folder);
    small_model().save(file_);
  }
  Answer act() override {
    const Model model = Model::load(file_);
    const CompiledModel compiled = compile(model, Device::open("0:0", config_));
    Session session(compiled);
    Answer answer;
    add(answer, session.run(small_inputs(compiled, 1)));
    return answer;
  }

 private:
  DeviceConfig config_;
  std::string file_;
};

/// A compiled model on an open device.
class Compiled : public Scenario {
 public:
  explicit Compiled(const std::string& folder) : config_{folder + "/cache"} {}
  void open() override { compiled_.emplace(compile(small_model(), Device::open("0:0", config_))); }
  void close() override { compiled_.reset(); }

 protected:
  [[nodiscard]] const CompiledModel& compiled() const { return *compiled_; }

 private:
  DeviceConfig config_;
  std::optional<CompiledModel> compiled_;
};

/// All ways of Session to compute.
class Run : public Compiled {
 public:
  using Compiled::Compiled;
  Answer act() override {
    Answer answer;
    Session session(compiled());
    const std::vector<NamedTensor> first = small_inputs(compiled(), 1);
    for (int i = 0; i < 2; ++i) add(answer, session.run(first));
    for (const NamedTensor& input : small_inputs(compiled(), 5))
      session.set_input(input.name, input.tensor);
    session.enqueue().wait();
    for (const PortInfo& output : compiled().outputs())
      answer.push_back(bytes_of(session.get_output(output.name)));
    const std::vector<NamedTensor> mapped = small_inputs(compiled(), 9);
    for (const NamedTensor& input : mapped) {
      Tensor memory = session.map_input(input.name);
      std::copy_n(input.tensor.data(), input.tensor.bytes(), memory.mutable_data());
    }
    session.unmap();
    static_cast<void>(session.enqueue());
    for (const PortInfo& output : compiled().outputs())
      answer.push_back(bytes_of(session.map_output(output.name)));
    session.unmap();
    session.set_profiling(SessionOptions::Profiling::on);
    add(answer, session.run(first));
    static_cast<void>(session.step_times());
    return answer;
  }
};

class Train : public Scenario {
 public:
  explicit Train(const std::string& folder) : config_{folder + "/cache"} {}
  void open() override { device_.emplace(Device::open("0:0", config_)); }
  void close() override { device_.reset(); }
  Answer act() override {
    Trainer trainer(small_model(), *device_, small_training());
    const Tensor pictures = small_numbers(trainer.input().shape, 3);
    Tensor labels = Tensor::allocate(trainer.target().dtype, trainer.target().shape);
    for (std::int64_t i = 0; i < labels.size(); ++i) labels.set(i, static_cast<double>(i));
    Answer answer;
    for (int i = 0; i < 2; ++i)
      answer.push_back(std::to_string(trainer.step(pictures, labels, 0.01).loss));
    answer.push_back(std::to_string(trainer.evaluate(pictures, labels, labels.size()).loss));
    add(answer, trainer.state());
    return answer;
  }

 private:
  DeviceConfig config_;
  std::optional<Device> device_;
};

/// Writes a compiled file and trains with a checkpoint after each step. Where that failed the
/// training goes on from what it left, so nothing may be lost.
class Save : public Compiled {
 public:
  explicit Save(const std::string& folder)
      : Compiled(folder), folder_(folder + "/training"), file_(folder + "/ahead") {}
  void open() override {
    Compiled::open();
    fs::remove_all(folder_);
    fs::remove(file_);
  }
  Answer act() override {
    // A file is whole or not there.
    if (fs::exists(file_)) static_cast<void>(CompiledFile::open(file_));
    save_compiled({&compiled(), 1}, file_);
    const CompiledModel ahead = CompiledFile::open(file_).load(compiled().device());
    Answer answer;
    {
      Session session(ahead);
      add(answer, session.run(small_inputs(ahead, 1)));
    }
    Trainer trainer(small_model(), compiled().device(), small_training());
    static_cast<void>(train(trainer, small_data(), nullptr, small_run(folder_)));
    add(answer, trainer.state());
    return answer;
  }

 private:
  std::string folder_, file_;
};

/// Requests of two clients, each with a session that stays: one request may fail, the others may
/// not.
class Serve : public Compiled {
 public:
  using Compiled::Compiled;
  void open() override {
    Compiled::open();
    for (auto& session : sessions_) session.emplace(compiled());
  }
  void close() override {
    for (auto& session : sessions_) session.reset();
    Compiled::close();
  }
  Answer act() override {
    constexpr int kRequests = 3;
    std::array<Answer, 2> answers;
    std::array<std::exception_ptr, 2> failures{};
    std::vector<std::jthread> clients;
    for (std::size_t c = 0; c < sessions_.size(); ++c) {
      clients.emplace_back([&, c] {
        for (int r = 0; r < kRequests; ++r) {
          try {
            add(answers[c], sessions_[c]->run(
                                small_inputs(compiled(), 10 * c + static_cast<std::uint64_t>(r))));
          } catch (...) {
            failures[c] = std::current_exception();
          }
        }
      });
    }
    clients.clear();
    for (const std::exception_ptr& failure : failures) {
      if (failure != nullptr) std::rethrow_exception(failure);
    }
    Answer answer = answers[0];
    answer.insert(answer.end(), answers[1].begin(), answers[1].end());
    return answer;
  }

 private:
  std::array<std::optional<Session>, 2> sessions_;
};

}  // namespace

const std::vector<std::string>& scenario_names() {
  static const std::vector<std::string> names{"load", "compile", "run", "train", "save", "serve"};
  return names;
}

std::unique_ptr<Scenario> make_scenario(const std::string& name, const std::string& folder) {
  if (name == "load") return std::make_unique<Load>(folder, DeviceConfig::DiskCache::use);
  if (name == "compile") return std::make_unique<Load>(folder, DeviceConfig::DiskCache::none);
  if (name == "run") return std::make_unique<Run>(folder);
  if (name == "train") return std::make_unique<Train>(folder);
  if (name == "save") return std::make_unique<Save>(folder);
  if (name == "serve") return std::make_unique<Serve>(folder);
  throw UsageError("no scenario is named '" + name + "'");
}

}  // namespace morton::faults
