// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <morton/tensor.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace morton::serve {

using Clock = std::chrono::steady_clock;

/// Why a request has no answer.
struct Refusal {
  enum class Why : std::uint8_t {
    wrong,     ///< the request is at fault
    no_model,  ///< there is no such model or version
    late,      ///< its time was over before it was computed
    busy,      ///< the queue is full, or the server stops or loads the model
    memory,    ///< other requests take all memory that requests may
    gone,      ///< the model was unloaded, or loaded again, since it was found
    failed,    ///< the device, or Morton
  } why = Why::failed;
  std::string text;
};

/// How long the parts of a request took, in seconds.
struct RequestTimes {
  double queue = 0.0;      ///< until its batch began
  double input = 0.0;      ///< of its batch: inputs put together
  double compute = 0.0;    ///< of its batch: the run
  double output = 0.0;     ///< of its batch: outputs taken apart
  std::int64_t items = 0;  ///< of the request
  std::int64_t batch = 0;  ///< items of the batch
  bool is_first = false;   ///< of its batch
};

struct Answered {
  std::vector<NamedTensor> outputs;  ///< in the model's order
  RequestTimes times;
};

/// What comes of a request.
using Outcome = std::variant<Answered, Refusal>;

/// A request on its way through a model.
struct Pending {
  std::vector<Tensor> inputs;  ///< in the model's order
  std::int64_t items = 1;      ///< of the batch that it is
  std::vector<Shape>
      shapes;  ///< of the inputs, with 1 in place of `items`: those alike share a batch
  Clock::time_point arrived;
  std::optional<Clock::time_point> deadline;
  std::function<void(Outcome)> done;  ///< called once, by any thread
};

}  // namespace morton::serve
