// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/archive.hpp"
#include "base/files/sealed.hpp"
#include "base/rooms.hpp"
#include "morton/model.hpp"
#include "plan/ir/plan_archive.hpp"

namespace morton::api {

/// A stretch of a compiled file: a program's binary or a block of packed weights.
struct Blob {
  std::uint64_t offset = 0;  ///< from the first blob's beginning
  std::uint64_t bytes = 0;
  std::string digest;
};

/// One plan of a compiled file.
struct ArchivedVariant {
  std::vector<PortInfo> inputs, outputs;
  std::map<std::string, Tensor> planned_values;  ///< as CompiledState has them
  std::vector<Growth> growths;                   ///< likewise
  Plan plan;
  std::vector<std::uint64_t> binaries;  ///< blob of each of the plan's programs
  /// Blob of each of the plan's blocks of weights; of other blocks, kNoBlob.
  Indexed<BlockId, std::uint64_t> weights;
};
inline constexpr std::uint64_t kNoBlob = ~std::uint64_t{0};

/// What a compiled file holds, its blobs aside.
struct ArchivedModel {
  std::string device;                     ///< fingerprint
  std::vector<PortInfo> inputs, outputs;  ///< as the model states them
  std::vector<ArchivedVariant> variants;
  std::vector<Blob> blobs;
};

/// Where each blob begins in the file: at a multiple of a page, so that the host maps it and a
/// device that shares the host's memory uses it as it lies.
inline constexpr std::uint64_t kBlobAlignment = 4096;
/// The next such place at `bytes` or behind.
[[nodiscard]] constexpr std::uint64_t blob_aligned(std::uint64_t bytes) {
  return (bytes + kBlobAlignment - 1) / kBlobAlignment * kBlobAlignment;
}

/// The file is text, the archived model, and the blobs, zeros between them:
///
///     morton compiled 3
///     schema <digest of what is archived, and how>
///     bytes <size of the archived model>
///     digest <of the archived model>
///     header <digest of all lines above>
///
/// and may have a signature behind it (base/files/signature.hpp), so that any flipped, missing or
/// added byte is seen. The head with the zeros behind it:
[[nodiscard]] std::string encode_head(const ArchivedModel& model);
/// What `encode_head` wrote, blobs behind it, without a signature. `blobs` becomes the bytes of all
/// blobs. Throws ModelError, naming `where`, for anything else.
[[nodiscard]] ArchivedModel decode_compiled(std::string_view bytes, const std::string& where,
                                            std::string_view& blobs);
/// What its lines say of the archived model.
[[nodiscard]] Seal compiled_seal();
/// True for bytes that begin as such a file does.
[[nodiscard]] bool begins_as_compiled(std::string_view bytes);
/// The blob's bytes; throws ModelError where they are damaged.
[[nodiscard]] std::string_view bytes_of(const Blob& blob, std::string_view blobs,
                                        const std::string& where);

}  // namespace morton::api
