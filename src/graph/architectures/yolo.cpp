// SPDX-License-Identifier: Apache-2.0
//
// YOLOv8: a backbone, features of three sizes, and boxes of which few are kept.
#include <iterator>
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/architectures/layers.hpp"

namespace morton::graph {
namespace {

constexpr std::int64_t kYoloClasses = 80;
/// A distance is the mean of so many bins, weighted by their shares.
constexpr std::int64_t kYoloBins = 16;
/// Channels between the features and the distances of a box.
constexpr std::int64_t kYoloBoxWidth = 4 * kYoloBins;
constexpr std::int64_t kYoloStrides[] = {8, 16, 32};
constexpr double kYoloEpsilon = 1e-3;
/// Around this lie the scales of a branch that is added to its input.
constexpr double kYoloBranchScale = 0.5;
/// Of weights that read the image, whose numbers lie between -1 and 1.
constexpr double kYoloImageGain = 3.0;
/// Of weights that read sums beside what was added, and of those that read maxima over many pixels.
constexpr double kYoloSumGain = 2.4;
constexpr double kYoloPooledGain = 0.35;
/// Logits of classes lie far apart around a low mean. So some boxes of a random image score enough,
/// and most do not.
constexpr double kYoloClassMean = -5.0;
constexpr double kYoloClassGain = 8.4;
constexpr std::int64_t kYoloMostBoxes = 300;  ///< of a class in an image
constexpr float kYoloLeastScore = 0.25F;
constexpr float kYoloMostOverlap = 0.7F;

/// Whether convolutions add to their input.
enum class YoloBranch : std::uint8_t { added, alone };

/// Writes the network up to the features, with the names of the modules in Ultralytics.
class YoloFeatures {
 public:
  explicit YoloFeatures(Layers& net) : net_(net) {}

  /// Convolution, normalisation, SiLU.
  Image conv(const std::string& name, const Image& x, std::int64_t out, const Filter& filter,
             double scale = 1.0) {
    const Image sums = net_.conv(name + ".conv", x, out, filter);
    return net_.silu(name + ".act", net_.batch_norm(name + ".bn", sums, scale, kYoloEpsilon));
  }
  Image conv3(const std::string& name, const Image& x, std::int64_t out, std::int64_t stride = 1) {
    return conv(name, x, out, {.size = 3, .stride = stride, .pad = 1, .gain = Gain::kSilu});
  }

  /// Features at 8, 16 and 32 pixels.
  std::vector<Image> build() {
    Image x = conv("model.0", net_.input(3), 16,
                   {.size = 3, .stride = 2, .pad = 1, .gain = kYoloImageGain});
    x = block("model.2", conv3("model.1", x, 32, 2), 32, 1, YoloBranch::added);
    const Image small = block("model.4", conv3("model.3", x, 64, 2), 64, 2, YoloBranch::added);
    const Image middle =
        block("model.6", conv3("model.5", small, 128, 2), 128, 2, YoloBranch::added);
    x = block("model.8", conv3("model.7", middle, 256, 2), 256, 1, YoloBranch::added);
    const Image large = pyramid_pool("model.9", x);

    const Image middle_up =
        block("model.12", joined("model.11", doubled("model.10", large), middle), 128, 1,
              YoloBranch::alone);
    const Image first = block("model.15", joined("model.14", doubled("model.13", middle_up), small),
                              64, 1, YoloBranch::alone);
    x = joined("model.17", conv3("model.16", first, 64, 2), middle_up);
    const Image second = block("model.18", x, 128, 1, YoloBranch::alone);
    x = joined("model.20", conv3("model.19", second, 128, 2), large);
    return {first, second, block("model.21", x, 256, 1, YoloBranch::alone)};
  }

 private:
  /// C2f: half of the channels go through convolutions one behind the other, and all that these
  /// give is read together. Each adds to its input where the backbone wants it.
  Image block(const std::string& name, const Image& x, std::int64_t out, int depth,
              YoloBranch branch) {
    const bool is_added = branch == YoloBranch::added;
    const Image both = conv(name + ".cv1", x, out, {.gain = Gain::kSilu});
    const std::vector<TensorId> halves =
        net_.network().node_of(2, "Split", name + "/Split",
                               {both.id, net_.network().list(name + ".halves", {out / 2, out / 2})},
                               {{"axis", std::int64_t{1}}});
    std::vector<Image> parts{{halves[0], out / 2}, {halves[1], out / 2}};
    for (int i = 0; i < depth; ++i) {
      const std::string inner = name + ".m." + std::to_string(i);
      const Image& before = parts.back();
      Image y = conv3(inner + ".cv1", before, out / 2);
      y = conv(inner + ".cv2", y, out / 2, {.size = 3, .pad = 1, .gain = Gain::kSilu},
               is_added ? kYoloBranchScale : 1.0);
      parts.push_back(is_added ? net_.add(inner + "/Add", before, y) : y);
    }
    return conv(name + ".cv2", net_.concat(name + "/Concat", parts), out,
                {.gain = is_added ? kYoloSumGain : Gain::kSilu});
  }

