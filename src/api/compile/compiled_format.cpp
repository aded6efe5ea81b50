// SPDX-License-Identifier: Apache-2.0
#include "api/compile/compiled_format.hpp"

#include <charconv>
#include <system_error>

#include "base/error.hpp"
#include "base/files/file.hpp"
#include "morton/version.hpp"

namespace morton::api {
namespace {

constexpr std::string_view kMagic = "morton compiled ";
constexpr int kVersion = 1;

[[noreturn]] void fail(const std::string& where, const std::string& why) {
  throw ModelError(where + ": is no whole compiled model: " + why + "; compile the model again (" +
                   setting("compile") + ")");
}

/// The rest of the next line, which must begin with `label`; moves `at` behind it.
std::string_view take_line(std::string_view bytes, std::size_t& at, std::string_view label,
                           const std::string& where) {
  constexpr std::size_t kLongestLine = 200;
  const std::string_view rest = bytes.substr(at, kLongestLine);
  const std::size_t end = rest.find('\n');
  if (end == std::string_view::npos || !rest.starts_with(label)) {
    fail(where, "expected a line '" + std::string(label) + "...' at byte " + std::to_string(at));
  }
  at += end + 1;
  return rest.substr(label.size(), end - label.size());
}

void check_blobs(const ArchivedModel& model, std::string_view blobs, const std::string& where) {
  std::uint64_t end = 0;
  for (const Blob& blob : model.blobs) {
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

}  // namespace morton::api

namespace morton {

/// Where archives look for it: PortInfo is a public type.
template <typename Archive, Archived<PortInfo> T>
void visit(Archive& archive, T& port) {
  auto& [name, dtype, shape, symbols] = port;
  archive(name, dtype, shape, symbols);
}

}  // namespace morton

namespace morton::api {

template <typename Archive, Archived<Blob> T>
void visit(Archive& archive, T& blob) {
  auto& [offset, bytes, digest] = blob;
  archive(offset, bytes, digest);
}

template <typename Archive, Archived<ArchivedVariant> T>
void visit(Archive& archive, T& variant) {
  auto& [inputs, outputs, planned_values, plan, binaries, weights] = variant;
  archive(inputs, outputs, planned_values, plan, binaries, weights);
}

template <typename Archive, Archived<ArchivedModel> T>
void visit(Archive& archive, T& model) {
  auto& [device, inputs, outputs, variants, blobs] = model;
  archive(device, inputs, outputs, variants, blobs);
}

namespace {

/// Files of another Morton, or of one that archives other things, are not read.
std::string schema_digest() {
  ArchiveSchema schema;
  schema(ArchivedModel());
  return digest_of(MORTON_VERSION + schema.text());
}

}  // namespace

std::string encode_head(const ArchivedModel& model) {
  ArchiveWriter writer;
  writer(model);
  const std::string body = writer.take();
  std::string head = std::string(kMagic) + std::to_string(kVersion) + "\nschema " +
                     schema_digest() + "\nbytes " + std::to_string(body.size()) + "\ndigest " +
                     digest_of(body) + "\n";
  head += "header " + digest_of(head) + "\n";
  return head + body;
}

bool begins_as_compiled(std::string_view bytes) { return bytes.starts_with(kMagic); }

ArchivedModel decode_compiled(std::string_view bytes, const std::string& where,
                              std::string_view& blobs) {
  std::size_t at = 0;
  const std::string_view version = take_line(bytes, at, kMagic, where);
  if (version != std::to_string(kVersion)) {
    fail(where, "its format is '" + std::string(version.substr(0, 20)) + "', expected " +
                    std::to_string(kVersion));
  }
  const std::string_view schema = take_line(bytes, at, "schema ", where);
  const std::string_view size = take_line(bytes, at, "bytes ", where);
  const std::string_view digest = take_line(bytes, at, "digest ", where);
  const std::string header = digest_of(bytes.substr(0, at));
  if (take_line(bytes, at, "header ", where) != header) {
    fail(where, "the digest of its header is wrong, it is damaged");
  }
  if (schema != schema_digest()) {
    fail(where, std::string("another version of Morton wrote it (this is ") + MORTON_VERSION + ")");
  }
  std::uint64_t body_bytes = 0;
  const auto [rest, problem] = std::from_chars(size.data(), size.data() + size.size(), body_bytes);
  if (problem != std::errc() || rest != size.data() + size.size() ||
      body_bytes > bytes.size() - at) {
    fail(where, "expected " + std::string(size) + " bytes behind its header, got " +
                    std::to_string(bytes.size() - at));
  }
  const std::string_view body = bytes.substr(at, body_bytes);
  if (digest_of(body) != digest) fail(where, "the digest of its plan is wrong, it is damaged");
  ArchiveReader reader(body, where);
  ArchivedModel model;
  reader(model);
  reader.require_end();
  blobs = bytes.substr(at + body_bytes);
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
