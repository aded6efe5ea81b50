// SPDX-License-Identifier: Apache-2.0
#include "plan/ir/plan.hpp"

#include "base/files/archive.hpp"
#include "fuzz/edits.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/planned_model.hpp"
#include "plan/ir/plan_archive.hpp"
#include "plan/ir/print.hpp"
#include "plan/ir/whole_plan.hpp"

namespace morton::test {
namespace {

/// A network, and its plan as the cache keeps it.
struct KeptNetwork {
  Graph graph = small_network();
  std::vector<Tensor> contents;
  EditableFile archived{archive()};

 private:
  std::string archive() {
    const plan::WholePlan whole = taken_apart(planned(prepared(graph)), graph, contents);
    ArchiveWriter writer;
    writer(whole);
    return writer.take();
  }
};

}  // namespace

/// The plan of a small network, as the cache keeps it, after edits.
void fuzz_plan(std::string_view script) {
  static const KeptNetwork kNetwork;
  const std::string bytes = kNetwork.archived.edited(script);
  ArchiveReader reader(bytes, "plan");
  plan::WholePlan whole;
  reader(whole);
  reader.require_end();
  const auto tensor_of = [](const plan::ArchivedPiece& piece, DType type, const Shape& shape) {
    constexpr std::uint64_t kMostBytes = 1 << 20;
    if (piece.bytes > kMostBytes) throw ModelError("pieces: is cut short");
    return Tensor::allocate(type, shape);
  };
  const Plan read = put_together(std::move(whole), kNetwork.graph, tensor_of, "plan");
  check_archived(read, fuzzed_device(), "plan", plan::ArchivedConstants::as_made);
  (void)print(read, PlanDetail::why);
}

}  // namespace morton::test
