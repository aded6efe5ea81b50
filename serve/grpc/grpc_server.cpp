// SPDX-License-Identifier: Apache-2.0
#include "grpc/grpc_server.hpp"

#include <fmt/format.h>
#include <grpc/support/log.h>
#include <grpcpp/alarm.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <limits>
#include <morton/error.hpp>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "grpc/methods.hpp"
#include "limits/bearer.hpp"

namespace morton::serve {
namespace {

/// While the server stops, calls are refused until none has come for so long, or the greater time
/// is over.
constexpr std::chrono::milliseconds kQuietTime{100}, kMostTelling{2000};

/// What the calls of a server share.
struct CallContext {
  const GrpcOptions& options;
  GrpcMethods& methods;
  MemoryBudget& budget;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t open = 0;   ///< calls
  bool draining = false;  ///< calls are refused
  Clock::time_point last_call{};
};

/// "127.0.0.1" of "ipv4:127.0.0.1:45678"
std::string client_of(const std::string& peer) {
  const std::size_t first = peer.find(':');
  const std::size_t last = peer.rfind(':');
  if (first == std::string::npos || last <= first) return peer;
  std::string address = peer.substr(first + 1, last - first - 1);
  if (address.starts_with("%5B") && address.ends_with("%5D")) {
    address = address.substr(3, address.size() - 6);
  }
  return address;
}

/// Calls are cancelled whose message does not come, or whose reply is not taken. The alarm may ring
/// while its call ends.
class CallWatch {
 public:
  CallWatch(grpc::ServerContextBase* context, std::chrono::seconds most)
      : shared_(std::make_shared<Shared>()) {
    shared_->context = context;
    alarm_.Set(std::chrono::system_clock::now() + most, [shared = shared_](bool rang) {
      const std::lock_guard lock(shared->mutex);
      if (rang && shared->context != nullptr) shared->context->TryCancel();
    });
  }
  ~CallWatch() { end(); }
  CallWatch(const CallWatch&) = delete;
  CallWatch& operator=(const CallWatch&) = delete;

  void end() {
    const std::lock_guard lock(shared_->mutex);
    shared_->context = nullptr;
  }

 private:
  struct Shared {
    std::mutex mutex;
    grpc::ServerContextBase* context = nullptr;
  };
  std::shared_ptr<Shared> shared_;
  grpc::Alarm alarm_;
};

/// One call: reads its message, has it answered, and writes the reply.
class CallReactor final : public grpc::ServerGenericBidiReactor {
 public:
  CallReactor(CallContext& context, grpc::GenericCallbackServerContext& server)
      : context_(context), server_(server) {
    call_.method = server.method();
    call_.client = client_of(server.peer());
    call_.arrived = Clock::now();
    call_.held = held_ = std::make_shared<HeldMemory>(context.budget);
    // An endless one is the greatest point of time.
    const auto left = server.deadline() - std::chrono::system_clock::now();
    if (left < std::chrono::hours(24)) call_.deadline = call_.arrived + left;
    bool has_room = false, draining = false;
    {
      const std::lock_guard lock(context_.mutex);
      draining = context_.draining;
      context_.last_call = call_.arrived;
      has_room = context_.open < context_.options.max_calls;
      is_counted_ = has_room && !draining;
      if (is_counted_) ++context_.open;
    }
    if (draining) {
      refuse(grpc::StatusCode::UNAVAILABLE, "the server stops");
      return;
    }
    if (!has_room) {
      refuse(grpc::StatusCode::RESOURCE_EXHAUSTED,
             "as many calls are open as may be (--max-connections)");
      return;
    }
    if (!is_allowed()) {
      refuse(grpc::StatusCode::UNAUTHENTICATED, "a token is needed: authorization: Bearer ...");
      return;
    }
    watch(static_cast<std::size_t>(context_.options.max_request_bytes));
    StartRead(&call_.message);
  }

  void OnReadDone(bool is_there) override {
    watch_.reset();
    if (!is_there) return refuse(grpc::StatusCode::INVALID_ARGUMENT, "the call has no message");
    if (!held_->take(static_cast<std::int64_t>(call_.message.Length()))) {
      return refuse(grpc::StatusCode::RESOURCE_EXHAUSTED, MemoryShort().what());
    }
    call_.arrived = Clock::now();
    context_.methods.take(std::move(call_), [this](GrpcReply reply) {
      watch(reply.message.Length());
      if (!reply.status.ok()) return Finish(reply.status);
      reply_ = std::move(reply.message);
      StartWriteAndFinish(&reply_, grpc::WriteOptions(), grpc::Status::OK);
    });
  }

  void OnDone() override {
    held_->release();
    CallContext& context = context_;
    const bool was_counted = is_counted_;
    delete this;
    if (!was_counted) return;
    const std::lock_guard lock(context.mutex);
    --context.open;
    context.changed.notify_all();
  }

 private:
  /// So many bytes take so long at most: a second more for each 64 KiB.
  void watch(std::size_t bytes) {
    const auto more = std::chrono::seconds(static_cast<std::int64_t>(bytes >> 16));
    watch_.emplace(&server_, context_.options.read_timeout + more);
  }

