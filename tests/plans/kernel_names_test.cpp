// SPDX-License-Identifier: Apache-2.0
//
// No name of a model reaches a driver's compiler: kernels' texts, and the digests of plans' steps,
// stay as they are when every name is another.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plans/plan_setup.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// Text that would do harm in C, in options of a compiler, on a command line, or on a terminal.
const std::string kEvil =
    "*/\"'\\\n#include </etc/passwd>\n-D X=1 $(id) `id` %s\x1b[2J //?\?/\n__kernel ";

/// Names everything anew, in the graph and in its nodes' bodies.
void rename_all(Graph& graph) {
  int number = 0;
  const auto another = [&number] { return kEvil + std::to_string(number++); };
  graph.name = another();
  for (GraphTensor& tensor : graph.tensors) {
    tensor.name = another();
    for (auto& extent : tensor.declared) {
      if (!extent.symbol.empty()) extent.symbol = another();
    }
    for (std::string& label : tensor.labels) label = another();
  }
  for (Node& node : graph.nodes) {
    node.name = another();
    for (std::string& name : node.fused) name = another();
  }
}

/// The texts of all kernels and how they are built together, for one batch.
std::vector<std::string> texts_of(const Graph& graph, const DeviceInfo& device) {
  const Plan plan = make_plan(graph, Catalogue::standard(), device, {});
  std::vector<std::string> texts;
  for (const InstanceSource& instance : plan.instances) {
    texts.push_back(instance.function);
    texts.push_back(instance.key);
    texts.push_back(instance.text);
  }
  return texts;
}

TEST(KernelTexts, HoldNoNameOfTheModel) {
  for (const char* network : {"lenet5", "mlp", "small_cnn", "residual"}) {
    for (const char* name : {"pocl_cpu", "mali_t628", "nvidia_h200"}) {
      SCOPED_TRACE(std::string(network) + " on " + name);
      const DeviceInfo device = saved_device(name);
      // The first extent of the inputs stays the batch, whatever its name.
      Graph renamed = network_named(network);
      rename_all(renamed);
      const std::vector<std::string> texts = texts_of(prepared(network_named(network), 3), device);
      EXPECT_GT(texts.size(), 4U);
      EXPECT_EQ(texts, texts_of(prepared(renamed, 3), device));
      for (const std::string& text : texts) {
        EXPECT_EQ(text.find("passwd"), std::string::npos);
      }
    }
  }
}

}  // namespace
}  // namespace morton::test
