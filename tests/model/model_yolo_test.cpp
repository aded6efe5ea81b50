// SPDX-License-Identifier: Apache-2.0
//
// Detection with NonMaxSuppression inside: how many boxes there are only the image says.
#include <set>
#include <utility>

#include "model/model_check.hpp"
#include "morton/architectures.hpp"
#include "morton/compare.hpp"
#include "support/devices.hpp"
#include "support/networks.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::int64_t kSide = 64;

class ModelYolo : public ModelTest {
 protected:
  CompiledModel compiled(std::int64_t batch) const {
    CompileOptions options;
    options.shapes["input"] = {batch, 3, kSide, kSide};
    return compile(new_model("yolov8n", 1), device(), options);
  }
};
MORTON_MODELS_ON_EVERY_DEVICE(ModelYolo);

/// From -contrast to contrast. Small images need more than 1 before any box scores enough.
std::vector<NamedTensor> image(double contrast, std::uint64_t seed, std::int64_t batch = 1) {
  Tensor pixels = random_tensor({batch, 3, kSide, kSide}, seed);
  for (std::int64_t e = 0; e < pixels.size(); ++e) pixels.set(e, contrast * pixels.at(e));
  return {{"input", std::move(pixels)}};
}

std::int64_t detections(const std::vector<NamedTensor>& outputs) {
  const std::int64_t count = outputs.at(1).tensor.shape().at(0);
  EXPECT_EQ(outputs[0].tensor.shape(), (Shape{count, 4}));
  EXPECT_EQ(outputs.at(2).tensor.shape(), Shape{count});
  EXPECT_EQ(outputs.at(3).tensor.shape(), Shape{count});
  return count;
}

void expect_equal(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].tensor.shape(), b[i].tensor.shape()) << a[i].name;
    for (std::int64_t e = 0; e < a[i].tensor.size(); ++e) {
      ASSERT_EQ(a[i].tensor.at(e), b[i].tensor.at(e)) << a[i].name << ", element " << e;
    }
  }
}

TEST_P(ModelYolo, EveryLayerIsRight) {
  const CompiledModel model = compiled(2);
  const auto inputs = image(1.3, 60, 2);
  ASSERT_GT(detections(Session(model).run(inputs)), 0);
  const LayerReport report =
      compare_layers(model, inputs, {.most_multiplications = std::int64_t{1} << 22});
  std::set<std::string> names;
  for (const LayerComparison& layer : report.layers) {
    names.insert(layer.name);
    EXPECT_EQ(layer.wrong, 0) << layer.name << " by " << layer.kernels.back() << ": "
                              << layer.first_wrong;
    if (layer.dtype != DType::f32 || !layer.name.starts_with("model.")) continue;
    EXPECT_GT(layer.deviation, 1e-3) << layer.name;
    EXPECT_LT(layer.deviation, 1e3) << layer.name;
  }
  for (const PortInfo& port : model.outputs()) EXPECT_TRUE(names.contains(port.name)) << port.name;
}

/// Best first within a class, and each from an image of the batch.
TEST_P(ModelYolo, DetectionsAreOfAllImagesInOrder) {
  const auto outputs = Session(compiled(2)).run(image(1.3, 61, 2));
  const std::int64_t count = detections(outputs);
  std::set<double> images;
  for (std::int64_t i = 0; i < count; ++i) {
    const double score = outputs[1].tensor.at(i);
    EXPECT_GT(score, 0.25);
    images.insert(outputs[3].tensor.at(i));
    if (i == 0) continue;
    const auto place = [&](std::int64_t at) {
      return std::pair(outputs[3].tensor.at(at), outputs[2].tensor.at(at));
    };
    EXPECT_LE(place(i - 1), place(i));
    const bool is_next = place(i - 1) == place(i);
    EXPECT_TRUE(!is_next || outputs[1].tensor.at(i - 1) >= score) << i;
  }
  EXPECT_EQ(images, (std::set<double>{0.0, 1.0}));
}

TEST_P(ModelYolo, OneSessionServesEveryImage) {
  const CompiledModel model = compiled(1);
  Session session(model);
  const auto first = session.run(image(1.3, 62));
  const std::string plan = model.steps_digest();
  const int built = programs_built(device());
  const auto second = session.run(image(1.3, 63));
  const auto none = session.run(image(0.25, 64));
  const auto again = session.run(image(1.3, 62));
  EXPECT_EQ(programs_built(device()), built);
  EXPECT_EQ(model.latest().steps_digest(), plan);
  EXPECT_GT(detections(first), 0);
  EXPECT_GT(detections(second), 0);
  EXPECT_NE(detections(first), detections(second));
  EXPECT_EQ(detections(none), 0);
  expect_equal(first, again);
  expect_equal(second, Session(model).run(image(1.3, 63)));
}

}  // namespace
}  // namespace morton::test
