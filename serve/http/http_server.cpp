// SPDX-License-Identifier: Apache-2.0
#include "http/http_server.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <list>
#include <morton/error.hpp>
#include <mutex>
#include <thread>
#include <vector>

#include "http/connection.hpp"

namespace morton::serve {
namespace {

using GenericAcceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;
using GenericSocket = asio::generic::stream_protocol::socket;

constexpr int kBacklog = 512;

/// An acceptor of either kind of address.
GenericAcceptor listening(asio::io_context& context,
                          const asio::generic::stream_protocol::endpoint& at,
                          const std::string& what) {
  GenericAcceptor acceptor(context);
  beast::error_code error;
  acceptor.open(at.protocol(), error);
  if (!error && at.protocol().family() != AF_UNIX) {
    acceptor.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (!error) acceptor.bind(at, error);
  if (!error) acceptor.listen(kBacklog, error);
  if (error) throw UsageError(what + ": cannot listen: " + error.message());
  return acceptor;
}

/// The client's address, of TCP.
std::string client_of(const GenericSocket& socket) {
  beast::error_code error;
  const auto end = socket.remote_endpoint(error);
  if (error || end.protocol().family() == AF_UNIX) return "unix";
  asio::ip::tcp::endpoint tcp;
  if (end.size() > tcp.capacity()) return "?";
  std::memcpy(tcp.data(), end.data(), end.size());
  tcp.resize(end.size());
  return tcp.address().to_string();
}

}  // namespace

struct HttpServer::Inside {
  HttpOptions options;
  HttpHandler handler;
  MemoryBudget budget;
  std::atomic<std::size_t> open{0};
  std::atomic<bool> draining{false};
  ConnectionContext context{options, handler, budget, open, draining};
  asio::io_context io;  // behind what connections use, which end with it
  std::unique_ptr<asio::ssl::context> tls;
  std::list<GenericAcceptor> acceptors;
  std::uint16_t port = 0;
  std::mutex mutex;
  std::list<std::weak_ptr<AnyConnection>> connections;
  std::function<void()> told;
  std::chrono::seconds most{0};

  Inside(HttpOptions wanted, HttpHandler answers)
      : options(std::move(wanted)),
        handler(std::move(answers)),
        budget(options.max_memory_bytes),
        io(std::max(1, options.threads)) {
    if (!options.certificate.empty()) open_tls();
    if (options.over_tcp) {
      beast::error_code error;
      const auto address = asio::ip::make_address(options.address, error);
      if (error) throw UsageError("'" + options.address + "' is no address");
      acceptors.push_back(listening(io, asio::ip::tcp::endpoint(address, options.port),
                                    options.address + ":" + std::to_string(options.port)));
      asio::ip::tcp::endpoint tcp;
      const auto end = acceptors.back().local_endpoint();
      std::memcpy(tcp.data(), end.data(), end.size());
      port = tcp.port();
    }
    if (!options.unix_socket.empty()) open_unix();
    if (acceptors.empty()) throw UsageError("no port and no socket is given to listen on");
    for (GenericAcceptor& acceptor : acceptors) accept(acceptor);
  }

  void open_tls() {
    tls = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
    tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                     asio::ssl::context::no_tlsv1_1);
    beast::error_code error;
    tls->use_certificate_chain_file(options.certificate, error);
    if (error) throw UsageError(options.certificate + ": no certificate: " + error.message());
    tls->use_private_key_file(options.key, asio::ssl::context::pem, error);
    if (error) throw UsageError(options.key + ": not the certificate's key: " + error.message());
  }

