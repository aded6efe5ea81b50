// SPDX-License-Identifier: Apache-2.0
// In place of grpc_server.cpp where gRPC's libraries were not found.
#include <morton/error.hpp>

#include "grpc/grpc_server.hpp"

namespace morton::serve {

struct GrpcServer::Inside {};

GrpcServer::GrpcServer(const GrpcOptions& /*options*/, Service& /*service*/,
                       MemoryBudget& /*budget*/) {
  throw UsageError(
      "--grpc-port: this server is built without gRPC; a build with libgrpc++-dev has it");
}

GrpcServer::~GrpcServer() = default;

std::uint16_t GrpcServer::port() const { return 0; }

std::size_t GrpcServer::calls() const { return 0; }

void GrpcServer::begin_draining(std::chrono::seconds /*most*/) {}

void GrpcServer::wait_drained() {}

}  // namespace morton::serve
