// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "http/exchange.hpp"

namespace morton::serve {

/// Where and how HTTP is served.
struct HttpOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8000;  ///< 0: any free one
  std::string unix_socket;    ///< a path; empty: none
  bool over_tcp = true;
  int threads = 2;
  std::string token;             ///< that requests must bear; empty: none
  std::string certificate, key;  ///< PEM files of TLS; empty: without
  std::int64_t max_request_bytes = std::int64_t{64} << 20;
  std::size_t max_connections = 1024;
  std::chrono::seconds read_timeout{30};  ///< for a body or a reply, and a second for each 64 KiB
  std::chrono::seconds idle_timeout{75};  ///< until a request's header is there
};

/// Serves HTTP/1.1 to many connections from few threads: none of them waits for a client.
class HttpServer {
 public:
  /// Listens. Throws UsageError where it cannot. `handler` throws nothing. `budget` is that of
  /// requests and replies, and lives longer.
  HttpServer(HttpOptions options, MemoryBudget& budget, HttpHandler handler,
             RefusalListener refused);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// The port that it listens on.
  [[nodiscard]] std::uint16_t port() const;
  /// Serves until SIGTERM or SIGINT; then takes no connection more, answers what it has read, and
  /// returns after `most` at the latest. `draining` is called when that begins.
  void run(std::chrono::seconds most, const std::function<void()>& draining);
  /// Connections that are open.
  [[nodiscard]] std::size_t connections() const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace morton::serve
