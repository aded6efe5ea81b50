// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <prometheus/registry.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "models/request.hpp"

namespace morton::serve {

/// A model's counts, for Prometheus. Threads may share it.
class ModelMetrics {
 public:
  ModelMetrics(prometheus::Registry& registry, const std::string& model);

  /// A request that was answered.
  void answered(const RequestTimes& times, double seconds);
  /// One that was not.
  void refused(Refusal::Why why);
  void set_waiting(std::size_t waiting);

 private:
  prometheus::Family<prometheus::Counter>* requests_;
  std::map<std::string, std::string> labels_;
  prometheus::Counter *ok_, *items_, *runs_;
  prometheus::Histogram *request_, *queue_, *input_, *compute_, *output_;
  prometheus::Gauge* waiting_;
};

/// All that /metrics shows.
class Metrics {
 public:
  Metrics();
  /// The model's, made where there are none yet.
  [[nodiscard]] ModelMetrics& of(const std::string& model);
  void set_connections(std::size_t open);
  void set_grpc_calls(std::size_t open);
  /// Requests that wait, by models' names; none for all others.
  void set_waiting(const std::map<std::string, std::size_t>& of_models);
  /// Bytes by devices' ids; none for all others.
  void set_device_bytes(const std::map<std::string, std::int64_t>& of_devices);
  /// In Prometheus's text format.
  [[nodiscard]] std::string text() const;

 private:
  std::shared_ptr<prometheus::Registry> registry_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<ModelMetrics>> models_;
  prometheus::Gauge *connections_, *grpc_calls_;
  prometheus::Family<prometheus::Gauge>* device_bytes_;
  std::map<std::string, prometheus::Gauge*> devices_;
};

}  // namespace morton::serve
