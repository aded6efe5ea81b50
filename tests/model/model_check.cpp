// SPDX-License-Identifier: Apache-2.0
#include "model/model_check.hpp"

#include <cmath>
#include <memory>
#include <utility>

#include "api/inside.hpp"
#include "base/shape.hpp"
#include "support/compare.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

/// Largest share of an output's own size that the bound may be.
constexpr double kWidestBound = 0.02;

void expect_narrow(const ReferenceTensor& expected, const std::string& name) {
  double largest = 0.0;
  double bound = 0.0;
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    largest = std::max(largest, std::fabs(expected.value[i]));
    bound = std::max(bound, expected.error[i]);
  }
  EXPECT_LE(bound, kWidestBound * largest) << "the bound of '" << name << "' shows nothing";
}

}  // namespace

Model to_model(Graph graph) { return Inside::make(std::move(graph)); }

std::vector<NamedTensor> random_inputs(const Graph& graph, std::int64_t batch, std::uint64_t seed) {
  std::vector<NamedTensor> inputs;
  for (const TensorId id : graph.inputs) {
    Shape shape;
    for (const Dimension& dimension : graph.tensor(id).declared) {
      shape.push_back(dimension.symbol.empty() ? dimension.value : batch);
    }
    inputs.push_back({graph.tensor(id).name, random_tensor(shape, seed++)});
  }
  return inputs;
}

void expect_reference(const Graph& graph, const Device& device,
                      const std::vector<NamedTensor>& inputs, const CompileOptions& options) {
  const Graph shaped = with_shapes(graph, options.batch);
  const std::vector<ReferenceTensor> expected = reference_outputs(shaped, inputs);
  const CompiledModel compiled = compile(to_model(graph), device, options);
  Session session(compiled);
  const std::vector<NamedTensor> got = session.run(inputs);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].name, graph.tensor(graph.outputs[i]).name);
    ASSERT_EQ(got[i].tensor.shape(), expected[i].shape) << got[i].name;
    expect_narrow(expected[i], got[i].name);
    const Comparison comparison = compare(expected[i], got[i].tensor.as<float>());
    ASSERT_TRUE(comparison.ok()) << "output " << i << " '" << got[i].name
                                 << "' is the first wrong one\n"
                                 << comparison.text
                                 << compiled.plan_text(CompiledModel::Detail::why);
  }
}

int programs_built(const Device& device) { return api::Inside::of(device)->programs().builds(); }

Model lenet() { return Model::load(MORTON_SOURCE_DIR "/models/lenet5.onnx"); }

}  // namespace morton::test
