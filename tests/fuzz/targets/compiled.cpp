// SPDX-License-Identifier: Apache-2.0
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
    const auto fail = [](const std::string& why) { throw InternalError(why); };
    body_.emplace(std::string(unsealed(api::compiled_seal(), head, rest, fail)));
  }

  /// With its body edited, and right digests of that.
  [[nodiscard]] std::string file(std::string_view script) const {
    std::string bytes = sealed(api::compiled_seal(), body_->edited(script));
    bytes.resize(api::blob_aligned(bytes.size()));
    return bytes + std::string(blobs_, '\0');
  }

 private:
  std::uint64_t added(api::ArchivedModel& model, std::uint64_t bytes) {
    const std::uint64_t offset = api::blob_aligned(blobs_);
    blobs_ = offset + bytes;
    model.blobs.push_back({offset, bytes, digest_of(std::string(bytes, '\0'))});
    return model.blobs.size() - 1;
  }

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
