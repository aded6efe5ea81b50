// SPDX-License-Identifier: Apache-2.0
#include "service/service.hpp"

#include <exception>
#include <morton/error.hpp>
#include <system_error>
#include <utility>

namespace morton::serve {

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

void Service::wait_changes() {
  if (changing_.joinable()) changing_.join();
}

std::optional<Refusal> Service::find(Inference& inference) const {
  auto found = repository_.find(inference.name, inference.version);
  if (auto* refusal = std::get_if<Refusal>(&found)) return std::move(*refusal);
  inference.model = std::get<std::shared_ptr<ServedModel>>(std::move(found));
  return std::nullopt;
}

void Service::infer(const std::shared_ptr<Inference>& inference,
                    std::function<void(Outcome)> done) {
  inference->model->infer(inference->request, inference->arrived,
                          [this, inference, done = std::move(done)](Outcome outcome) {
                            const auto* refusal = std::get_if<Refusal>(&outcome);
                            const bool gone =
                                refusal != nullptr && refusal->why == Refusal::Why::gone;
                            if (!gone || std::exchange(inference->is_again, true))
                              return done(std::move(outcome));
                            // Another one may have taken its place.
                            if (auto none = find(*inference)) return done(std::move(*none));
                            infer(inference, done);
                          });
}

void Service::count(const Inference& inference, const Outcome& outcome) {
  if (!inference.model) return;  // others would add a name for each request
  ModelMetrics& metrics = metrics_.of(inference.model->name());
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    metrics.refused(refusal->why);
  } else {
    metrics.answered(std::get<Answered>(outcome).times, seconds_since(inference.arrived));
  }
}

void Service::change(const std::string& name, RepositoryChange change,
                     std::function<void(std::optional<Refusal>)> done) {
  const auto carry_out = [this, name, change, done] {
    auto refusal =
        change == RepositoryChange::load ? repository_.load(name) : repository_.unload(name);
    {
      const std::lock_guard lock(mutex_);
      is_changing_ = false;
    }
    done(std::move(refusal));
  };
  std::string why = "another model is being loaded or unloaded";
  {
    const std::lock_guard lock(mutex_);
    if (!is_changing_) {
      if (changing_.joinable()) changing_.join();
      try {
        changing_ = std::thread(carry_out);
        is_changing_ = true;
        return;
      } catch (const std::system_error& error) {
        why = error.what();
      }
    }
  }
  done(Refusal{Refusal::Why::busy, why});
}

std::vector<ModelState> Service::index(Listed listed) const {
  std::vector<ModelState> states = repository_.index();
  if (listed == Listed::ready) {
    std::erase_if(states, [](const auto& one) { return one.state != ModelState::State::ready; });
  }
  return states;
}

std::optional<Refusal> failure_of(Refusal::Why of_errors, const std::function<void()>& call) {
  try {
    call();
    return std::nullopt;
  } catch (const Error& error) {
    return Refusal{of_errors, error.what()};
  } catch (const MemoryShort& error) {
    return Refusal{Refusal::Why::memory, error.what()};
  } catch (const std::exception& error) {
    return Refusal{Refusal::Why::failed, error.what()};
  }
}

const char* name_of(ModelState::State state) {
  switch (state) {
    case ModelState::State::loading:
      return "LOADING";
    case ModelState::State::ready:
      return "READY";
    case ModelState::State::unavailable:
      break;
  }
  return "UNAVAILABLE";
}

void put_times(AccessRecord& record, const Outcome& outcome) {
  const auto* answer = std::get_if<Answered>(&outcome);
  if (answer == nullptr) return;
  record.batch = answer->times.batch;
  record.queue_ms = 1e3 * answer->times.queue;
  record.compute_ms = 1e3 * answer->times.compute;
}

}  // namespace morton::serve
