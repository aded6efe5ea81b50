// SPDX-License-Identifier: Apache-2.0
#include "api/compile/compiled_format.hpp"

#include "api/compile/port_archive.hpp"
#include "base/error.hpp"
#include "base/files/file.hpp"

namespace morton::api {
namespace {

constexpr std::string_view kMagic = "morton compiled ";
constexpr int kVersion = 3;

[[noreturn]] void fail(const std::string& where, const std::string& why) {
  throw ModelError(where + ": is no whole compiled model: " + why + "; compile the model again (" +
                   setting("compile") + ")");
}

/// Moves `at` to `end` over what must be zeros.
void take_gap(std::string_view bytes, std::uint64_t& at, std::uint64_t end,
              const std::string& where) {
  const std::string_view gap = bytes.substr(at, end - at);
  if (gap.size() < end - at || gap.find_first_not_of('\0') != std::string_view::npos) {
    fail(where, "the bytes before binaries or weights are damaged");
  }
  at = end;
}

void check_blobs(const ArchivedModel& model, std::string_view blobs, const std::string& where) {
  std::uint64_t end = 0;
  for (const Blob& blob : model.blobs) {
    take_gap(blobs, end, blob_aligned(end), where);
    if (blob.offset != end || blob.bytes > blobs.size() - end) {
      fail(where, "expected " + std::to_string(blob.bytes) + " bytes of binaries or weights, got " +
                      std::to_string(blobs.size() - end));
    }
    end += blob.bytes;
  }
  if (end != blobs.size()) {
    fail(where, std::to_string(blobs.size() - end) + " bytes more than it should have");
  }
}

void check_variant(const ArchivedVariant& variant, const ArchivedModel& model,
                   const std::string& where) {
  const auto check = [&](const auto& blobs, std::size_t count, const char* what) {
    bool good = blobs.size() == count;
    for (const std::uint64_t blob : blobs) good &= blob == kNoBlob || blob < model.blobs.size();
    if (!good) fail(where, std::string("its list of ") + what + " is wrong");
  };
  check(variant.binaries, variant.plan.programs.size(), "binaries");
  check(variant.weights, variant.plan.blocks.size(), "weights");
  for (const std::uint64_t blob : variant.binaries) {
    if (blob == kNoBlob) fail(where, "a program has no binary");
  }
  for (const BlockId b : variant.weights.ids()) {
    const PlannedBlock& block = variant.plan.blocks[b];
    if (block.kind != PlannedBlock::Kind::weights) continue;
    const bool good = variant.weights[b] != kNoBlob && model.blobs[variant.weights[b]].bytes ==
                                                           static_cast<std::uint64_t>(block.bytes);
    if (!good) fail(where, "the weights do not fit their memory");
  }
}

}  // namespace

template <typename Archive, Archived<Blob> T>
void visit(Archive& archive, T& blob) {
  auto& [offset, bytes, digest] = blob;
  archive(offset, bytes, digest);
}

template <typename Archive, Archived<ArchivedVariant> T>
void visit(Archive& archive, T& variant) {
  auto& [inputs, outputs, planned_values, growths, plan, binaries, weights] = variant;
  archive(inputs, outputs, planned_values, growths, plan, binaries, weights);
}

template <typename Archive, Archived<ArchivedModel> T>
void visit(Archive& archive, T& model) {
  auto& [device, inputs, outputs, variants, blobs] = model;
  archive(device, inputs, outputs, variants, blobs);
}

Seal compiled_seal() { return seal_of<ArchivedModel>(kMagic, kVersion); }

std::string encode_head(const ArchivedModel& model) {
  ArchiveWriter writer;
  writer(model);
  std::string head = sealed(compiled_seal(), writer.take());
  head.resize(blob_aligned(head.size()));
  return head;
}

bool begins_as_compiled(std::string_view bytes) { return bytes.starts_with(kMagic); }

ArchivedModel decode_compiled(std::string_view bytes, const std::string& where,
                              std::string_view& blobs) {
  const std::string_view body =
      unsealed(compiled_seal(), bytes, blobs, [&](const std::string& why) { fail(where, why); });
  ArchiveReader reader(body, where);
  ArchivedModel model;
  reader(model);
  reader.require_end();
  std::uint64_t gap = 0;
  const std::uint64_t head = bytes.size() - blobs.size();
  take_gap(blobs, gap, blob_aligned(head) - head, where);
  blobs.remove_prefix(gap);
  check_blobs(model, blobs, where);
  if (model.variants.empty()) fail(where, "it holds no plan");
  for (const ArchivedVariant& variant : model.variants) check_variant(variant, model, where);
  return model;
}

std::string_view bytes_of(const Blob& blob, std::string_view blobs, const std::string& where) {
  const std::string_view bytes = blobs.substr(blob.offset, blob.bytes);
  if (digest_of(bytes) != blob.digest) {
    fail(where, "the digest of a binary or of weights is wrong, it is damaged");
  }
  return bytes;
}

}  // namespace morton::api
