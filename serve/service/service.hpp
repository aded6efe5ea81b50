// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/access_log.hpp"
#include "common/metrics.hpp"
#include "models/repository.hpp"
#include "protocol/infer_message.hpp"

namespace morton::serve {

/// An inference on its way.
struct Inference {
  std::string name, version;  ///< as the client names them; any version where it is empty
  Clock::time_point arrived;
  std::shared_ptr<ServedModel> model;
  InferRequest request;
  bool is_again = false;  ///< the model that was found first had gone
};

[[nodiscard]] double seconds_since(Clock::time_point begun);

/// What clients can ask, whatever protocol carries it. Threads may share it.
class Service {
 public:
  Service(ModelRepository& repository, Metrics& metrics, AccessLog& log)
      : repository_(repository), metrics_(metrics), log_(log) {}
  ~Service() { wait_changes(); }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Finds the inference's model; or says why there is none.
  [[nodiscard]] std::optional<Refusal> find(Inference& inference) const;
  /// Computes an inference whose model was found; `done` is called once, by any thread, perhaps
  /// before this returns.
  void infer(const std::shared_ptr<Inference>& inference, std::function<void(Outcome)> done);
  /// Counts what came of it, for metrics.
  void count(const Inference& inference, const Outcome& outcome);

  /// Loads or unloads a model in a thread of its own, one at a time. `done` is called once, with
  /// why it failed.
  void change(const std::string& name, RepositoryChange change,
              std::function<void(std::optional<Refusal>)> done);
  /// Waits for the model that is being loaded or unloaded. No change may be asked for meanwhile.
  void wait_changes();
  /// All models, or those that are ready.
  enum class Listed : std::uint8_t { all, ready };
  [[nodiscard]] std::vector<ModelState> index(Listed listed) const;

  /// Whether all models are served, and the server does not stop.
  [[nodiscard]] bool is_ready() const { return !draining_ && repository_.is_ready(); }
  /// From now on the server is not ready: it stops.
  void begin_draining() { draining_ = true; }
  [[nodiscard]] AccessLog& log() { return log_; }
  [[nodiscard]] const Metrics& metrics() const { return metrics_; }

 private:
  ModelRepository& repository_;
  Metrics& metrics_;
  AccessLog& log_;
  std::atomic<bool> draining_{false};
  std::mutex mutex_;
  bool is_changing_ = false;
  std::thread changing_;  ///< loads or unloads a model
};

/// What `call` throws, as what a client is told: errors of Morton as `of_errors`, MemoryShort as
/// memory, anything else as failed.
[[nodiscard]] std::optional<Refusal> failure_of(Refusal::Why of_errors,
                                                const std::function<void()>& call);

/// "READY", as the protocol calls it.
[[nodiscard]] const char* name_of(ModelState::State state);

/// What the log says of an answer, beside the request.
void put_times(AccessRecord& record, const Outcome& outcome);

}  // namespace morton::serve
