// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/access_log.hpp"
#include "common/metrics.hpp"
#include "http/exchange.hpp"
#include "models/repository.hpp"

namespace morton::serve {

/// The Open Inference Protocol's paths, and /metrics.
class Routes {
 public:
  using Done = std::function<void(HttpReply)>;

  Routes(ModelRepository& repository, Metrics& metrics, AccessLog& log);
  ~Routes();
  Routes(const Routes&) = delete;
  Routes& operator=(const Routes&) = delete;

  /// Answers a request; calls back once, by any thread. Throws nothing.
  void take(HttpRequest request, Done done);
  /// A request that its connection refused.
  void refused(const HttpRequest& request, int status);
  /// From now on the server is not ready: it stops.
  void begin_draining() { draining_ = true; }
  /// Told before the metrics are written.
  std::function<void()> before_metrics;

 private:
  struct Answering;

  void infer(const std::string& name, const std::string& version, HttpRequest request, Done done);
  /// Finds the model and asks it.
  void ask(const std::shared_ptr<Answering>& answering);
  void finish(const std::shared_ptr<Answering>& answering, Outcome outcome);
  [[nodiscard]] HttpReply answer_of(Answering& answering, const Outcome& outcome);
  [[nodiscard]] HttpReply model(const std::vector<std::string>& parts, const HttpRequest& request);
  [[nodiscard]] HttpReply at_once(const std::vector<std::string>& parts,
                                  const HttpRequest& request);
  [[nodiscard]] HttpReply index() const;
  void change(const std::vector<std::string>& parts, const Done& done);

  ModelRepository& repository_;
  Metrics& metrics_;
  AccessLog& log_;
  std::atomic<bool> draining_{false};
  std::mutex mutex_;
  bool is_changing_ = false;
  std::thread changing_;  ///< loads or unloads a model
};

}  // namespace morton::serve
