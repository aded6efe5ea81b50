// SPDX-License-Identifier: Apache-2.0
#include "grpc/methods.hpp"

#include <fmt/format.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <inference.pb.h>

#include <algorithm>
#include <exception>
#include <morton/error.hpp>
#include <morton/version.hpp>
#include <utility>
#include <vector>

#include "grpc/infer_codec.hpp"
#include "grpc/message_cost.hpp"
#include "limits/message_limits.hpp"
#include "protocol/datatypes.hpp"

namespace morton::serve {
namespace {

constexpr const char* kServicePath = "/inference.GRPCInferenceService/";

std::string path_of(const char* method) { return std::string(kServicePath) + method; }

grpc::StatusCode code_of(Refusal::Why why) {
  switch (why) {
    case Refusal::Why::wrong:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case Refusal::Why::no_model:
      return grpc::StatusCode::NOT_FOUND;
    case Refusal::Why::late:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    case Refusal::Why::memory:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case Refusal::Why::busy:
    case Refusal::Why::gone:
      return grpc::StatusCode::UNAVAILABLE;
    case Refusal::Why::failed:
      break;
  }
  return grpc::StatusCode::INTERNAL;
}

GrpcReply refusal_of(Refusal::Why why, const std::string& text) {
  return {grpc::Status(code_of(why), text), {}};
}

GrpcReply reply_with(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return {grpc::Status::OK, grpc::ByteBuffer(&slice, 1)};
}

template <typename Message>
void parse(grpc::ByteBuffer& bytes, Message& message) {
  grpc::ProtoBufferReader reader(&bytes);
  if (!reader.status().ok() || !message.ParseFromZeroCopyStream(&reader)) {
    throw UsageError("the message is not that of the method");
  }
}

template <typename Message>
Message little_message(GrpcCall& call) {
  if (call.message.Length() > kMostLittleBytes) {
    throw UsageError(fmt::format("the message has {} bytes; {} may be sent here",
                                 call.message.Length(), kMostLittleBytes));
  }
  Message message;
  parse(call.message, message);
  return message;
}

void put_ports(
    const std::vector<PortInfo>& ports,
    google::protobuf::RepeatedPtrField<inference::ModelMetadataResponse::TensorMetadata>& tensors) {
  for (const PortInfo& port : ports) {
    auto& one = *tensors.Add();
    one.set_name(port.name);
    one.set_datatype(std::string(datatype_of(port.dtype)));
    one.mutable_shape()->Add(port.shape.begin(), port.shape.end());
  }
}

AccessRecord record_of(const GrpcCall& call, grpc::StatusCode code, std::size_t bytes_in,
                       std::size_t bytes_out) {
  return {call.client,
          "gRPC",
          call.method,
          static_cast<int>(code),
          bytes_in,
          bytes_out,
          1e3 * seconds_since(call.arrived)};
}

/// How long the client waits, from the arrival: the shorter of what the request says and the call.
std::optional<std::int64_t> time_left(std::optional<std::int64_t> timeout_us,
                                      const GrpcCall& call) {
  if (!call.deadline) return timeout_us;
  const auto left =
      std::chrono::duration_cast<std::chrono::microseconds>(*call.deadline - call.arrived);
  const auto us = std::max<std::int64_t>(0, left.count());
  return std::min(timeout_us.value_or(us), us);
}

}  // namespace

bool GrpcMethods::is_open(const std::string& method) {
  return method == path_of("ServerLive") || method == path_of("ServerReady");
}

void GrpcMethods::refused(const GrpcCall& call, grpc::StatusCode code) {
  service_.log().write(record_of(call, code, call.message.Length(), 0));
}

void GrpcMethods::take(GrpcCall call, Done done) {
  if (call.method == path_of("ModelInfer")) return infer(std::move(call), std::move(done));
  const auto logged = [this, call, bytes_in = call.message.Length(),
                       done = std::move(done)](GrpcReply reply) {
    service_.log().write(
        record_of(call, reply.status.error_code(), bytes_in, reply.message.Length()));
    done(std::move(reply));
  };
  try {
    if (call.method == path_of("RepositoryModelLoad")) {
      return change(RepositoryChange::load, call, logged);
    }
    if (call.method == path_of("RepositoryModelUnload")) {
      return change(RepositoryChange::unload, call, logged);
    }
  } catch (const std::exception& error) {
    return logged(refusal_of(Refusal::Why::wrong, error.what()));
  }
  std::optional<GrpcReply> reply;
  try {
    reply = at_once(call);
  } catch (const UsageError& error) {
    reply = refusal_of(Refusal::Why::wrong, error.what());
  } catch (const std::exception& error) {
    reply = refusal_of(Refusal::Why::failed, error.what());
  }
  if (!reply) {
    reply = GrpcReply{
        grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "there is no method " + call.method), {}};
  }
  logged(std::move(*reply));
}

