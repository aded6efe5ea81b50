// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <morton/compile.hpp>
#include <morton/device.hpp>
#include <morton/model.hpp>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "models/placing.hpp"
#include "models/request.hpp"
#include "models/request_queue.hpp"
#include "models/worker.hpp"
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
  /// Of inputs whose extents are open beside the batch: by the input's name, or as MODEL:INPUT.
  std::map<std::string, Shape> shapes;
  DType precision = DType::f32;
};

/// A version of a model, compiled, with the threads that compute it.
class ServedModel {
 public:
  /// Loads the file, builds all kernels and makes the sessions of every size of batch. Throws what
  /// loading and compiling throw.
  ServedModel(std::string name, std::string version, const std::string& path,
              const ServingOptions& options);
  /// Answers what waits.
  ~ServedModel();
  ServedModel(const ServedModel&) = delete;
  ServedModel& operator=(const ServedModel&) = delete;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& version() const { return version_; }
  /// As the model's file has them: open extents are -1.
  [[nodiscard]] const std::vector<PortInfo>& inputs() const { return ports_.inputs; }
  [[nodiscard]] const std::vector<PortInfo>& outputs() const { return ports_.outputs; }
  /// Why requests share no batch; empty where they do.
  [[nodiscard]] const std::string& why_alone() const { return why_alone_; }
  [[nodiscard]] const std::vector<Device>& devices() const { return devices_; }
  [[nodiscard]] std::size_t waiting() const { return queue_->waiting(); }

  /// Computes a request; `done` is called with what comes of it, by any thread, perhaps before this
  /// returns.
  void infer(const InferRequest& request, Clock::time_point arrived,
             std::function<void(Outcome)> done);
  /// Answers what waits, or drops it, refuses what comes, and ends the threads. May be called
  /// again.
  void stop(RequestQueue::Rest rest);

 private:
  void find_items(const Model& model, const CompileOptions& options);
  /// Those of `given` that are of this model's inputs. Throws UsageError where one is named as this
  /// model's and does not fit.
  [[nodiscard]] std::map<std::string, Shape> own_shapes(
      const std::map<std::string, Shape>& given) const;
  /// The inputs' shapes with so many items. Throws UsageError where an extent is not known.
  [[nodiscard]] std::map<std::string, Shape> shapes_with(
      std::int64_t items, const std::map<std::string, Shape>& given) const;

  const std::string name_, version_;
  ModelPorts ports_;
  std::string why_alone_;
  std::vector<Device> devices_;
  std::unique_ptr<RequestQueue> queue_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::mutex stopping_;
  std::vector<std::thread> threads_;
};

}  // namespace morton::serve