  [[nodiscard]] bool is_allowed() const {
    const std::string& token = context_.options.token;
    if (token.empty() || GrpcMethods::is_open(call_.method)) return true;
    const auto found = server_.client_metadata().find("authorization");
    if (found == server_.client_metadata().end()) return false;
    return bears({found->second.data(), found->second.size()}, token);
  }

  void refuse(grpc::StatusCode code, const std::string& why) {
    context_.methods.refused(call_, code);
    Finish(grpc::Status(code, why));
  }

  CallContext& context_;
  grpc::GenericCallbackServerContext& server_;
  GrpcCall call_;
  std::shared_ptr<HeldMemory> held_;
  std::optional<CallWatch> watch_;
  grpc::ByteBuffer reply_;
  bool is_counted_ = false;  ///< among those that are open
};

class AnyMethod final : public grpc::CallbackGenericService {
 public:
  explicit AnyMethod(CallContext& context) : context_(context) {}
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* server) override {
    return new CallReactor(context_, *server);
  }

 private:
  CallContext& context_;
};

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(path + ": cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::shared_ptr<grpc::ServerCredentials> credentials_of(const GrpcOptions& options) {
  if (options.certificate.empty()) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions tls;
  tls.pem_key_cert_pairs.push_back({text_of_file(options.key), text_of_file(options.certificate)});
  return grpc::SslServerCredentials(tls);
}

void say_line(gpr_log_func_args* line) {
  if (line->severity < GPR_LOG_SEVERITY_ERROR) return;
  std::fprintf(stderr, "morton serve: gRPC: %s\n", line->message);
}

}  // namespace

struct GrpcServer::Inside {
  GrpcOptions options;
  GrpcMethods methods;
  CallContext context;
  AnyMethod any{context};
  int port = 0;
  std::unique_ptr<grpc::Server> server;
  std::thread ending;
  std::optional<std::chrono::system_clock::time_point> drained_until;

  Inside(const GrpcOptions& wanted, Service& service, MemoryBudget& budget)
      : options(wanted), methods(service), context{options, methods, budget, {}, {}} {
    gpr_set_log_function(say_line);
    grpc::ServerBuilder builder;
    const bool is_v6 = options.address.find(':') != std::string::npos;
    const std::string host = is_v6 ? "[" + options.address + "]" : options.address;
    const std::string at = fmt::format("{}:{}", host, options.port);
    builder.AddListeningPort(at, credentials_of(options), &port);
    builder.RegisterCallbackGenericService(&any);
    builder.SetMaxReceiveMessageSize(static_cast<int>(
        std::min<std::int64_t>(options.max_request_bytes, std::numeric_limits<int>::max())));
    builder.SetMaxSendMessageSize(-1);
    // A compressed message may be of any size when it is read.
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_DEFLATE, false);
    builder.SetCompressionAlgorithmSupportStatus(GRPC_COMPRESS_GZIP, false);
    // Another process may listen there: that is an error here.
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, 16384);
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 60000);
    server = builder.BuildAndStart();
    if (server == nullptr || port == 0) throw UsageError(at + ": gRPC cannot listen there");
  }

  void wait_drained() {
    if (!drained_until) return;
    std::unique_lock lock(context.mutex);
    context.changed.wait_until(lock, *drained_until, [&] { return context.open == 0; });
  }

  /// Until no call has come for a while: clients have been told.
  void wait_quiet(std::chrono::system_clock::time_point until) {
    until = std::min(until, std::chrono::system_clock::now() + kMostTelling);
    std::unique_lock lock(context.mutex);
    while (std::chrono::system_clock::now() < until &&
           Clock::now() - context.last_call < kQuietTime) {
      context.changed.wait_for(lock, kQuietTime / 4);
    }
  }

  ~Inside() {
    if (ending.joinable()) {
      ending.join();
    } else if (server != nullptr) {
      server->Shutdown(std::chrono::system_clock::now());
    }
  }
};

GrpcServer::GrpcServer(const GrpcOptions& options, Service& service, MemoryBudget& budget)
    : inside_(std::make_unique<Inside>(options, service, budget)) {}

GrpcServer::~GrpcServer() = default;

std::uint16_t GrpcServer::port() const { return static_cast<std::uint16_t>(inside_->port); }

std::size_t GrpcServer::calls() const {
  const std::lock_guard lock(inside_->context.mutex);
  return inside_->context.open;
}

void GrpcServer::begin_draining(std::chrono::seconds most) {
  inside_->drained_until = std::chrono::system_clock::now() + most;
  {
    const std::lock_guard lock(inside_->context.mutex);
    inside_->context.draining = true;
    inside_->context.last_call = Clock::now();
  }
  // Calls that come while gRPC itself shuts down get CANCELLED. Before that, they are told to ask
  // elsewhere.
  inside_->ending = std::thread([inside = inside_.get(), until = *inside_->drained_until] {
    inside->wait_drained();
    inside->wait_quiet(until);
    // A client that is idle may not hear of it, and gRPC would wait for its word.
    inside->server->Shutdown(std::chrono::system_clock::now() + kQuietTime);
  });
}

void GrpcServer::wait_drained() { inside_->wait_drained(); }

}  // namespace morton::serve
