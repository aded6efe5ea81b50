// SPDX-License-Identifier: Apache-2.0
//
// Whether callers may share a batch, and where their items lie then.
#include <gmock/gmock.h>

#include "api/inside.hpp"
#include "model/model_check.hpp"
#include "model/training_network.hpp"
#include "morton/architectures.hpp"
#include "morton/support.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(BatchItems, LieInTheDimensionThatIsOpen) {
  for (const auto& [name, dimension] :
       {std::pair<const char*, std::size_t>{"lenet5", 0}, {"c18-cnn", 0}, {"r17-256", 1}}) {
    SCOPED_TRACE(name);
    const BatchItems items = batch_items(new_model(name, 1));
    EXPECT_EQ(items.obstacle.print(), "");
    EXPECT_THAT(items.inputs, ElementsAre(std::optional<std::size_t>(dimension)));
    EXPECT_THAT(items.outputs, ElementsAre(dimension));
  }
}

TEST(BatchItems, HaveTheShapesThatAreGivenBesideTheBatch) {
  CompileOptions options;
  options.shapes["input"] = {1, 3, 40, 40};
  EXPECT_EQ(batch_items(new_model("mobilenet_v2", 1), options).obstacle.print(), "");
}

TEST(BatchItems, AreNoneWhereItemsMeet) {
  SmallNetwork network({kBatch, 6});
  network.add("Softmax", {}, {{"axis", std::int64_t{0}}});
  const BatchItems items = batch_items(to_model(network.finish()));
  EXPECT_TRUE(items.inputs.empty());
  EXPECT_TRUE(items.outputs.empty());
  EXPECT_THAT(items.obstacle.print(), HasSubstr("layer"));
}

/// A common way to export: the batch is open, and a Reshape inside fixes it.
TEST(BatchItems, AreNoneWhereTheModelFixesTheirNumber) {
  SmallNetwork network({1, 6});
  network.add("Reshape", {network.whole_numbers("shape", {1, 3, 2})});
  EXPECT_NE(batch_items(to_model(network.finish())).obstacle.print(), "");
}

TEST(BatchItems, AreNoneWhereAnOutputIsCut) {
  SmallNetwork network({kBatch, 6});
  network.add("Slice", {network.whole_numbers("starts", {0}), network.whole_numbers("ends", {20}),
                        network.whole_numbers("axes", {0})});
  EXPECT_NE(batch_items(to_model(network.finish())).obstacle.print(), "");
}

TEST(BatchItems, AreNoneWithoutAnOpenExtent) {
  NetworkBuilder network("closed", 7);
  network.output(network.node("Relu", {network.input("x", {4, 5})}));
  EXPECT_NE(batch_items(to_model(network.finish())).obstacle.print(), "");
}

}  // namespace
}  // namespace morton::test
