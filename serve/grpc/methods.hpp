// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "limits/memory_budget.hpp"
#include "service/service.hpp"

namespace morton::serve {

/// A call by gRPC, whose one message is there.
struct GrpcCall {
  std::string method;  ///< "/inference.GRPCInferenceService/ModelInfer"
  std::string client;
  grpc::ByteBuffer message;
  Clock::time_point arrived;
  std::optional<Clock::time_point> deadline;
  std::shared_ptr<HeldMemory> held;  ///< the message's bytes so far, until the reply is written
};

/// Its answer: a message where the status is OK.
struct GrpcReply {
  grpc::Status status;
  grpc::ByteBuffer message;
};

/// The methods of inference.GRPCInferenceService.
class GrpcMethods {
 public:
  using Done = std::function<void(GrpcReply)>;

  explicit GrpcMethods(Service& service) : service_(service) {}

  /// Whether anyone may call it: load balancers ask for health without a token.
  [[nodiscard]] static bool is_open(const std::string& method);
  /// Answers a call; calls back once, by any thread. Throws nothing.
  void take(GrpcCall call, Done done);
  /// A call that the server refused.
  void refused(const GrpcCall& call, grpc::StatusCode code);

 private:
  struct Answering;

  void infer(GrpcCall call, Done done);
  void finish(const std::shared_ptr<Answering>& answering, Outcome outcome);
  /// Answers what needs no model's thread; none where there is no such method.
  [[nodiscard]] std::optional<GrpcReply> at_once(GrpcCall& call);
  void change(RepositoryChange change, GrpcCall& call, const Done& done);

  Service& service_;
};

}  // namespace morton::serve