  /// SPPF: maxima of 5x5, 9x9 and 13x13 pixels beside the pixel.
  Image pyramid_pool(const std::string& name, const Image& x) {
    std::vector<Image> parts{conv(name + ".cv1", x, x.channels / 2, {.gain = Gain::kSilu})};
    for (int i = 0; i < 3; ++i) {
      parts.push_back(
          net_.max_pool(name + ".m/MaxPool_" + std::to_string(i), parts.back(), 5, 1, 2));
    }
    return conv(name + ".cv2", net_.concat(name + "/Concat", parts), x.channels,
                {.gain = kYoloPooledGain});
  }

  /// Each pixel four times.
  Image doubled(const std::string& name, const Image& x) {
    RandomNetwork& network = net_.network();
    const TensorId scales = network.constant(
        name + ".scales", Tensor::from({4}, std::vector<float>{1.0F, 1.0F, 2.0F, 2.0F}));
    return {network.node("Resize", name, {x.id, kNoTensor, scales},
                         {{"mode", std::string("nearest")},
                          {"coordinate_transformation_mode", std::string("asymmetric")},
                          {"nearest_mode", std::string("floor")}}),
            x.channels};
  }

  Image joined(const std::string& name, const Image& a, const Image& b) {
    return net_.concat(name, {a, b});
  }

  Layers& net_;
};

/// Writes what makes boxes of the features.
class YoloHead {
 public:
  YoloHead(Layers& net, YoloFeatures& layers) : layers_(layers), network_(net.network()) {}

  void build(const std::vector<Image>& features) {
    std::vector<TensorId> levels, places, strides;
    for (std::size_t l = 0; l < features.size(); ++l) {
      const std::string level = std::to_string(l);
      levels.push_back(predictions(level, features[l]));
      places.push_back(anchors(name_ + ".anchors." + level, features[l].id));
      strides.push_back(stride_of(name_ + ".strides." + level, places.back(), kYoloStrides[l]));
    }
    const TensorId all = joined(name_ + "/Concat", levels, 2);
    const std::vector<TensorId> parts = split(name_ + "/Split", all, {kYoloBoxWidth, kYoloClasses});
    const TensorId scores = network_.node("Sigmoid", name_ + "/Sigmoid", {parts[1]});
    TensorId boxes = corners(distances(parts[0]), joined(name_ + ".anchors", places, 1));
    boxes = network_.node("Mul", name_ + "/Mul", {boxes, joined(name_ + ".strides", strides, 0)});
    boxes = network_.node("Transpose", name_ + "/Transpose", {boxes},
                          {{"perm", std::vector<std::int64_t>{0, 2, 1}}});
    give_kept(boxes, scores);
  }

 private:
  TensorId joined(const std::string& name, const std::vector<TensorId>& parts, std::int64_t axis) {
    return network_.node("Concat", name, parts, {{"axis", axis}});
  }
  /// Along the channels.
  std::vector<TensorId> split(const std::string& name, TensorId x,
                              const std::vector<std::int64_t>& parts) {
    return network_.node_of(parts.size(), "Split", name, {x, network_.list(name + ".parts", parts)},
                            {{"axis", std::int64_t{1}}});
  }
  TensorId reshaped(const std::string& name, TensorId x, const std::vector<std::int64_t>& extents) {
    return network_.node("Reshape", name, {x, network_.list(name + ".shape", extents)});
  }
  TensorId gathered(const std::string& name, TensorId x, TensorId index, std::int64_t axis) {
    return network_.node("Gather", name, {x, index}, {{"axis", axis}});
  }

  /// A 1x1 convolution whose biases lie around `mean`.
  TensorId last_conv(const std::string& name, const Image& x, std::int64_t out, double gain,
                     double mean) {
    const TensorId weights =
        network_.weights(name + ".weight", {out, x.channels, 1, 1}, x.channels, gain);
    const TensorId biases = network_.normal(name + ".bias", {out}, mean, 0.1);
    return network_.node("Conv", name, {x.id, weights, biases},
                         {{"kernel_shape", std::vector<std::int64_t>{1, 1}}});
  }

  /// Bins and classes of each pixel of a level: batch x 144 x pixels.
  TensorId predictions(const std::string& level, const Image& x) {
    const auto branch = [&](const std::string& name, std::int64_t width) {
      return layers_.conv3(name + ".1", layers_.conv3(name + ".0", x, width), width);
    };
    const std::string box = name_ + ".cv2." + level;
    const std::string classes = name_ + ".cv3." + level;
    const TensorId bins =
        last_conv(box + ".2", branch(box, kYoloBoxWidth), kYoloBoxWidth, Gain::kSilu, 1.0);
    const TensorId logits = last_conv(classes + ".2", branch(classes, kYoloClasses), kYoloClasses,
                                      kYoloClassGain, kYoloClassMean);
    const std::string both = name_ + ".level." + level;
    return reshaped(both + "/Reshape", joined(both + "/Concat", {bins, logits}, 1),
                    {0, kYoloBoxWidth + kYoloClasses, -1});
  }

