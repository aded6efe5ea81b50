// SPDX-License-Identifier: Apache-2.0
//
// A network whose interim plan needs each kernel that interim plans are made of.
#include <string>
#include <vector>

#include "base/rooms.hpp"
#include "graph/architectures/layers.hpp"

namespace morton::graph {
namespace {

using Extents = std::vector<std::int64_t>;

constexpr Architecture kGenericKernels{"generic-kernels", "a layer for each generic kernel",
                                       nullptr};

/// Layers, each of which becomes an output of its own.
class Samples {
 public:
  Samples() : net_(kGenericKernels, 1) {}

  Graph build() {
    const Image image = net_.input(3, 40);
    convolutions(image);
    pools();
    rows();
    moves();
    Graph graph = net_.finish();
    graph.opset = 17;  // of LayerNormalization
    return graph;
  }

 private:
  RandomNetwork& network() { return net_.network(); }

  void output(TensorId id, const Extents& extents) {
    std::vector<Dimension> declared{{0, "batch"}};
    for (const std::int64_t extent : extents) declared.push_back({extent, ""});
    network().output(id, declared);
  }

  /// For blocks of 64, 32 and 16 channels, by channel, in groups, and of single pixels.
  void convolutions(const Image& image) {
    const Image wide =
        net_.relu6("wide/act", net_.conv_bias("wide", image, 64, {.size = 3, .pad = 1}));
    const Image half = net_.conv_bias("half", wide, 32, {.size = 3, .stride = 2, .pad = 1});
    const Image narrow = net_.conv_bias("narrow", wide, 16, {.size = 3, .pad = 1});
    image_ = net_.relu("narrow/act", narrow);
    output(image_.id, {16, 40, 40});
    for (const std::int64_t size : {3, 5}) {
      const std::string name = "depthwise" + std::to_string(size);
      const Filter filter{.size = size, .pad = size / 2, .groups = 32};
      const Image channels = net_.conv_bias(name, half, 32, filter);
      output(net_.conv_bias(name + "/pointwise", channels, 16, {}).id, {16, 20, 20});
    }
    output(
        net_.conv_bias("wide_groups", wide, 64, {.size = 3, .stride = 2, .pad = 1, .groups = 4}).id,
        {64, 20, 20});
    output(net_.conv_bias("groups", half, 32, {.size = 3, .pad = 1, .groups = 8}).id, {32, 20, 20});
    many_ = net_.conv_bias("many", net_.conv_bias("many/first", wide, 128, {}), 256, {.stride = 4});
    output(net_.conv_bias("many/last", many_, 128, {.size = 3, .pad = 1}).id, {128, 10, 10});
    output(net_.conv_bias("few", image, 6, {.size = 5, .pad = 2}).id, {6, 40, 40});
    output(network().node("ConvTranspose", "transposed",
                          {half.id, network().weights("transposed.weight", {32, 8, 2, 2}, 32)},
                          {{"strides", Extents{2, 2}}}),
           {8, 40, 40});
  }

  void pools() {
    output(net_.max_pool("max", image_, 3, 2, 1).id, {16, 20, 20});
    output(net_.average_pool("average", image_, 2).id, {16, 20, 20});
    // Few long rows, many short ones, and what reads one pixel.
    output(network().node("GlobalAveragePool", "global", {image_.id}), {16, 1, 1});
    const Image one = net_.apply("GlobalAveragePool", "global/many", many_);
    output(net_.conv_bias("pixel", one, 16, {}).id, {16, 1, 1});
    const TensorId sizes = network().list("resize.sizes", {1, 16, 80, 80});
    for (const char* mode : {"nearest", "linear"}) {
      output(
          network().node("Resize", std::string("resize/") + mode,
                         {image_.id, kNoTensor, kNoTensor, sizes}, {{"mode", std::string(mode)}}),
          {16, 80, 80});
    }
  }

  /// Products and what works along rows.
  void rows() {
    const TensorId rows =
        network().node("Reshape", "rows", {image_.id, network().list("rows.shape", {0, 16, 1600})});
    const TensorId dense = network().node(
        "MatMul", "dense", {rows, network().weights("dense.weight", {1600, 96}, 1600, 1.0)});
    output(network().node("Softmax", "softmax", {dense}, {{"axis", std::int64_t{-1}}}), {16, 96});
    output(network().node("Softmax", "columns", {dense}, {{"axis", std::int64_t{1}}}), {16, 96});
    const TensorId turned =
        network().node("Transpose", "turned", {dense}, {{"perm", Extents{0, 2, 1}}});
    output(network().node("MatMul", "scores", {dense, turned}), {16, 16});
    output(network().node("LayerNormalization", "normalised",
                          {dense, network().positive("normalised.scale", {96}, 0.1),
                           network().biases("normalised.bias", {96})}),
           {16, 96});
    for (const char* op : {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum"}) {
      const bool by_input = std::string(op) == "ReduceSum";
      std::vector<TensorId> inputs{dense};
      std::map<std::string, Attribute> attributes;
      if (by_input) {
        inputs.push_back(network().list("ReduceSum.axes", {2}));
      } else {
        attributes.emplace("axes", Extents{2});
      }
      output(network().node(op, op, inputs, attributes), {16, 1});
    }
    const Image flat{net_.apply("Flatten", "flat", image_).id, 16 * 1600};
    output(net_.dense("classes", flat, 10).id, {10});
    // A product that fills a large device.
    const TensorId long_rows =
        network().node("Transpose", "long", {rows}, {{"perm", Extents{0, 2, 1}}});
    const TensorId wide =
        network().node("MatMul", "wide_rows",
                       {long_rows, network().weights("wide_rows.weight", {16, 512}, 16, 1.0)});
    output(network().node("MatMul", "product",
                          {wide, network().weights("product.weight", {512, 512}, 512, 1.0)}),
           {1600, 512});
    output(network().node(
               "MatMul", "products",
               {network().node("Transpose", "wide_columns", {wide}, {{"perm", Extents{0, 2, 1}}}),
                wide}),
           {512, 512});
    const Image few{net_.apply("Flatten", "flat/many", many_).id, 25600};
    output(net_.dense("hidden", net_.dense("hidden/first", few, 64), 4096).id, {4096});
  }

  void moves() {
    output(net_.concat("joined", {image_, image_}).id, {32, 40, 40});
    output(net_.add("sum", image_, net_.silu("silu", image_)).id, {16, 40, 40});
  }

  Layers net_;
  Image image_;  ///< 16 x 40 x 40
  Image many_;   ///< 256 x 10 x 10
};

}  // namespace

Graph generic_kernels_network() { return Samples().build(); }

}  // namespace morton::graph