  /// A socket that a server before left behind is removed; one that answers is not.
  void open_unix() {
    const asio::local::stream_protocol::endpoint at(options.unix_socket);
    struct stat facts {};
    if (::lstat(options.unix_socket.c_str(), &facts) == 0) {
      if (!S_ISSOCK(facts.st_mode))
        throw UsageError(options.unix_socket + " exists and is no socket");
      asio::local::stream_protocol::socket probe(io);
      beast::error_code error;
      probe.connect(at, error);
      if (!error) throw UsageError(options.unix_socket + ": another process serves there");
      ::unlink(options.unix_socket.c_str());
    }
    acceptors.push_back(listening(io, at, options.unix_socket));
    ::chmod(options.unix_socket.c_str(), 0660);
  }

  void accept(GenericAcceptor& acceptor) {
    acceptor.async_accept(asio::make_strand(io),
                          [this, &acceptor](beast::error_code error, GenericSocket socket) {
                            if (error == asio::error::operation_aborted) return;
                            // Out of files: those that are open have to end first.
                            if (!error) serve(std::move(socket));
                            if (!draining) accept(acceptor);
                          });
  }

  void serve(GenericSocket socket) {
    if (open >= options.max_connections) return;  // the socket closes
    const std::string client = client_of(socket);
    if (client != "unix") {
      beast::error_code ignored;
      socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    }
    if (tls != nullptr && client != "unix") {
      begin(std::make_shared<Connection<TlsStream>>(context, client, PlainStream(std::move(socket)),
                                                    *tls));
    } else {
      begin(std::make_shared<Connection<PlainStream>>(context, client, std::move(socket)));
    }
  }

  template <typename One>
  void begin(const std::shared_ptr<One>& connection) {
    {
      const std::lock_guard lock(mutex);
      std::erase_if(connections, [](const auto& one) { return one.expired(); });
      connections.push_back(connection);
    }
    asio::dispatch(connection->executor(), [connection] { connection->start(); });
  }

  /// Closes what is idle, again and again until nothing is open or the time is over.
  void drain() {
    if (draining.exchange(true)) return;
    if (told) told();
    for (GenericAcceptor& acceptor : acceptors) acceptor.close();
    wait_for_end(Clock::now() + most);
  }

  void wait_for_end(Clock::time_point until) {
    {
      const std::lock_guard lock(mutex);
      for (const auto& weak : connections) {
        if (const auto one = weak.lock()) one->close_soon();
      }
    }
    if (open == 0 || Clock::now() >= until) {
      io.stop();
      return;
    }
    auto timer = std::make_shared<asio::steady_timer>(io, std::chrono::milliseconds(20));
    timer->async_wait([this, timer, until](beast::error_code) { wait_for_end(until); });
  }
};

HttpServer::HttpServer(HttpOptions options, HttpHandler handler)
    : inside_(std::make_unique<Inside>(std::move(options), std::move(handler))) {}

HttpServer::~HttpServer() {
  if (!inside_->options.unix_socket.empty()) ::unlink(inside_->options.unix_socket.c_str());
}

std::uint16_t HttpServer::port() const { return inside_->port; }

void HttpServer::run(std::chrono::seconds most, const std::function<void()>& draining) {
  inside_->most = most;
  inside_->told = draining;
  std::signal(SIGPIPE, SIG_IGN);
  asio::signal_set signals(inside_->io, SIGTERM, SIGINT);
  signals.async_wait([this](beast::error_code error, int) {
    if (!error) inside_->drain();
  });
  std::vector<std::thread> threads;
  for (int i = 1; i < inside_->options.threads; ++i) {
    threads.emplace_back([this] { inside_->io.run(); });
  }
  inside_->io.run();
  for (std::thread& thread : threads) thread.join();
}

void HttpServer::stop() {
  asio::post(inside_->io, [this] { inside_->drain(); });
}

std::size_t HttpServer::connections() const { return inside_->open; }

std::size_t HttpReply::bytes() const {
  std::size_t bytes = text.size();
  for (const Tensor& binary : binaries) bytes += binary.bytes();
  return bytes;
}

const char* reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 411:
      return "Length Required";
    case 413:
      return "Payload Too Large";
    case 415:
      return "Unsupported Media Type";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Unknown";
  }
}

}  // namespace morton::serve
