// SPDX-License-Identifier: Apache-2.0
#include "models/served_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <list>
#include <morton/error.hpp>
#include <morton/session.hpp>
#include <morton/support.hpp>
#include <optional>
#include <utility>

#include "models/batching.hpp"

namespace morton::serve {
namespace {

/// Sessions at other shapes than those that are made when the model is loaded; of these the one
/// that was not used for longest goes.
constexpr std::ptrdiff_t kMostOtherSessions = 16;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::string names_of(const std::vector<PortInfo>& ports) {
  std::vector<std::string> names;
  for (const PortInfo& port : ports) names.push_back("'" + port.name + "'");
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "[3, -1, 224]"
std::string text_of(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

bool fits(const Shape& shape, const PortInfo& port) {
  if (shape.size() != port.shape.size()) return false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (port.shape[d] >= 0 ? shape[d] != port.shape[d] : shape[d] < 1) return false;
  }
  return true;
}

}  // namespace

/// One device's sessions and the thread that runs them.
class ServedModel::Worker {
 public:
  Worker(ServedModel& owner, const Model& model, const Device& device,
         const CompileOptions& options)
      : owner_(owner), model_(compile(model, device, options)) {
    if (owner_.input_items_.empty()) return;
    std::vector<Shape> shapes;
    for (const PortInfo& port : model_.inputs()) shapes.push_back(port.shape);
    for (std::int64_t size = 1;; size = batch_size_for(size + 1, owner_.max_batch_)) {
      for (std::size_t i = 0; i < shapes.size(); ++i) shapes[i][owner_.input_items_[i]] = size;
      make_session(shapes, Life::lasting);
      if (size == owner_.max_batch_) break;
    }
  }

  void work() {
    for (;;) {
      std::vector<Pending> batch = owner_.queue_->take();
      if (batch.empty()) return;
      carry_out(batch);
    }
  }

 private:
  /// Sessions that are made when the model is loaded stay.
  enum class Life : std::uint8_t { lasting, passing };
  struct Kept {
    std::vector<Shape> shapes;
    Session session;
    Life life;
  };

  void carry_out(std::vector<Pending>& batch) {
    const Clock::time_point begun = Clock::now();
    try {
      std::int64_t items = 0;
      for (const Pending& one : batch) items += one.items;
      const bool has_items = !owner_.input_items_.empty();
      const std::vector<Tensor> inputs =
          has_items
              ? joined_inputs(batch, owner_.input_items_, batch_size_for(items, owner_.max_batch_))
              : batch.front().inputs;
      std::vector<Shape> shapes;
      std::vector<NamedTensor> named;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        shapes.push_back(inputs[i].shape());
        named.push_back({owner_.inputs_[i].name, inputs[i]});
      }
      Session& session = session_for(shapes);
      const Clock::time_point joined = Clock::now();
      const std::vector<NamedTensor> outputs = session.run(named);
      const Clock::time_point computed = Clock::now();
      if (has_items) require_items(outputs, batch_size_for(items, owner_.max_batch_));
      std::int64_t first = 0;
      for (Pending& one : batch) {
        Answered answer;
        for (std::size_t i = 0; i < outputs.size(); ++i) {
          answer.outputs.push_back(
              {outputs[i].name,
               has_items ? items_of(outputs[i].tensor, owner_.output_items_[i], first, one.items)
                         : outputs[i].tensor});
        }
        first += one.items;
        const Clock::time_point apart = Clock::now();
        answer.times = {seconds_between(one.arrived, begun),
                        seconds_between(begun, joined),
                        seconds_between(joined, computed),
                        seconds_between(computed, apart),
                        one.items,
                        items,
                        &one == &batch.front()};
        std::exchange(one.done, nullptr)(std::move(answer));
      }
    } catch (const UsageError& error) {
      refuse(batch, Refusal::Why::wrong, error.what());
    } catch (const UnsupportedError& error) {
      refuse(batch, Refusal::Why::wrong, error.what());
    } catch (const std::exception& error) {
      refuse(batch, Refusal::Why::failed, error.what());
    }
  }

  /// The proof that items do not meet says where they lie in the outputs: nobody gets another's.
  void require_items(const std::vector<NamedTensor>& outputs, std::int64_t items) const {
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Shape& shape = outputs[i].tensor.shape();
      const std::size_t dimension = owner_.output_items_.at(i);
      if (dimension < shape.size() && shape[dimension] == items) continue;
      throw UnsupportedError(fmt::format("output '{}' has the shape {} for a batch of {}",
                                         outputs[i].name, text_of(shape), items));
    }
  }

  static void refuse(std::vector<Pending>& batch, Refusal::Why why, const std::string& text) {
    for (Pending& one : batch) {
      if (one.done) std::exchange(one.done, nullptr)(Refusal{why, text});
    }
  }

  /// The session for inputs of these shapes. Throws what making it throws.
  Session& session_for(const std::vector<Shape>& shapes) {
    const auto found = std::ranges::find(sessions_, shapes, &Kept::shapes);
    if (found != sessions_.end()) {
      sessions_.splice(sessions_.begin(), sessions_, found);
      return sessions_.front().session;
    }
    make_session(shapes, Life::passing);
    if (std::ranges::count(sessions_, Life::passing, &Kept::life) > kMostOtherSessions) {
      const auto oldest = std::find_if(sessions_.rbegin(), sessions_.rend(),
                                       [](const Kept& one) { return one.life == Life::passing; });
      sessions_.erase(std::prev(oldest.base()));
    }
    return sessions_.front().session;
  }