  /// How far the sides lie from the anchor, in strides: the mean bin (DFL).
  TensorId distances(TensorId bins) {
    const std::string name = name_ + ".dfl";
    TensorId x = reshaped(name + "/Reshape", bins, {0, 4, kYoloBins, -1});
    x = network_.node("Transpose", name + "/Transpose", {x},
                      {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
    x = network_.node("Softmax", name + "/Softmax", {x}, {{"axis", std::int64_t{1}}});
    Tensor numbers = Tensor::allocate(DType::f32, {1, kYoloBins, 1, 1});
    for (std::int64_t i = 0; i < kYoloBins; ++i) numbers.set(i, static_cast<double>(i));
    const TensorId weights = network_.constant(name + ".conv.weight", std::move(numbers));
    x = network_.node("Conv", name + ".conv", {x, weights},
                      {{"kernel_shape", std::vector<std::int64_t>{1, 1}}});
    return reshaped(name + "/Reshape_1", x, {0, 4, -1});
  }

  /// The upper left corner and the lower right one, in strides.
  TensorId corners(TensorId far, TensorId anchors) {
    const std::vector<TensorId> sides = split(name_ + ".sides", far, {2, 2});
    return joined(name_ + ".corners",
                  {network_.node("Sub", name_ + "/Sub", {anchors, sides[0]}),
                   network_.node("Add", name_ + "/Add", {anchors, sides[1]})},
                  1);
  }

  /// The middles of a level's pixels: x above y, in strides. Image size is open, so they are
  /// computed from the features' shape, as PyTorch writes it.
  TensorId anchors(const std::string& name, TensorId features) {
    const TensorId shape = network_.node("Shape", name + "/Shape", {features});
    const TensorId area = network_.node(
        "Slice", name + "/area",
        {shape, network_.list(name + ".from", {2}), network_.list(name + ".to", {4})});
    const auto middles = [&](const std::string& axis, std::int64_t dimension) {
      const std::string here = name + "." + axis;
      const TensorId extent =
          gathered(here + "/Gather", shape, network_.index(here + ".index", dimension), 0);
      TensorId x = network_.node(
          "Range", here + "/Range",
          {network_.index(here + ".first", 0), extent, network_.index(here + ".step", 1)});
      x = network_.node("Cast", here + "/Cast", {x}, {{"to", std::int64_t{1}}});
      return network_.node("Add", here, {x, network_.filled(here + ".half", {}, 0.5F)});
    };
    const auto everywhere = [&](const std::string& what, TensorId x) {
      x = network_.node("Expand", name + "/Expand_" + what, {x, area});
      return reshaped(name + "/Reshape_" + what, x, {1, -1});
    };
    const TensorId rows = network_.node("Unsqueeze", name + "/Unsqueeze",
                                        {middles("y", 2), network_.list(name + ".axes", {1})});
    return joined(name, {everywhere("x", middles("x", 3)), everywhere("y", rows)}, 0);
  }

  /// The level's stride for each of its anchors.
  TensorId stride_of(const std::string& name, TensorId anchors, std::int64_t stride) {
    const TensorId shape = network_.node("Shape", name + "/Shape", {anchors});
    const TensorId number =
        gathered(name + "/Gather", shape, network_.list(name + ".second", {1}), 0);
    const TensorId one = network_.filled(name + ".one", {1}, static_cast<float>(stride));
    return network_.node("Expand", name, {one, number});
  }

  /// The boxes that no better one of their class covers, class by class.
  void give_kept(TensorId boxes, TensorId scores) {
    const TensorId kept = network_.node("NonMaxSuppression", "nms",
                                        {boxes, scores, network_.list("nms.most", {kYoloMostBoxes}),
                                         network_.filled("nms.overlap", {1}, kYoloMostOverlap),
                                         network_.filled("nms.score", {1}, kYoloLeastScore)});
    const TensorId places =
        gathered("nms/places", kept, network_.list("nms.image_and_box", {0, 2}), 1);
    const Dimension count{0, "detections"};
    network_.output(network_.node("GatherND", "selected", {boxes, places}), {count, {4, ""}});
    network_.output(network_.node("GatherND", "scores", {scores, kept}), {count});
    network_.output(gathered("classes", kept, network_.index("nms.class", 1), 1), {count},
                    DType::i64);
    network_.output(gathered("images", kept, network_.index("nms.image", 0), 1), {count},
                    DType::i64);
  }

  const std::string name_ = "model.22";
  YoloFeatures& layers_;
  RandomNetwork& network_;
};

}  // namespace

/// G. Jocher et al., *Ultralytics YOLOv8* (2023), the nano model of its yolov8.yaml: depth 0.33,
/// width 0.25, at most 1024 channels. Behind it is NonMaxSuppression.
Graph yolov8n(const Architecture& architecture, std::uint64_t seed) {
  Layers net(architecture, seed);
  YoloFeatures features(net);
  YoloHead(net, features).build(features.build());
  return net.finish();
}

}  // namespace morton::graph
