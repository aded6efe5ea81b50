// SPDX-License-Identifier: Apache-2.0
#include "models/worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <morton/error.hpp>
#include <utility>

#include "models/batching.hpp"

namespace morton::serve {
namespace {

/// Sessions at other shapes than those that are made when the model is loaded; of these the one
/// that was not used for longest goes.
constexpr std::ptrdiff_t kMostOtherSessions = 16;

/// A run that takes fewer seconds may keep a thread from other clients so long.
constexpr double kMostInCaller = 1e-3;

/// Where requests met, so many further ones go to the worker's thread, where they share batches.
constexpr int kSharedFor = 100;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

Worker::Worker(const ModelPorts& ports, RequestQueue& queue, const Model& model,
               const Device& device, const CompileOptions& options)
    : ports_(ports),
      queue_(queue),
      model_(compile(model, device, options)),
      times_(ports.max_batch) {
  if (ports_.input_items.empty()) return;
  std::vector<Shape> shapes;
  for (const PortInfo& port : model_.inputs()) shapes.push_back(port.shape);
  for (std::int64_t size = 1;; size = batch_size_for(size + 1, ports_.max_batch)) {
    for (std::size_t i = 0; i < shapes.size(); ++i) shapes[i][ports_.input_items[i]] = size;
    make_session(shapes, Life::lasting);
    if (ports_.max_batch > 1) measure(shapes, size);
    if (size == ports_.max_batch) break;
  }
}

void Worker::work() {
  for (;;) {
    std::vector<Pending> batch =
        queue_.take([&](std::int64_t waiting) { return times_.items_for(waiting); });
    if (batch.empty()) return;
    const std::lock_guard lock(computing_);
    carry_out(batch);
  }
}

bool Worker::compute_at_once(Pending& request) {
  const std::unique_lock lock(computing_, std::try_to_lock);
  if (!lock || !queue_.is_idle()) {
    shared_for_ = kSharedFor;
    return false;
  }
  if (shared_for_ > 0) --shared_for_;
  if (shared_for_ > 0 || !is_short(request)) return false;
  std::vector<Pending> batch;
  batch.push_back(std::move(request));
  carry_out(batch);
  return true;
}

bool Worker::is_short(const Pending& request) const {
  const bool is_late = request.deadline && *request.deadline <= Clock::now();
  if (is_late || ports_.input_items.empty()) return false;  // the queue tells it, or times differ
  const std::int64_t size = batch_size_for(request.items, ports_.max_batch);
  std::vector<Shape> shapes = request.shapes;
  for (std::size_t i = 0; i < shapes.size(); ++i) shapes[i][ports_.input_items[i]] = size;
  // Other shapes may have to be planned and built, and take other times.
  const auto is_of = [&](const Kept& one) {
    return one.life == Life::lasting && one.shapes == shapes;
  };
  return std::ranges::any_of(sessions_, is_of) && times_.of(size) <= kMostInCaller;
}

void Worker::carry_out(std::vector<Pending>& batch) {
  const Clock::time_point begun = Clock::now();
  try {
    std::int64_t items = 0;
    for (const Pending& one : batch) items += one.items;
    const bool has_items = !ports_.input_items.empty();
    const std::int64_t size = batch_size_for(items, ports_.max_batch);
    const std::vector<Tensor> inputs =
        has_items ? joined_inputs(batch, ports_.input_items, size) : batch.front().inputs;
    std::vector<Shape> shapes;
    std::vector<NamedTensor> named;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      shapes.push_back(inputs[i].shape());
      named.push_back({ports_.inputs[i].name, inputs[i]});
    }
    Kept& kept = session_for(shapes);
    const Clock::time_point joined = Clock::now();
    const std::vector<NamedTensor> outputs = kept.session.run(named);
    const Clock::time_point computed = Clock::now();
    if (has_items) {
      require_items(outputs, size);
      // Other extents take other times.
      if (kept.life == Life::lasting) times_.add(size, seconds_between(joined, computed));
    }
    std::int64_t first = 0;
    for (Pending& one : batch) {
      Answered answer;
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        answer.outputs.push_back(
            {outputs[i].name,
             has_items ? items_of(outputs[i].tensor, ports_.output_items[i], first, one.items)
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

void Worker::measure(const std::vector<Shape>& shapes, std::int64_t size) {
  std::vector<NamedTensor> zeros;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    zeros.push_back({ports_.inputs[i].name, Tensor::allocate(ports_.inputs[i].dtype, shapes[i])});
  }
  Session& session = session_for(shapes).session;
  try {
    static_cast<void>(session.run(zeros));  // its memory is new
    const Clock::time_point begun = Clock::now();
    static_cast<void>(session.run(zeros));
    times_.add(size, seconds_between(begun, Clock::now()));
  } catch (const UsageError&) {
    return;  // the model does not take zeros: requests tell how long it takes
  }
}

void Worker::require_items(const std::vector<NamedTensor>& outputs, std::int64_t items) const {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Shape& shape = outputs[i].tensor.shape();
    const std::size_t dimension = ports_.output_items.at(i);
    if (dimension < shape.size() && shape[dimension] == items) continue;
    throw UnsupportedError(fmt::format("output '{}' has the shape {} for a batch of {}",
                                       outputs[i].name, text_of(shape), items));
  }
}

void Worker::refuse(std::vector<Pending>& batch, Refusal::Why why, const std::string& text) {
  for (Pending& one : batch) {
    if (one.done) std::exchange(one.done, nullptr)(Refusal{why, text});
  }
}

Worker::Kept& Worker::session_for(const std::vector<Shape>& shapes) {
  const auto found = std::ranges::find(sessions_, shapes, &Kept::shapes);
  if (found != sessions_.end()) {
    sessions_.splice(sessions_.begin(), sessions_, found);
    return sessions_.front();
  }
  make_session(shapes, Life::passing);
  if (std::ranges::count(sessions_, Life::passing, &Kept::life) > kMostOtherSessions) {
    const auto oldest = std::find_if(sessions_.rbegin(), sessions_.rend(),
                                     [](const Kept& one) { return one.life == Life::passing; });
    sessions_.erase(std::prev(oldest.base()));
  }
  return sessions_.front();
}

void Worker::make_session(const std::vector<Shape>& shapes, Life life) {
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

}  // namespace morton::serve
