// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "reproduce/answers/answers.hpp"
#include "reproduce/answers/parts.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/products.hpp"
#include "reproduce/published_layers.hpp"
#include "reproduce/readers.hpp"

namespace morton::cli {
namespace {

const char* const kTwoClocks =
    "Totals are on the host's clock and parts on the device's, each a median of its own: parts may "
    "exceed their total by a little.";

std::vector<std::string> lenet_command(const std::string& path, Scale scale) {
  std::vector<std::string> command{"profile", "r18-lenet", "--batch", "100",
                                   "--conv",  path,        "-n",      samples_text(scale)};
  // A transposed product cannot start from its biases.
  if (path == "clblast") command.insert(command.end(), {"--exclude", "gemm.swapped"});
  return command;
}

Experiment table_5_3(Scale scale) {
  const PublishedNetwork& network = published_network("lenet5");
  const std::vector<PublishedLayer> layers = layers_named(network, "");
  Experiment e{
      .source = "r18",
      .id = "table-5.3",
      .where = "section 5.2, tables 5.1 to 5.3 and figure 5.5",
      .title = "LeNet of a library's routines",
      .question =
          "A convolution can be composed of a library's routines: unfold the image, then "
          "multiply. What does each routine take in a small network?",
      .method =
          "LeNet, with sigmoids and up to F6 as R18 has it, runs on 100 images by CLBlast's "
          "routines. The total is on the host's clock, "
          "each step waited for; its parts are on the device's.",
      .row_heading = "layer",
      .rows = names_of(layers),
      .columns =
          {{"total", "ms", Origin::published, published_column(network, "CLBlast", layers)},
           {"xIM2COL",
            "ms",
            Origin::published,
            {102.78, 97.20, 101.46, 96.68, kNotPublished, kNotPublished}},
           {"xCOPY", "ms", Origin::published, {77.07, 76.48, 76.52, 76.32, 76.04, 75.96}},
           {"product", "ms", Origin::published, {541.29, 406.10, 503.32, 377.48, 340.49, 329.36}}},
      .published =
          "R18's sum is 3354.55 ms. The product is xGEMMBATCHED of C1 to S4, xGEMM of F5 and F6.",
      .notes = {"R18's times are mostly CLBlast's cost of a call there, about 76 ms in each of 16 "
                "calls.",
                kTwoClocks,
                "Without gemm.swapped, F5 and F6 start from their biases by xCOPY, as in R18.",
                "Images are of 32 x 32."},
      .answer = all_of({sum_beside_published("total", "LeNet of CLBlast's routines"),
                        sum_beside_published("xIM2COL", "Unfolding"),
                        sum_beside_published("xCOPY", "Copying"),
                        sum_beside_published("product", "The product")}),
      .share = 2.0};
  Cell cell{lenet_command("clblast", scale), {}};
  add_layer_places(layers, 0, LayerClock::wall, cell);
  add_layer_places(layers, 2, LayerClock::copying, cell);
  add_layer_places(layers, 3, LayerClock::routines_of_product, cell);
  const std::vector<PublishedLayer> unfolded(layers.begin(), layers.begin() + 4);
  add_layer_places(unfolded, 1, LayerClock::unfolding, cell);
  e.cells.push_back(std::move(cell));
  return e;
}

Experiment table_6_2(Scale scale) {
  const PublishedNetwork& network = published_network("lenet5");
  const std::vector<PublishedLayer> layers = layers_named(network, "");
  Experiment e{
      .source = "r18",
      .id = "table-6.2",
      .where = "section 6.2, table 6.2 and figure 6.1",
      .title = "LeNet of own kernels",
      .question =
          "Is LeNet faster if each layer is one plain kernel of its own, without a library?",
      .method =
          "LeNet, with sigmoids and up to F6 as R18 has it, runs on 100 images, once by CLBlast's "
          "routines and once by R18's baseline "
          "kernels. Overhead is the host's time without the kernels', where it is the longer: the "
          "two clocks see different runs.",
      .row_heading = "layer",
      .rows = names_of(layers),
      .columns =
          {{"CLBlast", "ms", Origin::published, published_column(network, "CLBlast", layers)},
           {"baseline", "ms", Origin::published, published_column(network, "baseline", layers)},
           {"its kernels", "ms", Origin::published,
            published_column(network, "baseline, kernels", layers)},
           {"overhead", "ms", Origin::published, {20.32, 16.28, 19.77, 16.72, 29.70, 30.15}}},
      .published =
          "R18's sums are 3354.55 ms (CLBlast), 194.31 (baseline), 61.37 (its kernels) and 132.94 "
          "(overhead): 17.26 times as fast.",
      .notes = {kTwoClocks,
                "\"Not given\" is an overhead where the kernels' clock shows more than the host's.",
                "R18's 17 times are mostly CLBlast's cost of a call there, about 76 ms.",
                "R18's baseline sums doubles, ours floats."},
      .share = 1.0};
  Cell clblast{lenet_command("clblast", scale), {}};
  add_layer_places(layers, 0, LayerClock::wall, clblast);
  Cell baseline{lenet_command("naive", scale), {}};
  add_layer_places(layers, 1, LayerClock::wall, baseline);
  add_layer_places(layers, 2, LayerClock::kernels, baseline);
  add_layer_places(layers, 3, LayerClock::overhead, baseline);
  e.cells = {std::move(baseline), std::move(clblast)};
  e.answer = [](const Finding& finding) -> std::string {
    double sums[3] = {0.0, 0.0, 0.0};
    for (std::size_t row = 0; row < finding.experiment->rows.size(); ++row) {
      for (std::size_t column = 0; column < 3; ++column) {
        const auto value = finding.ours(row, column);
        if (!value) return "";
        sums[column] += *value;
      }
    }
    const double ratio = sums[0] / sums[1];
    const char* verdict = ratio > 1.0 + kLeastDifference         ? "yes"
                          : 1.0 / ratio > 1.0 + kLeastDifference ? "no"
                                                                 : "no difference";
    return fmt::format(
        "Here {}, in R18 yes: the baseline is {} times as fast as CLBlast's routines here; R18 "
        "published 17.26 times. Kernels are {} of the baseline's time here, and 32 % in R18.",
        verdict, ratio_text(ratio),
        sums[2] < sums[1] ? fmt::format("{:.0f} %", 100.0 * sums[2] / sums[1]) : "all");
  };
  return e;
}

}  // namespace

std::vector<Experiment> r18_lenet(Scale scale) { return {table_5_3(scale), table_6_2(scale)}; }

}  // namespace morton::cli
