// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <morton/compile.hpp>
#include <morton/device.hpp>
#include <morton/model.hpp>
#include <morton/session.hpp>
#include <mutex>
#include <string>
#include <vector>

#include "models/batch_times.hpp"
#include "models/placing.hpp"
#include "models/request_queue.hpp"

namespace morton::serve {

/// One device's sessions of a model, and what its thread does.
class Worker {
 public:
  /// Builds all kernels and makes the sessions of every size of batch. `ports` and `queue` live
  /// longer. Throws what compiling throws.
  Worker(const ModelPorts& ports, RequestQueue& queue, const Model& model, const Device& device,
         const CompileOptions& options);

  /// Computes what the queue gives, until it is closed.
  void work();
  /// Computes a request in the caller's thread, which spares two changes of threads, where nothing
  /// else is computed or waits and the run is known to be short. Else it does nothing.
  [[nodiscard]] bool compute_at_once(Pending& request);

 private:
  /// Sessions that are made when the model is loaded stay.
  enum class Life : std::uint8_t { lasting, passing };
  struct Kept {
    std::vector<Shape> shapes;
    Session session;
    Life life;
  };

  void carry_out(std::vector<Pending>& batch);
  /// Whether a request's run is known to be short, and it is not late. `computing_` is held.
  [[nodiscard]] bool is_short(const Pending& request) const;
  /// The proof that items do not meet says where they lie in the outputs: nobody gets another's.
  void require_items(const std::vector<NamedTensor>& outputs, std::int64_t items) const;
  static void refuse(std::vector<Pending>& batch, Refusal::Why why, const std::string& text);
  /// The session for inputs of these shapes. Throws what making it throws.
  Kept& session_for(const std::vector<Shape>& shapes);
  /// Computes zeros at these shapes, and notes how long a batch of that size takes.
  void measure(const std::vector<Shape>& shapes, std::int64_t size);
  /// Before the others.
  void make_session(const std::vector<Shape>& shapes, Life life);

  const ModelPorts& ports_;
  RequestQueue& queue_;
  CompiledModel model_;
  std::list<Kept> sessions_;  ///< those used last first
  BatchTimes times_;
  std::mutex computing_;            ///< held while a batch is computed
  std::atomic<int> shared_for_{0};  ///< requests that are not computed at once
};

}  // namespace morton::serve
