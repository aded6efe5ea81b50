// SPDX-License-Identifier: Apache-2.0
//
// Plans between processes: a start that was made before searches nothing and folds nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "api/inside.hpp"
#include "base/files/build_id.hpp"
#include "base/files/file.hpp"
#include "morton/morton.hpp"
#include "support/compare.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"
#include "support/temporary_folder.hpp"

namespace morton::test {
namespace {

using std::filesystem::path;
using Origin = CompileReport::PlanOrigin;

/// A convolution whose normalisation is folded into its weights, and a product whose weights stay.
Graph normalised_graph(std::uint64_t seed) {
  NetworkBuilder network("normalised", seed);
  const TensorId image = network.input("image", {-1, 3, 9, 9});
  const TensorId conv = network.conv(image, 3, 8, {.size = 3, .stride = 1, .pad = 1, .groups = 1});
  const auto parameter = [&] { return network.parameter({8}, 1); };
  const TensorId spread = network.node("Exp", {parameter()});
  const TensorId norm =
      network.node("BatchNormalization", {conv, parameter(), parameter(), parameter(), spread});
  const TensorId flat = network.node("Flatten", {network.relu(norm)});
  network.output(network.dense(flat, 8 * 81, 5));
  return network.finish();
}

class KeptPlan : public DeviceTest {
 protected:
  /// A device that knows of earlier starts what lies in the folder.
  [[nodiscard]] Device later() const { return Device::open(GetParam(), {cache_.path().string()}); }

  [[nodiscard]] CompiledModel compiled(const CompileOptions& options,
                                       std::uint64_t seed = 5) const {
    return compile(Inside::make(normalised_graph(seed)), later(), options);
  }

  /// Compiles, checks an answer against the reference, and says where the plan is from.
  [[nodiscard]] Origin origin(const CompileOptions& options, std::uint64_t seed = 5) const {
    const CompiledModel model = compiled(options, seed);
    expect_right(model, seed);
    return model.report().plan;
  }

  static void expect_right(const CompiledModel& model, std::uint64_t seed = 5) {
    const std::int64_t batch = model.inputs()[0].shape[0];
    const std::vector<NamedTensor> inputs{{"image", random_tensor({batch, 3, 9, 9}, 3)}};
    Session session(model);
    const auto got = session.run(inputs);
    const auto expected = reference_outputs(with_shapes(normalised_graph(seed), batch), inputs);
    const Comparison comparison = compare(expected[0], got[0].tensor.as<float>());
    EXPECT_TRUE(comparison.ok()) << comparison.text;
  }

  [[nodiscard]] std::vector<path> files(const std::string& extension) const {
    std::vector<path> found;
    for (const auto& file : std::filesystem::directory_iterator(cache_.path() / "plans")) {
      if (file.path().extension() == extension) found.push_back(file.path());
    }
    return found;
  }

