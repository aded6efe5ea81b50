// SPDX-License-Identifier: Apache-2.0
#include "http/http_server.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
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

constexpr int kBacklog = 512;

/// Processes that build kernels must not hold it.
void close_on_exec(int file) { ::fcntl(file, F_SETFD, FD_CLOEXEC); }

/// An acceptor of either kind of address.
GenericAcceptor listening(const asio::any_io_executor& context,
                          const asio::generic::stream_protocol::endpoint& at,
                          const std::string& what) {
  GenericAcceptor acceptor(context);
  beast::error_code error;
  acceptor.open(at.protocol(), error);
  if (!error) close_on_exec(acceptor.native_handle());
  if (!error && at.protocol().family() != AF_UNIX) {
    acceptor.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (!error) acceptor.bind(at, error);
  if (!error) acceptor.listen(kBacklog, error);
  if (error) throw UsageError(what + ": cannot listen: " + error.message());
  return acceptor;
}

/// The client's address; empty where it has gone.
std::string address_of(const PlainStream& socket) {
  beast::error_code error;
  const auto end = socket.remote_endpoint(error);
  asio::ip::tcp::endpoint tcp;
  if (error || end.size() > tcp.capacity()) return "";
  std::memcpy(tcp.data(), end.data(), end.size());
  tcp.resize(end.size());
  return tcp.address().to_string();
}

/// So long idle connections stay when the server stops: a proxy asks for its health twice
/// meanwhile.
constexpr std::chrono::milliseconds kIdleStays{1500};

/// So often the server looks for connections that wait for too long.
constexpr std::chrono::milliseconds kLooksEach{250};

/// As many open files as the system allows: each connection is one.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

struct HttpServer::Inside {
  HttpOptions options;
  HttpHandler handler;
  RefusalListener refused;
  MemoryBudget& budget;
  std::atomic<std::size_t> open{0};
  std::atomic<bool> draining{false};
  ConnectionContext context{options, handler, refused, budget, open, draining};
  asio::io_context io;                // behind what connections use, which end with it
  Strand own{asio::make_strand(io)};  ///< of the acceptors
  std::unique_ptr<asio::ssl::context> tls;
  std::list<GenericAcceptor> acceptors;
  std::uint16_t port = 0;
  struct Connections {
    std::mutex mutex;
    std::list<std::weak_ptr<AnyConnection>> all;
    bool are_watched = false;
  } connections;
  struct Draining {
    std::function<void()> told;
    std::chrono::seconds most{0};
  } at_end;

  Inside(HttpOptions wanted, MemoryBudget& shared, HttpHandler answers, RefusalListener listener)
      : options(std::move(wanted)),
        handler(std::move(answers)),
        refused(std::move(listener)),
        budget(shared),
        io(std::max(1, options.threads)) {
    raise_file_limit();
    if (!options.certificate.empty()) open_tls();
    if (options.over_tcp) {
      beast::error_code error;
      const auto address = asio::ip::make_address(options.address, error);
      if (error) throw UsageError("'" + options.address + "' is no address");
      acceptors.push_back(listening(own, asio::ip::tcp::endpoint(address, options.port),
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
    const mode_t before = ::umask(0117);
    acceptors.push_back(listening(own, at, options.unix_socket));
    ::umask(before);
  }

  void accept(GenericAcceptor& acceptor) {
    acceptor.async_accept(
        asio::make_strand(io), [this, &acceptor](beast::error_code error, PlainStream socket) {
          if (draining || error == asio::error::operation_aborted) return;
          if (!error) {
            serve(std::move(socket));
            return accept(acceptor);
          }
          // Out of files, most likely: those that are open have to end first.
          auto timer = std::make_shared<asio::steady_timer>(own, std::chrono::milliseconds(100));
          timer->async_wait([this, timer, &acceptor](beast::error_code) {
            if (!draining) accept(acceptor);
          });
        });
  }

  void serve(PlainStream socket) {
    if (open >= options.max_connections) return;  // the socket closes
    close_on_exec(socket.native_handle());
    beast::error_code ignored;
    const bool is_unix = socket.local_endpoint(ignored).protocol().family() == AF_UNIX;
    const std::string client = is_unix ? "unix" : address_of(socket);
    if (client.empty()) return;
    if (!is_unix) socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    if (tls != nullptr && !is_unix) {
      begin(std::make_shared<Connection<TlsStream>>(context, client, std::move(socket), *tls));
    } else {
      begin(std::make_shared<Connection<PlainStream>>(context, client, std::move(socket)));
    }
  }

  template <typename One>
  void begin(const std::shared_ptr<One>& connection) {
    {
      const std::lock_guard lock(connections.mutex);
      connections.all.push_back(connection);
      if (!std::exchange(connections.are_watched, true)) watch();
    }
    asio::dispatch(connection->executor(), [connection] { connection->start(); });
  }

  /// Looks at all connections' deadlines, again and again while there are connections.
  void watch() {
    auto timer = std::make_shared<asio::steady_timer>(own, kLooksEach);
    timer->async_wait([this, timer](beast::error_code) {
      const Clock::time_point now = Clock::now();
      const std::lock_guard lock(connections.mutex);
      std::erase_if(connections.all, [now](const auto& weak) {
        const auto one = weak.lock();
        if (one != nullptr) one->close_if_late(now);
        return one == nullptr;
      });
      connections.are_watched = !connections.all.empty();
      if (connections.are_watched) watch();
    });
  }

  /// Closes what is idle, again and again until nothing is open or the time is over. A proxy may be
  /// sending a request on an idle connection, until it has seen that the server is not ready.
  void drain() {
    if (draining.exchange(true)) return;
    if (at_end.told) at_end.told();
    for (GenericAcceptor& acceptor : acceptors) acceptor.close();
    if (!options.unix_socket.empty()) ::unlink(options.unix_socket.c_str());
    const Clock::time_point now = Clock::now();
    wait_for_end(now + std::min<Clock::duration>(kIdleStays, at_end.most), now + at_end.most);
  }

  void wait_for_end(Clock::time_point idle_until, Clock::time_point until) {
    if (Clock::now() >= idle_until) {
      const std::lock_guard lock(connections.mutex);
      for (const auto& weak : connections.all) {
        if (const auto one = weak.lock()) one->close_soon();
      }
    }
    if (open == 0 || Clock::now() >= until) {
      io.stop();
      return;
    }
    auto timer = std::make_shared<asio::steady_timer>(own, std::chrono::milliseconds(20));
    timer->async_wait(
        [this, timer, idle_until, until](beast::error_code) { wait_for_end(idle_until, until); });
  }
};

HttpServer::HttpServer(HttpOptions options, MemoryBudget& budget, HttpHandler handler,
                       RefusalListener refused)
    : inside_(std::make_unique<Inside>(std::move(options), budget, std::move(handler),
                                       std::move(refused))) {}

HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const { return inside_->port; }

void HttpServer::run(std::chrono::seconds most, const std::function<void()>& draining) {
  inside_->at_end.most = most;
  inside_->at_end.told = draining;
  std::signal(SIGPIPE, SIG_IGN);
  asio::signal_set signals(inside_->own, SIGTERM, SIGINT);
  signals.async_wait([this](beast::error_code error, int) {
    if (!error) inside_->drain();
  });
  const auto work = [this] {
    for (;;) {
      try {
        inside_->io.run();
        return;
      } catch (const std::exception& error) {  // one connection's affair
        std::fprintf(stderr, "morton serve: %s\n", error.what());
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < inside_->options.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

std::size_t HttpServer::connections() const { return inside_->open; }

}  // namespace morton::serve
