// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <charconv>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "http/exchange.hpp"
#include "http/http_server.hpp"
#include "limits/bearer.hpp"
#include "limits/memory_budget.hpp"

namespace morton::serve {

namespace asio = boost::asio;
namespace beast = boost::beast;

/// What serialises a connection's handlers.
using Strand = asio::strand<asio::io_context::executor_type>;
/// A stream of a TCP or unix socket.
using PlainStream = asio::basic_stream_socket<asio::generic::stream_protocol, Strand>;
using TlsStream = beast::ssl_stream<PlainStream>;

/// What the connections of a server share.
struct ConnectionContext {
  const HttpOptions& options;
  const HttpHandler& handler;
  const RefusalListener& refused;
  MemoryBudget& budget;
  std::atomic<std::size_t>& open;  ///< connections
  const std::atomic<bool>& draining;
};

/// What can be asked of any connection.
class AnyConnection {
 public:
  virtual ~AnyConnection() = default;
  /// Closes it if it waits for a request to begin. May be called by any thread.
  virtual void close_soon() = 0;
  /// Closes it if what it waits for should have come before `now`. May be called by any thread.
  virtual void close_if_late(Clock::time_point now) = 0;
};

/// One client's connection: reads a request, has it answered, writes the reply, and again. It keeps
/// itself alive while it waits for any of that.
template <typename Stream>
class Connection final : public AnyConnection,
                         public std::enable_shared_from_this<Connection<Stream>> {
 public:
  static constexpr bool kIsTls = std::is_same_v<Stream, TlsStream>;

  template <typename... Arguments>
  Connection(const ConnectionContext& context, std::string client, Arguments&&... arguments)
      : context_(context),
        client_(std::move(client)),
        stream_(std::forward<Arguments>(arguments)...) {
    ++context_.open;
  }
  ~Connection() override {
    free_body();
    --context_.open;
  }

  void start() {
    if constexpr (kIsTls) {
      expires_after(context_.options.read_timeout);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](beast::error_code error) {
                                if (!error) self->read_header();
                              });
    } else {
      read_header();
    }
  }

  void close_soon() override {
    asio::post(executor(), [self = this->shared_from_this()] {
      beast::error_code ignored;
      if (self->idle_) beast::get_lowest_layer(self->stream_).cancel(ignored);
    });
  }

  void close_if_late(Clock::time_point now) override {
    if (deadline_.load() > now) return;
    asio::post(executor(), [self = this->shared_from_this(), now] {
      beast::error_code ignored;
      if (self->deadline_.load() <= now) beast::get_lowest_layer(self->stream_).close(ignored);
    });
  }
  [[nodiscard]] auto executor() { return beast::get_lowest_layer(stream_).get_executor(); }

 private:
  using Parser = beast::http::request_parser<beast::http::buffer_body>;
  static constexpr std::size_t kMostHeaderBytes = 16384;

  void read_header() {
    parser_.emplace();
    parser_->header_limit(kMostHeaderBytes);
    parser_->body_limit(boost::none);  // looked at below, with a reply
    idle_ = buffer_.size() == 0;
    expires_after(idle_ ? context_.options.idle_timeout : context_.options.read_timeout);
    beast::http::async_read_header(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](beast::error_code error, std::size_t) {
          self->take_header(error);
        });
  }

  void take_header(beast::error_code error) {
    idle_ = false;
    if (error == beast::http::error::end_of_stream) return close();
    if (error == beast::http::error::partial_message) return;  // it has gone
    if (error.category() ==
        beast::http::make_error_code(beast::http::error::bad_method).category()) {
      request_ = {"", "", client_, {}, {}, {}, Clock::now()};
      return refuse(error == beast::http::error::header_limit ? 431 : 400,
                    "the request is no HTTP: " + error.message());
    }
    if (error) return;  // the client has gone, or took too long
    const auto& header = parser_->get();
    request_ = {std::string(header.method_string()),
                std::string(header.target()),
                client_,
                {},
                {},
                std::make_shared<HeldMemory>(context_.budget),
                Clock::now()};
    request_.path.resize(std::min(request_.path.size(), request_.path.find('?')));
    keep_alive_ = header.keep_alive() && !context_.draining;
    is_old_ = header.version() < 11;
    is_head_ = header.method() == beast::http::verb::head;
    if (!is_allowed(header)) return refuse(401, "a token is needed: Authorization: Bearer ...");
    if (header.count(beast::http::field::content_encoding) > 0) {
      return refuse(415, "Content-Encoding is not taken");
    }
    if (header.count(beast::http::field::transfer_encoding) > 0) {
      return refuse(411, "Transfer-Encoding is not taken: a Content-Length is needed");
    }
    if (const auto found = header.find("Inference-Header-Content-Length"); found != header.end()) {
      std::size_t bytes = 0;
      const std::string_view text(found->value().data(), found->value().size());
      const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), bytes);
      if (problem != std::errc() || end != text.data() + text.size()) {
        return refuse(400, "Inference-Header-Content-Length: expected a number");
      }
      request_.json_bytes = bytes;
    }
    const std::uint64_t bytes = parser_->content_length().value_or(0);
    if (bytes > static_cast<std::uint64_t>(context_.options.max_request_bytes)) {
      return refuse(413, fmt::format("the body has {} bytes; {} may be sent (--max-request)", bytes,
                                     context_.options.max_request_bytes));
    }
    const auto length = static_cast<std::int64_t>(bytes);
    held_ = request_.held;
    if (!held_->take(length)) return refuse(503, MemoryShort().what());
    if (length == 0) return answer();
    try {
      body_ = std::make_shared<RequestBody>(static_cast<std::size_t>(length));
    } catch (const std::bad_alloc&) {
      return refuse(503, "the server has no memory for the body");
    }
    expires_for(bytes);
    if (beast::iequals(header[beast::http::field::expect], "100-continue")) {
      static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      asio::async_write(stream_, asio::buffer(kContinue),
                        [self = this->shared_from_this()](beast::error_code problem, std::size_t) {
                          if (!problem) self->read_body();
                        });
      return;
    }
    read_body();
  }

  [[nodiscard]] bool is_allowed(const beast::http::fields& header) const {
    const std::string& token = context_.options.token;
    if (token.empty()) return true;
    // Load balancers ask for health without one.
    if (request_.path.starts_with("/v2/health/") && request_.method != "POST" &&
        parser_->content_length().value_or(0) == 0) {
      return true;
    }
    const auto given = header[beast::http::field::authorization];
    return bears({given.data(), given.size()}, token);
  }

  void read_body() {
    auto& body = parser_->get().body();
    body.data = body_->bytes().data();
    body.size = body_->bytes().size();
    beast::http::async_read(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](beast::error_code error, std::size_t) {
          if (error == beast::http::error::need_buffer) error = {};
          if (error) return;
          self->answer();
        });
  }

  void answer() {
    deadline_ = Clock::time_point::max();
    if (!body_) body_ = std::make_shared<RequestBody>(0);
    request_.body = std::move(body_);
    context_.handler(std::move(request_), [self = this->shared_from_this()](HttpReply reply) {
      // The caller may be a model's thread: the socket is its strand's alone.
      asio::dispatch(self->executor(),
                     [self, reply = std::move(reply)]() mutable { self->write(std::move(reply)); });
    });
  }

  /// Answers without reading the body: the connection ends.
  void refuse(int status, const std::string& why) {
    keep_alive_ = false;
    context_.refused(request_, status);
    HttpReply reply;
    reply.status = status;
    reply.text = error_json(why);
    if (status == 503) reply.retry_after_s = 1;
    write(std::move(reply));
  }

  void write(HttpReply reply) {
    reply_ = std::move(reply);
    head_ =
        fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n", reply_.status,
                    reason_of(reply_.status), reply_.content_type, reply_.bytes());
    if (!reply_.binaries.empty()) {
      head_ += fmt::format("Inference-Header-Content-Length: {}\r\n", reply_.text.size());
    }
    if (reply_.retry_after_s) head_ += fmt::format("Retry-After: {}\r\n", *reply_.retry_after_s);
    if (context_.draining) keep_alive_ = false;
    if (!keep_alive_) {
      head_ += "Connection: close\r\n";
    } else if (is_old_) {
      head_ += "Connection: keep-alive\r\n";
    }
    head_ += "\r\n";
    std::vector<asio::const_buffer> pieces{asio::buffer(head_)};
    if (!is_head_) {
      pieces.push_back(asio::buffer(reply_.text));
      for (const Tensor& binary : reply_.binaries) {
        pieces.emplace_back(binary.stored(), binary.bytes());
      }
    }
    expires_for(reply_.bytes());
    asio::async_write(stream_, pieces,
                      [self = this->shared_from_this()](beast::error_code error, std::size_t) {
                        self->reply_ = {};
                        self->free_body();
                        if (error) return;
                        if (self->keep_alive_) {
                          self->read_header();
                        } else {
                          self->close();
                        }
                      });
  }

  /// So many bytes take so long at most: a second more for each 64 KiB.
  void expires_for(std::uint64_t bytes) {
    const auto more = std::chrono::seconds(static_cast<std::int64_t>(bytes >> 16));
    expires_after(context_.options.read_timeout + more);
  }

  /// A timer for each step would cost two calls of the system: the server looks at all deadlines.
  void expires_after(std::chrono::seconds time) { deadline_ = Clock::now() + time; }

  void free_body() {
    body_.reset();
    if (const auto held = std::exchange(held_, nullptr)) held->release();
  }

  /// Says that nothing more is sent, and reads what the client still sends, so that it gets to read
  /// the reply.
  void close() {
    auto& lowest = beast::get_lowest_layer(stream_);
    beast::error_code ignored;
    lowest.shutdown(asio::socket_base::shutdown_send, ignored);
    expires_after(std::chrono::seconds(2));
    drop_rest();
  }

  void drop_rest() {
    beast::get_lowest_layer(stream_).async_read_some(
        asio::buffer(rest_),
        [self = this->shared_from_this()](beast::error_code error, std::size_t) {
          if (!error) self->drop_rest();
        });
  }

  const ConnectionContext& context_;
  const std::string client_;
  Stream stream_;
  std::atomic<Clock::time_point> deadline_{Clock::time_point::max()};
  beast::flat_static_buffer<kMostHeaderBytes + 4096> buffer_;
  std::optional<Parser> parser_;
  HttpRequest request_;
  std::shared_ptr<RequestBody> body_;
  std::shared_ptr<HeldMemory> held_;  ///< the request's
  HttpReply reply_;
  std::string head_;
  std::array<char, 4096> rest_{};
  bool keep_alive_ = false, idle_ = true, is_head_ = false, is_old_ = false;
};

}  // namespace morton::serve