  TemporaryFolder cache_;
  CompileOptions options_ = [] {
    CompileOptions options;
    options.batch = 2;
    return options;
  }();
};
MORTON_ON_EVERY_DEVICE(KeptPlan);

TEST_P(KeptPlan, IsTheOneThatWasMade) {
  ASSERT_FALSE(build_id().empty());
  const CompiledModel made = compiled(options_);
  EXPECT_EQ(made.report().plan, Origin::made);
  const CompiledModel kept = compiled(options_);
  EXPECT_EQ(kept.report().plan, Origin::kept);
  EXPECT_EQ(kept.report().times.passes_ms, 0.0);
  EXPECT_EQ(kept.report().kernels.built, 0);
  EXPECT_EQ(kept.plan_text(CompiledModel::Detail::why), made.plan_text(CompiledModel::Detail::why));
  EXPECT_EQ(kept.steps_digest(), made.steps_digest());
  EXPECT_EQ(kept.outputs()[0].shape, made.outputs()[0].shape);
  expect_right(kept);
}

TEST_P(KeptPlan, IsOfOneModelAndItsOptions) {
  EXPECT_EQ(origin(options_), Origin::made);
  EXPECT_EQ(origin(options_, 6), Origin::made) << "other weights";
  CompileOptions other = options_;
  other.batch = 3;
  EXPECT_EQ(origin(other), Origin::made);
  other = options_;
  other.exclude = {"gemm.tile"};
  EXPECT_EQ(origin(other), Origin::made);
  EXPECT_EQ(files(".tensors").size(), 2U) << "batches share the weights that folding made";
  other = options_;
  other.skip_passes = {"fold_batch_norms"};
  EXPECT_EQ(origin(other), Origin::made);
  EXPECT_EQ(origin(options_), Origin::kept);
  EXPECT_EQ(origin(options_, 6), Origin::kept);
}

TEST_P(KeptPlan, ServesOtherShapesAsTheMadeOneDoes) {
  const CompiledModel made = compiled(options_);
  const CompiledModel kept = compiled(options_);
  ASSERT_EQ(kept.report().plan, Origin::kept);
  const CompiledModel of_made = made.with_shapes({.batch = 4, .shapes = {}});
  const CompiledModel of_kept = kept.with_shapes({.batch = 4, .shapes = {}});
  expect_right(of_kept);
  EXPECT_EQ(of_kept.steps_digest(), of_made.steps_digest());
  EXPECT_EQ(of_kept.report().memory.shared_weight_bytes,
            of_made.report().memory.shared_weight_bytes);
  EXPECT_EQ(of_kept.report().kernels.built, 0);
}

TEST_P(KeptPlan, IsMadeAnewWhereSomethingIsDamagedOrGone) {
  const std::vector<std::pair<std::string, std::function<void(const path&)>>> damages{
      {"truncated", [](const path& file) { resize_file(file, file_size(file) / 2); }},
      {"empty", [](const path& file) { resize_file(file, 0); }},
      {"one bit flipped",
       [](const path& file) {
         std::string bytes = read_file(file, 1 << 28);
         bytes[bytes.size() / 3] ^= 4;
         write_file_atomically(file, bytes);
         std::filesystem::permissions(file, std::filesystem::perms{0600});
       }},
      {"writable by others",
       [](const path& file) { permissions(file, std::filesystem::perms{0666}); }},
      {"gone", [](const path& file) { remove(file); }},
  };
  for (const std::string extension : {".plan", ".tensors"}) {
    for (const auto& [name, damage] : damages) {
      SCOPED_TRACE(name + " " + extension);
      std::string told;
      CompileOptions options = options_;
      options.log = [&](const Message& line) { told += line.print() + "\n"; };
      (void)origin(options);
      EXPECT_EQ(origin(options), Origin::kept);
      ASSERT_EQ(files(extension).size(), 1U);
      told.clear();
      damage(files(extension).front());
      EXPECT_EQ(origin(options), Origin::made);
      EXPECT_THAT(told, ::testing::HasSubstr(name == "gone" ? "" : "planned anew"));
      std::filesystem::remove_all(cache_.path() / "plans");
    }
  }
}

TEST_P(KeptPlan, IsMadeAnewWhereAKernelIsNotBuiltOrNotTried) {
  EXPECT_EQ(origin(options_), Origin::made);
  EXPECT_EQ(origin(options_), Origin::kept);
  std::filesystem::remove_all(cache_.path() / "programs");
  EXPECT_EQ(origin(options_), Origin::made);
  EXPECT_EQ(origin(options_), Origin::kept);
  std::filesystem::remove_all(cache_.path() / "self_test");
  EXPECT_EQ(origin(options_), Origin::made);
}

TEST_P(KeptPlan, CanBeSavedAsACompiledFile) {
  EXPECT_EQ(origin(options_), Origin::made);
  const CompiledModel kept = compiled(options_);
  ASSERT_EQ(kept.report().plan, Origin::kept);
  const std::string file = (cache_.path() / "model.mortonc").string();
  save_compiled(std::vector{kept}, file);
  const CompiledModel opened = CompiledFile::open(file).load(later());
  EXPECT_EQ(opened.report().plan, Origin::compiled_file);
  expect_right(opened);
}

}  // namespace
}  // namespace morton::test
