// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <morton/tensor.hpp>
#include <optional>
#include <string>
#include <vector>

#include "limits/memory_budget.hpp"
#include "models/request.hpp"
#include "protocol/infer_message.hpp"

namespace morton::serve {

/// What a client asked by HTTP.
struct HttpRequest {
  std::string method, path;               ///< the path without what follows a '?'
  std::string client;                     ///< its address, or "unix"
  std::optional<std::size_t> json_bytes;  ///< Inference-Header-Content-Length
  std::shared_ptr<const RequestBody> body;
  std::shared_ptr<HeldMemory> held;  ///< the body's bytes so far, until the reply is written
  Clock::time_point arrived;         ///< when its header was there
};

/// What it gets.
struct HttpReply {
  int status = 200;
  std::string content_type = "application/json";
  std::string text;
  std::vector<Tensor> binaries;  ///< bytes behind the text
  std::optional<int> retry_after_s;

  [[nodiscard]] std::size_t bytes() const;
};

/// Takes a request and calls back once, from any thread.
using HttpHandler = std::function<void(HttpRequest, std::function<void(HttpReply)>)>;

/// Told of a request that a connection refuses itself, and with which status.
using RefusalListener = std::function<void(const HttpRequest&, int)>;

/// "Not Found"
[[nodiscard]] const char* reason_of(int status);

}  // namespace morton::serve