std::optional<GrpcReply> GrpcMethods::at_once(GrpcCall& call) {
  if (call.method == path_of("ServerLive")) {
    inference::ServerLiveResponse live;
    live.set_live(true);
    return reply_with(live);
  }
  if (call.method == path_of("ServerReady")) {
    inference::ServerReadyResponse ready;
    ready.set_ready(service_.is_ready());
    return reply_with(ready);
  }
  if (call.method == path_of("ServerMetadata")) {
    inference::ServerMetadataResponse about;
    about.set_name("morton");
    about.set_version(MORTON_VERSION);
    about.add_extensions("model_repository");
    return reply_with(about);
  }
  if (call.method == path_of("ModelReady")) {
    const auto asked = little_message<inference::ModelReadyRequest>(call);
    Inference wanted{asked.name(), asked.version(), call.arrived, nullptr, {}};
    inference::ModelReadyResponse ready;
    ready.set_ready(!service_.find(wanted));
    return reply_with(ready);
  }
  if (call.method == path_of("ModelMetadata")) {
    const auto asked = little_message<inference::ModelMetadataRequest>(call);
    Inference wanted{asked.name(), asked.version(), call.arrived, nullptr, {}};
    if (const auto refusal = service_.find(wanted)) return refusal_of(refusal->why, refusal->text);
    inference::ModelMetadataResponse about;
    about.set_name(wanted.model->name());
    about.add_versions(wanted.model->version());
    about.set_platform("morton_opencl");
    put_ports(wanted.model->inputs(), *about.mutable_inputs());
    put_ports(wanted.model->outputs(), *about.mutable_outputs());
    return reply_with(about);
  }
  if (call.method == path_of("RepositoryIndex")) {
    const auto asked = little_message<inference::RepositoryIndexRequest>(call);
    inference::RepositoryIndexResponse index;
    for (const ModelState& state :
         service_.index(asked.ready() ? Service::Listed::ready : Service::Listed::all)) {
      auto& one = *index.add_models();
      one.set_name(state.name);
      one.set_version(state.version);
      one.set_state(name_of(state.state));
      one.set_reason(state.reason);
    }
    return reply_with(index);
  }
  return std::nullopt;
}

/// Throws UsageError where the message is wrong.
void GrpcMethods::change(RepositoryChange change, GrpcCall& call, const Done& done) {
  // Messages to load and to unload have the same fields.
  const auto asked = little_message<inference::RepositoryModelLoadRequest>(call);
  for (const auto& [name, value] : asked.parameters()) require_change_parameter(name, change);
  service_.change(asked.model_name(), change, [done](const std::optional<Refusal>& refusal) {
    done(refusal ? refusal_of(refusal->why, refusal->text)
                 : reply_with(inference::RepositoryModelLoadResponse()));
  });
}

/// What is needed when the answer is there.
struct GrpcMethods::Answering {
  GrpcCall call;
  Done done;
  std::size_t bytes_in = 0;
  std::shared_ptr<Inference> inference;
};

void GrpcMethods::infer(GrpcCall call, Done done) {
  const auto answering = std::make_shared<Answering>();
  answering->bytes_in = call.message.Length();
  answering->call = std::move(call);
  answering->done = std::move(done);
  answering->inference = std::make_shared<Inference>();
  answering->inference->arrived = answering->call.arrived;
  std::optional<Refusal> no_model;
  auto refusal = failure_of(Refusal::Why::wrong, [&] {
    GrpcCall& taken = answering->call;
    const auto memory = memory_of(taken.message);
    if (!memory) throw UsageError("the message is no ModelInferRequest");
    taken.held->need(*memory);
    const auto message = std::make_shared<inference::ModelInferRequest>();
    parse(taken.message, *message);
    taken.message.Clear();
    taken.held->give_back(answering->bytes_in);
    answering->inference->name = message->model_name();
    answering->inference->version = message->model_version();
    no_model = service_.find(*answering->inference);
    if (no_model) return;
    InferRequest request = read_infer_request(message, *taken.held);
    request.timeout_us = time_left(request.timeout_us, taken);
    answering->inference->request = std::move(request);
  });
  if (!refusal) refusal = std::move(no_model);
  if (refusal) return finish(answering, std::move(*refusal));
  service_.infer(answering->inference,
                 [this, answering](Outcome outcome) { finish(answering, std::move(outcome)); });
}

/// Called by models' threads too, which must live on.
void GrpcMethods::finish(const std::shared_ptr<Answering>& answering, Outcome outcome) {
  GrpcReply reply;
  if (const auto* answer = std::get_if<Answered>(&outcome)) {
    auto failure = failure_of(Refusal::Why::failed, [&] {
      reply.message =
          write_infer_response(*answering->inference, answer->outputs, *answering->call.held);
    });
    if (failure) outcome = std::move(*failure);
  }
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    reply = refusal_of(refusal->why, refusal->text);
  }
  service_.count(*answering->inference, outcome);
  if (service_.log().is_on()) {
    AccessRecord record = record_of(answering->call, reply.status.error_code(), answering->bytes_in,
                                    reply.message.Length());
    record.model = answering->inference->name;
    put_times(record, outcome);
    service_.log().write(record);
  }
  answering->done(std::move(reply));
}

}  // namespace morton::serve
