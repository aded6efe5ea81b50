// SPDX-License-Identifier: Apache-2.0
#include "models/served_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <morton/error.hpp>
#include <morton/support.hpp>
#include <utility>

#include "models/worker.hpp"

namespace morton::serve {
ServedModel::ServedModel(std::string name, std::string version, const std::string& path,
                         const ServingOptions& options)
    : name_(std::move(name)), version_(std::move(version)) {
  const Model model = Model::load(path);
  ports_.inputs = model.inputs();
  ports_.outputs = model.outputs();
  const std::map<std::string, Shape> given = own_shapes(options.shapes);
  CompileOptions compiling;
  compiling.shapes = given;
  compiling.precision.operands = options.precision;
  compiling.cache_dir = options.cache_dir;
  find_items(model, compiling);
  ports_.max_batch = why_alone_.empty() ? options.max_batch : 1;
  if (!ports_.input_items.empty()) {
    compiling.shapes = shapes_with(ports_.max_batch, given);
    if (ports_.max_batch > 1) compiling.also.push_back({0, shapes_with(1, given)});
  }
  queue_ = std::make_unique<RequestQueue>(
      QueueLimits{options.max_queue, ports_.max_batch, options.max_delay});
  for (const std::string& selector : options.devices) {
    const Device device = Device::open(selector, {.cache_dir = options.cache_dir});
    devices_.push_back(device);
    workers_.push_back(std::make_unique<Worker>(ports_, *queue_, model, device, compiling));
  }
  for (const auto& worker : workers_) {
    threads_.emplace_back([one = worker.get()] { one->work(); });
  }
}

ServedModel::~ServedModel() { stop(RequestQueue::Rest::taken); }

void ServedModel::find_items(const Model& model, const CompileOptions& options) {
  const BatchItems items = batch_items(model, options);
  why_alone_ = items.obstacle.print();
  if (!why_alone_.empty()) return;
  for (const auto& dimension : items.inputs) {
    if (!dimension) {
      why_alone_ = "an input is the same for all items of a batch";
      return;
    }
  }
  for (const auto& dimension : items.inputs) ports_.input_items.push_back(*dimension);
  ports_.output_items = items.outputs;
}

std::map<std::string, Shape> ServedModel::own_shapes(
    const std::map<std::string, Shape>& given) const {
  std::map<std::string, Shape> own;
  for (const PortInfo& port : ports_.inputs) {
    const auto named = given.find(name_ + ":" + port.name);
    if (named != given.end() && !fits(named->second, port)) {
      throw UsageError(fmt::format("--shape {}: input '{}' takes {}", named->first, port.name,
                                   text_of(port.shape)));
    }
    const auto found = named != given.end() ? named : given.find(port.name);
    // Inputs of several models may have one name.
    if (found != given.end() && fits(found->second, port)) own.emplace(port.name, found->second);
  }
  return own;
}

std::map<std::string, Shape> ServedModel::shapes_with(
    std::int64_t items, const std::map<std::string, Shape>& given) const {
  std::map<std::string, Shape> shapes;
  for (std::size_t i = 0; i < ports_.inputs.size(); ++i) {
    const PortInfo& port = ports_.inputs[i];
    const auto found = given.find(port.name);
    Shape shape = found == given.end() ? port.shape : found->second;
    shape.at(ports_.input_items[i]) = items;
    if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; })) {
      throw UsageError(fmt::format("input '{}' has open extents, {}; --shape gives them", port.name,
                                   text_of(port.shape)));
    }
    shapes.emplace(port.name, std::move(shape));
  }
  return shapes;
}

void ServedModel::infer(const InferRequest& request, Clock::time_point arrived,
                        std::function<void(Outcome)> done) {
  Pending pending;
  try {
    pending = placed(request, ports_);
  } catch (const UsageError& error) {
    return done(Refusal{Refusal::Why::wrong, error.what()});
  } catch (const std::exception& error) {
    return done(Refusal{Refusal::Why::failed, error.what()});
  }
  pending.arrived = arrived;
  if (request.timeout_us)
    pending.deadline = arrived + std::chrono::microseconds(*request.timeout_us);
  pending.done = std::move(done);
  const auto computes = [&](const auto& worker) { return worker->compute_at_once(pending); };
  if (std::ranges::any_of(workers_, computes)) return;
  queue_->offer(std::move(pending));
}

void ServedModel::stop(RequestQueue::Rest rest) {
  if (queue_) queue_->close(rest);
  const std::lock_guard lock(stopping_);
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace morton::serve
