// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <inference.pb.h>

#include <memory>
#include <morton/tensor.hpp>
#include <span>

#include "limits/memory_budget.hpp"
#include "protocol/infer_message.hpp"
#include "service/service.hpp"

namespace morton::serve {

/// Reads a request. Tensors show the message's own numbers where these are of the tensor's type.
/// Throws UsageError, which says where it is wrong, and MemoryShort.
[[nodiscard]] InferRequest read_infer_request(
    const std::shared_ptr<const inference::ModelInferRequest>& message, HeldMemory& held);

/// The answer to an inference, as a message of gRPC. Outputs are raw bytes, those of the tensors,
/// where the request asks for that, or one of them is of a type that has no other form. Throws
/// UnsupportedError for a type that the protocol has no name for, and MemoryShort.
[[nodiscard]] grpc::ByteBuffer write_infer_response(const Inference& inference,
                                                    std::span<const NamedTensor> outputs,
                                                    HeldMemory& held);

}  // namespace morton::serve
