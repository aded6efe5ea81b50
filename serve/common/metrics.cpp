// SPDX-License-Identifier: Apache-2.0
#include "common/metrics.hpp"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/text_serializer.h>

#include <morton/version.hpp>

namespace morton::serve {
namespace {

using Labels = std::map<std::string, std::string>;

/// Upper ends of the buckets, in seconds: from 50 microseconds on, each 2 or 2.5 times the one
/// before.
prometheus::Histogram::BucketBoundaries buckets() {
  return {5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2,
          5e-2, 0.1,  0.25,   0.5,  1,    2.5,    5,    10};
}

prometheus::Counter& counter(prometheus::Registry& registry, const char* name, const char* help,
                             const Labels& labels) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(registry).Add(labels);
}

prometheus::Histogram& histogram(prometheus::Registry& registry, const char* name, const char* help,
                                 const Labels& labels) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(registry).Add(labels,
                                                                                   buckets());
}

std::string name_of(Refusal::Why why) {
  switch (why) {
    case Refusal::Why::wrong:
      return "wrong";
    case Refusal::Why::no_model:
      return "no_model";
    case Refusal::Why::late:
      return "late";
    case Refusal::Why::busy:
    case Refusal::Why::memory:
    case Refusal::Why::gone:
      return "busy";
    case Refusal::Why::failed:
      break;
  }
  return "failed";
}

}  // namespace

ModelMetrics::ModelMetrics(prometheus::Registry& registry, const std::string& model)
    : labels_{{"model", model}} {
  const auto phase = [&](const char* name) {
    Labels labels = labels_;
    labels["phase"] = name;
    return &histogram(
        registry, "morton_compute_seconds",
        "Time of a batch, by phase: inputs put together, the run, outputs taken apart", labels);
  };
  requests_ = &prometheus::BuildCounter()
                   .Name("morton_inference_requests_total")
                   .Help("Requests for an inference, by what came of them")
                   .Register(registry);
  Labels ok = labels_;
  ok["outcome"] = "answered";
  ok_ = &requests_->Add(ok);
  items_ = &counter(registry, "morton_inference_count_total", "Items that were computed", labels_);
  runs_ = &counter(registry, "morton_inference_exec_total", "Runs of the model, each of a batch",
                   labels_);
  request_ = &histogram(registry, "morton_request_duration_seconds",
                        "From a request's header to its answer", labels_);
  queue_ = &histogram(registry, "morton_queue_duration_seconds",
                      "From a request's header to the beginning of its batch", labels_);
  input_ = phase("input");
  compute_ = phase("infer");
  output_ = phase("output");
  waiting_ = &prometheus::BuildGauge()
                  .Name("morton_queue_depth")
                  .Help("Requests that wait for the model")
                  .Register(registry)
                  .Add(labels_);
}

void ModelMetrics::answered(const RequestTimes& times, double seconds) {
  ok_->Increment();
  items_->Increment(static_cast<double>(times.items));
  request_->Observe(seconds);
  queue_->Observe(times.queue);
  if (!times.is_first) return;  // the rest is the batch's
  runs_->Increment();
  input_->Observe(times.input);
  compute_->Observe(times.compute);
  output_->Observe(times.output);
}

void ModelMetrics::refused(Refusal::Why why) {
  Labels labels = labels_;
  labels["outcome"] = name_of(why);
  requests_->Add(labels).Increment();
}

void ModelMetrics::set_waiting(std::size_t waiting) { waiting_->Set(static_cast<double>(waiting)); }

Metrics::Metrics() : registry_(std::make_shared<prometheus::Registry>()) {
  prometheus::BuildGauge()
      .Name("morton_build_info")
      .Help("The version of Morton; the value is 1")
      .Register(*registry_)
      .Add({{"version", MORTON_VERSION}})
      .Set(1);
  connections_ = &prometheus::BuildGauge()
                      .Name("morton_http_connections")
                      .Help("Connections of clients that are open")
                      .Register(*registry_)
                      .Add({});
  grpc_calls_ = &prometheus::BuildGauge()
                     .Name("morton_grpc_calls")
                     .Help("Calls by gRPC that are open")
                     .Register(*registry_)
                     .Add({});
  device_bytes_ = &prometheus::BuildGauge()
                       .Name("morton_device_memory_bytes")
                       .Help("Device memory that Morton holds")
                       .Register(*registry_);
}

ModelMetrics& Metrics::of(const std::string& model) {
  const std::lock_guard lock(mutex_);
  auto& found = models_[model];
  if (!found) found = std::make_unique<ModelMetrics>(*registry_, model);
  return *found;
}

void Metrics::set_connections(std::size_t open) { connections_->Set(static_cast<double>(open)); }

void Metrics::set_grpc_calls(std::size_t open) { grpc_calls_->Set(static_cast<double>(open)); }

void Metrics::set_waiting(const std::map<std::string, std::size_t>& of_models) {
  for (const auto& [name, waiting] : of_models) of(name).set_waiting(waiting);
  const std::lock_guard lock(mutex_);
  for (const auto& [name, model] : models_) {
    if (!of_models.contains(name)) model->set_waiting(0);
  }
}

void Metrics::set_device_bytes(const std::map<std::string, std::int64_t>& of_devices) {
  const std::lock_guard lock(mutex_);
  for (const auto& [device, bytes] : of_devices) {
    prometheus::Gauge*& gauge = devices_[device];
    if (gauge == nullptr) gauge = &device_bytes_->Add({{"device", device}});
    gauge->Set(static_cast<double>(bytes));
  }
  for (const auto& [device, gauge] : devices_) {
    if (!of_devices.contains(device)) gauge->Set(0);
  }
}

std::string Metrics::text() const {
  return prometheus::TextSerializer().Serialize(registry_->Collect());
}

}  // namespace morton::serve
