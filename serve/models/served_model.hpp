// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <morton/compile.hpp>
#include <morton/device.hpp>
#include <morton/model.hpp>
#include <string>
#include <thread>
#include <vector>

#include "models/request.hpp"
#include "models/request_queue.hpp"
#include "protocol/infer_message.hpp"

namespace morton::serve {

/// How a model is served.
struct ServingOptions {
  std::vector<std::string> devices{
      ""};  ///< each has a thread and sessions; as Device::open takes them
  std::string cache_dir;
  std::int64_t max_batch = 8;  ///< items that requests may share a batch up to; 1: they share none
  std::chrono::microseconds max_delay{0};
  std::size_t max_queue = 256;
  std::map<std::string, Shape> shapes;  ///< of inputs whose extents are open beside the batch
  DType precision = DType::f32;
  std::string weights_folder;
  LoadLimits limits;
};

/// A version of a model, compiled, with the threads that compute it.
class ServedModel {
 public:
  /// Loads the file, builds all kernels and makes the sessions of every size of batch. Throws what
  /// loading and compiling throw.
  ServedModel(std::string name, std::string version, const std::string& path,
              const ServingOptions& options);
  /// As `stop`.
  ~ServedModel();
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& version() const { return version_; }
  /// As the model's file has them: open extents are -1.
  [[nodiscard]] const std::vector<PortInfo>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<PortInfo>& outputs() const { return outputs_; }
  /// Why requests share no batch; empty where they do.
  [[nodiscard]] const std::string& why_alone() const { return why_alone_; }
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }
  [[nodiscard]] std::size_t waiting() const { return queue_->waiting(); }
  /// Runs so far, each of a batch.
  [[nodiscard]] std::int64_t runs() const { return runs_; }

  /// Computes a request; `done` is called with what comes of it, by any thread, perhaps before this
  /// returns.
  void infer(const InferRequest& request, Clock::time_point arrived,
             std::function<void(Outcome)> done);
  /// Answers what waits, refuses what comes, and ends the threads.
  void stop();

 private:
  class Worker;

  /// The request's inputs in the model's order. Throws UsageError where they do not fit.
  [[nodiscard]] Pending placed(const InferRequest& request) const;
  void find_items(const Model& model, const CompileOptions& options);

  const std::string name_, version_;
  std::vector<PortInfo> inputs_, outputs_;
  std::vector<std::size_t> input_items_, output_items_;  ///< dimensions; empty where none is open
  std::string why_alone_;
  std::int64_t max_batch_ = 1;
  std::vector<Device> devices_;
  std::unique_ptr<RequestQueue> queue_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::thread> threads_;
  std::atomic<std::int64_t> runs_{0};
};

}  // namespace morton::serve
