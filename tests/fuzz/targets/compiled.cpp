// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>

#include "api/compile/compiled_format.hpp"
#include "base/files/file.hpp"
#include "base/files/sealed.hpp"
#include "fuzz/edits.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/planned_model.hpp"
#include "plan/ir/plan_archive.hpp"
#include "plan/ir/print.hpp"

namespace morton::test {
namespace {

constexpr std::string_view kMagicOfCompiled = "morton compiled ";

/// A compiled file of a small network, whose programs and weights are zeros.
class CompiledNetwork {
 public:
  CompiledNetwork() {
    api::ArchivedModel model;
    model.device = fingerprint(fuzzed_device());
    api::ArchivedVariant variant;
    variant.plan = with_packed_constants(planned(prepared(small_network())));
    for (std::size_t i = 0; i < variant.plan.programs.size(); ++i) {
      variant.binaries.push_back(added(model, 64));
    }
    for (const auto& block : variant.plan.blocks) {
      const bool holds_weights = block.kind == plan::PlannedBlock::Kind::weights;
      variant.weights.add(holds_weights ? added(model, static_cast<std::uint64_t>(block.bytes))
                                        : api::kNoBlob);
    }
    model.variants.push_back(std::move(variant));
    const std::string head = encode_head(model);
    std::string_view rest;
    std::map<std::string, std::string> lines;
    std::string_view text = head;
    std::size_t body = 0;
    for (std::string key; key != "header";) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(line.size() + 1);
      body += line.size() + 1;
      key = line.substr(0, line.find(' '));
      if (key == "morton") version_ = std::stoi(std::string(line.substr(kMagicOfCompiled.size())));
      lines[key] = line.substr(line.find(' ') + 1);
    }
    schema_ = lines["schema"];
    body_.emplace(head.substr(body, std::stoull(lines["bytes"])));
  }

  /// With its body edited, and right digests of that.
  [[nodiscard]] std::string file(std::string_view script) const {
    std::string bytes = sealed({kMagicOfCompiled, version_, schema_}, body_->edited(script));
    bytes.resize(aligned(bytes.size()));
    return bytes + std::string(blobs_, '\0');
  }

 private:
  static std::uint64_t aligned(std::uint64_t bytes) {
    return (bytes + api::kBlobAlignment - 1) / api::kBlobAlignment * api::kBlobAlignment;
  }
  std::uint64_t added(api::ArchivedModel& model, std::uint64_t bytes) {
    const std::uint64_t offset = aligned(blobs_);
    blobs_ = offset + bytes;
    model.blobs.push_back({offset, bytes, digest_of(std::string(bytes, '\0'))});
    return model.blobs.size() - 1;
  }

  int version_ = 0;
  std::string schema_;
  std::optional<EditableFile> body_;
  std::uint64_t blobs_ = 0;  ///< bytes of all
};

}  // namespace

/// A compiled file after edits, as far as it is read before a device sees it.
void fuzz_compiled(std::string_view script) {
  static const CompiledNetwork kNetwork;
  const std::string bytes = kNetwork.file(script);
  std::string_view blobs;
  const api::ArchivedModel model = api::decode_compiled(bytes, "compiled", blobs);
  for (const api::ArchivedVariant& variant : model.variants) {
    check_archived(variant.plan, fuzzed_device(), "compiled");
    for (const std::uint64_t blob : variant.binaries)
      (void)bytes_of(model.blobs[blob], blobs, "compiled");
    for (const std::uint64_t blob : variant.weights) {
      if (blob != api::kNoBlob) (void)bytes_of(model.blobs[blob], blobs, "compiled");
    }
    (void)print(variant.plan, PlanDetail::why);
  }
}

}  // namespace morton::test