  /// Before the others.
  void make_session(const std::vector<Shape>& shapes, Life life) {
    std::vector<Shape> own;
    InputShapes wanted;
    for (const PortInfo& port : model_.inputs()) {
      own.push_back(port.shape);
      wanted.shapes[port.name] = shapes.at(own.size() - 1);
    }
    const CompiledModel model =
        own == shapes ? model_ : model_.with_shapes(wanted, CompiledModel::Missing::build);
    sessions_.push_front({shapes, Session(model), life});
  }

  ServedModel& owner_;
  CompiledModel model_;
  std::list<Kept> sessions_;  ///< those used last first
};

ServedModel::ServedModel(std::string name, std::string version, const std::string& path,
                         const ServingOptions& options)
    : name_(std::move(name)), version_(std::move(version)) {
  const Model model = Model::load(path);
  inputs_ = model.inputs();
  outputs_ = model.outputs();
  const std::map<std::string, Shape> given = own_shapes(options.shapes);
  CompileOptions compiling;
  compiling.shapes = given;
  compiling.precision.operands = options.precision;
  compiling.cache_dir = options.cache_dir;
  find_items(model, compiling);
  max_batch_ = why_alone_.empty() ? options.max_batch : 1;
  if (!input_items_.empty()) {
    compiling.shapes = shapes_with(max_batch_, given);
    if (max_batch_ > 1) compiling.also.push_back({0, shapes_with(1, given)});
  }
  queue_ =
      std::make_unique<RequestQueue>(QueueLimits{options.max_queue, max_batch_, options.max_delay});
  for (const std::string& selector : options.devices) {
    const Device device = Device::open(selector, {.cache_dir = options.cache_dir});
    devices_.push_back(device);
    workers_.push_back(std::make_unique<Worker>(*this, model, device, compiling));
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
  for (const auto& dimension : items.inputs) input_items_.push_back(*dimension);
  output_items_ = items.outputs;
}

std::map<std::string, Shape> ServedModel::own_shapes(
    const std::map<std::string, Shape>& given) const {
  std::map<std::string, Shape> own;
  for (const PortInfo& port : inputs_) {
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
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const PortInfo& port = inputs_[i];
    const auto found = given.find(port.name);
    Shape shape = found == given.end() ? port.shape : found->second;
    shape.at(input_items_[i]) = items;
    if (std::ranges::any_of(shape, [](std::int64_t extent) { return extent < 0; })) {
      throw UsageError(fmt::format("input '{}' has open extents, {}; --shape gives them", port.name,
                                   text_of(port.shape)));
    }
    shapes.emplace(port.name, std::move(shape));
  }
  return shapes;
}

Pending ServedModel::placed(const InferRequest& request) const {
  Pending pending;
  for (const PortInfo& port : inputs_) {
    const auto found = std::ranges::find(request.inputs, port.name, &NamedTensor::name);
    if (found == request.inputs.end()) throw UsageError("input '" + port.name + "' is missing");
    const Tensor& tensor = found->tensor;
    if (tensor.dtype() != port.dtype) {
      throw UsageError(fmt::format("input '{}' is of type {}, expected {}", port.name,
                                   name_of(tensor.dtype()), name_of(port.dtype)));
    }
    if (!fits(tensor.shape(), port)) {
      throw UsageError(fmt::format("input '{}' has the shape {}, expected {}", port.name,
                                   text_of(tensor.shape()), text_of(port.shape)));
    }
    pending.inputs.push_back(tensor);
    pending.shapes.push_back(tensor.shape());
  }
  if (request.inputs.size() != inputs_.size()) {
    for (const NamedTensor& input : request.inputs) {
      if (std::ranges::find(inputs_, input.name, &PortInfo::name) != inputs_.end()) continue;
      throw UsageError("the model has no input '" + input.name + "'; it has " + names_of(inputs_));
    }
    throw UsageError("an input is given twice");
  }
  if (request.outputs.size() > outputs_.size()) {
    throw UsageError(fmt::format("{} outputs are asked for, and the model has {}",
                                 request.outputs.size(), outputs_.size()));
  }
  for (const WantedOutput& wanted : request.outputs) {
    if (std::ranges::find(outputs_, wanted.name, &PortInfo::name) != outputs_.end()) continue;
    throw UsageError("the model has no output '" + wanted.name + "'; it has " + names_of(outputs_));
  }
  if (input_items_.empty()) return pending;
  pending.items = pending.shapes[0][input_items_[0]];
  if (pending.items > max_batch_) {
    throw UsageError(fmt::format("the request has {} items; a batch has {} at most (--max-batch)",
                                 pending.items, max_batch_));
  }
  for (std::size_t i = 0; i < pending.shapes.size(); ++i) {
    std::int64_t& items = pending.shapes[i][input_items_[i]];
    if (items != pending.items) {
      throw UsageError(fmt::format("input '{}' has {} items, and '{}' has {}", inputs_[i].name,
                                   items, inputs_[0].name, pending.items));
    }
    items = 1;
  }
  return pending;
}

void ServedModel::infer(const InferRequest& request, Clock::time_point arrived,
                        std::function<void(Outcome)> done) {
  Pending pending;
  try {
    pending = placed(request);
  } catch (const UsageError& error) {
    return done(Refusal{Refusal::Why::wrong, error.what()});
  } catch (const std::exception& error) {
    return done(Refusal{Refusal::Why::failed, error.what()});
  }
  pending.arrived = arrived;
  if (request.timeout_us)
    pending.deadline = arrived + std::chrono::microseconds(*request.timeout_us);
  pending.done = std::move(done);
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
