// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "limits/memory_budget.hpp"
#include "service/service.hpp"

namespace morton::serve {

/// Where and how gRPC is served.
struct GrpcOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8001;     ///< 0: any free one
  std::string token;             ///< that calls must bear; empty: none
  std::string certificate, key;  ///< PEM files of TLS; empty: without
  std::int64_t max_request_bytes = std::int64_t{64} << 20;
  std::size_t max_calls = 1024;  ///< at a time
  std::chrono::seconds read_timeout{
      30};  ///< for a message, and a second for each 64 KiB that it may have
};

/// Serves inference.GRPCInferenceService of the Open Inference Protocol from gRPC's few threads:
/// none of them waits for a client or a model.
class GrpcServer {
 public:
  /// Listens. Throws UsageError where it cannot, or where the server is built without gRPC.
  /// `service` and `budget` live longer.
  GrpcServer(const GrpcOptions& options, Service& service, MemoryBudget& budget);
  /// Ends calls that are still open, when they are answered.
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  /// The port that it listens on.
  [[nodiscard]] std::uint16_t port() const;
  /// Calls that are open.
  [[nodiscard]] std::size_t calls() const;
  /// Refuses further calls, and listens no more when those that are open are answered. What is open
  /// after `most` is cancelled. Returns at once.
  void begin_draining(std::chrono::seconds most);
  /// Waits until no call is open, or the time for draining is over.
  void wait_drained();

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace morton::serve
