// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "reproduce/answers/answers.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/published_layers.hpp"
#include "reproduce/readers.hpp"

namespace morton::cli {
namespace {

const char* const kVggClocks =
    "The first column is on the host's clock and its parts on the device's: parts may exceed it, "
    "by "
    "as much as two runs differ.";
const char* const kHostClock = "All times are on the host's clock, each step waited for.";
const char* const kOneRun =
    "VGG-16 runs on one image of 224 x 224, its weights random, each path profiled once: a layer's "
    "time differs by 10 % from run to run.";

std::vector<std::string> vgg_command(const std::string& path) {
  return {"profile", "vgg16", "--conv", path, "-n", "1", "--warmup", "0ms"};
}

/// A column of one path: published of R18, and its cell.
void add_path(const std::string& name, const std::string& column, const std::string& path,
              const std::vector<PublishedLayer>& layers, Scale scale, Experiment& e) {
  e.columns.push_back({name, "ms", Origin::published,
                       published_column(published_network("vgg16"), column, layers)});
  // Making and loading the weights alone takes ten seconds.
  if (path.empty() || scale == Scale::quick) return;
  Cell cell{vgg_command(path), {}};
  add_layer_places(layers, e.columns.size() - 1, LayerClock::wall, cell);
  e.cells.push_back(std::move(cell));
}

void note_quick(Scale scale, Experiment& e) {
  if (scale == Scale::full) return;
  e.notes.insert(e.notes.begin(), "--quick leaves VGG-16 out: half a minute and more a path.");
}

Experiment table_5_4(Scale scale) {
  const PublishedNetwork& network = published_network("vgg16");
  std::vector<PublishedLayer> layers = layers_named(network, "conv");
  for (const PublishedLayer& layer : layers_named(network, "fc")) layers.push_back(layer);
  Experiment e{
      .source = "r18",
      .id = "table-5.4",
      .where = "section 5.3 and appendix A, tables 5.4, 5.5 and A.1, figure 5.7",
      .title = "VGG-16 of a library's routines",
      .question = "What do a library's routines take in a large network?",
      .method = kOneRun,
      .row_heading = "layer",
      .rows = names_of(layers),
      .published =
          "R18's sum is 17402.47 ms, 16.14 s of it for the 13 convolutions. The product is xGEMM "
          "or "
          "xGEMV.",
      .notes =
          {kVggClocks,
           "R18's CLBlast could not pad, so R18 measured larger images. Ours are padded truly.",
           "Pools and ReLUs are not in R18's sum."},
      .answer = all_of({sum_beside_published("CLBlast", "VGG-16 of CLBlast's routines"),
                        sum_beside_published("xIM2COL", "Unfolding"),
                        sum_beside_published("xCOPY", "Copying"),
                        sum_beside_published("product", "The product")}),
      .share = 6.0};
  add_path("CLBlast", "CLBlast", "clblast", layers, scale, e);
  e.columns.push_back({"xIM2COL",
                       "ms",
                       Origin::published,
                       {164.29, 228.71, 128.30, 162.25, 111.61, 128.35, 128.51, 103.27, 111.50,
                        111.55, 98.30, 98.09, 98.09, kNotPublished, kNotPublished, kNotPublished}});
  e.columns.push_back({"xCOPY",
                       "ms",
                       Origin::published,
                       {106.85, 105.69, 98.80, 98.89, 95.16, 95.11, 95.20, 92.68, 92.54, 92.74,
                        92.11, 92.11, 92.01, 91.69, 91.83, 75.62}});
  e.columns.push_back({"product",
                       "ms",
                       Origin::published,
                       {603.59, 1028.49, 667.77, 996.16, 589.99, 893.54, 894.06, 576.75, 848.05,
                        846.47, 1756.07, 1757.09, 1756.29, 585.50, 223.75, 197.03}});
  if (scale == Scale::full) {
    add_layer_places(layers_named(network, "conv"), 1, LayerClock::unfolding, e.cells.front());
    add_layer_places(layers, 2, LayerClock::copying, e.cells.front());
    add_layer_places(layers, 3, LayerClock::routines_of_product, e.cells.front());
  }
  note_quick(scale, e);
  return e;
}

Experiment figure_7_1(Scale scale) {
  Experiment e{
      .source = "r18",
      .id = "figure-7.1",
      .where = "section 7.1, figure 7.1",
      .title = "VGG-16 of plain kernels",
      .question = "How long does a large network take with one plain kernel for each layer?",
      .method = kOneRun,
      .row_heading = "layers",
      .rows = {"all"},
      .columns = {{"baseline", "ms", Origin::published, {44240}}},
      .published = "The figure's values by layer are not available; the total is in the text.",
      .answer = beside_published("baseline"),
      .share = 3.0};
  if (scale == Scale::full) {
    e.cells.push_back(
        {vgg_command("naive"), {{0, 0, number_at("clocks/host_end_to_end_unmeasured_ms")}}});
  }
  note_quick(scale, e);
  return e;
}

Experiment table_7_2(Scale scale) {
  const std::vector<PublishedLayer> layers = layers_named(published_network("vgg16"), "conv");
  Experiment e{
      .source = "r18",
      .id = "table-7.2",
      .where = "section 7.2, table 7.2 and figure 7.2",
      .title = "layouts, work-groups and vectors for a convolution",
      .question =
          "How much does a convolution gain if channels lie side by side, if work-groups fit, "
          "and if it reads vectors?",
      .method = kOneRun,
      .row_heading = "layer",
      .rows = names_of(layers),
      .published =
          "R18's sums are 6.16 s (vectorised), 20.83 (layouts and groups), 41.81 (baseline) and "
          "16.14 (CLBlast). It prints seconds with two decimals.",
      .notes = {kHostClock},
      .answer = all_of({speed_ratio_of_sums("layouts and groups", "baseline"),
                        speed_ratio_of_sums("vectorised", "layouts and groups"), fastest_sum(),
                        sum_beside_published("vectorised", "The vectorised path")}),
      .share = 6.0};
  add_path("vectorised", "vectorised", "vectorised", layers, scale, e);
  add_path("layouts and groups", "NHWC", "nhwc", layers, scale, e);
  add_path("baseline", "baseline", "naive", layers, scale, e);
  add_path("CLBlast", "CLBlast", "clblast", layers, scale, e);
  note_quick(scale, e);
  return e;
}

Experiment table_7_3(Scale scale) {
  const PublishedNetwork& network = published_network("vgg16");
  const std::vector<PublishedLayer> layers = layers_named(network, "conv");
  Experiment e{
      .source = "r18",
      .id = "table-7.3",
      .where = "section 7.3.3, table 7.3, figures 7.3 and 7.4",
      .title = "a convolution as a product in Morton layout",
      .question =
          "If a convolution unfolds its image and multiplies in Morton layout, which share of "
          "its time is the product itself?",
      .method = kOneRun,
      .row_heading = "layer",
      .rows = names_of(layers),
      .columns = {{"products", "ms", Origin::published,
                   published_column(network, "its products", layers)},
                  {"the rest",
                   "ms",
                   Origin::published,
                   {247.68, 260.60, 131.23, 217.93, 120.89, 158.73, 159.91, 117.25, 151.99, 152.32,
                    135.34, 135.47, 136.41}}},
      .published =
          "R18's sums are 2599.93 ms (products) and 2125.75 (the rest): products are 55 % of the "
          "13 "
          "convolutions.",
      .notes = {"Times are on the device's clock.",
                "Section 7.3.1 has a mistake: I_h is X_d F_h F_w, as appendix D has it.",
                "Section 7.3.3 says 4.75 s, its table 4.73.",
                "The lower bound there rests on 13.5 GFLOPS \"at the least\"; R17's table 8.2 has "
                "13.04 at 96."},
      .share = 3.0};
  if (scale == Scale::full) {
    Cell cell{vgg_command("morton"), {}};
    add_layer_places(layers, 0, LayerClock::products, cell);
    add_layer_places(layers, 1, LayerClock::rest, cell);
    e.cells.push_back(std::move(cell));
  }
  e.answer = [](const Finding& finding) -> std::string {
    double products = 0.0, rest = 0.0;
    for (std::size_t row = 0; row < finding.experiment->rows.size(); ++row) {
      products += finding.ours(row, 0).value_or(0.0);
      rest += finding.ours(row, 1).value_or(0.0);
    }
    if (products + rest <= 0.0) return "";
    return fmt::format("Products are {:.0f} % of the convolutions' kernels here, and 55 % in R18.",
                       100.0 * products / (products + rest));
  };
  note_quick(scale, e);
  return e;
}

Experiment table_7_4(Scale scale) {
  const std::vector<PublishedLayer> layers = layers_named(published_network("vgg16"), "");
  Experiment e{
      .source = "r18",
      .id = "table-7.4",
      .where = "section 7.5, table 7.4 and figure 7.5",
      .title = "VGG-16, all ways side by side",
      .question =
          "Which way is the fastest for a large network: a library, vectors, or Morton "
          "products?",
      .method = kOneRun,
      .row_heading = "layer",
      .rows = names_of(layers),
      .published =
          "R18's sums are 5662.23 ms (Morton), 7166.46 (vectorised), 17402.47 (CLBlast) and 8030 "
          "(Loukadakis et al.).",
      .notes =
          {kHostClock,
           "Table 7.4's 3.07 and 1.42 compare unlike sets of layers. Like for like, Morton is "
           "3.18 times as fast as CLBlast, without the pools.",
           "Over Loukadakis et al. it is 1.82 on 12 convolutions, and the vectorised way 1.32."},
      .answer = all_of({fastest_sum(), speed_ratio_of_sums("Morton", "CLBlast"),
                        speed_ratio_of_sums("Morton", "vectorised"),
                        sum_beside_published("Morton", "The path of Morton products")}),
      .share = 3.0};
  add_path("Morton", "Morton", "morton", layers, scale, e);
  add_path("vectorised", "vectorised", "vectorised", layers, scale, e);
  add_path("CLBlast", "CLBlast", "clblast", layers, scale, e);
  add_path("Loukadakis et al.", "Loukadakis et al.", "", layers, scale, e);
  note_quick(scale, e);
  return e;
}

Experiment vgg_memory(Scale scale) {
  Experiment e{
      .source = "r18",
      .id = "memory",
      .where = "sections 7.3.1 and 7.5",
      .title = "how much memory VGG-16 needs",
      .question = "How many numbers does VGG-16 hold, and how much does unfolding add?",
      .method = "The model is read, and a plan is made for the device: nothing runs.",
      .row_heading = "what",
      .rows = {"parameters", "weights of a plan, MB", "unfolded image before conv1-2, MB",
               "other memory, Morton products (unfolding), MB",
               "other memory, vectorised (no unfolding), MB"},
      .columns = {{"value",
                   "",
                   Origin::published,
                   {138357544, kNotPublished, 115.6, kNotPublished, kNotPublished}}},
      .published =
          "The largest unfolded image, before conv1-2, has 28,901,376 numbers, 115.6 MB; fc1 has "
          "102,764,544 parameters, 74 %. All weights at once, with two such buffers, did not fit "
          "on "
          "R18's board: it timed its convolutions and fc layers apart. The vectorised way just "
          "fitted.",
      .notes = {"--workspace-limit bounds temporaries, if it is given: long unfoldings then go in "
                "slabs, "
                "where a path has them.",
                "Other memory is of results and temporaries, which share blocks.",
                "CLBlast's routines of table-5.4 unfold one image at a time as well."},
      .share = 1.0};
  if (scale == Scale::full) {
    e.cells = {{{"inspect", "vgg16"}, {{0, 0, number_at("parameters")}}},
               {{"plan", "vgg16", "--conv", "morton"},
                {{1, 0, sum_at("blocks", "weights", 1e-6)},
                 {2, 0, number_at("values/name=features.2+features.3:columns/bytes", 1e-6)},
                 {3, 0, sum_at("blocks", "activations", 1e-6)}}},
               {{"plan", "vgg16", "--conv", "vectorised"},
                {{4, 0, sum_at("blocks", "activations", 1e-6)}}}};
  }
  e.answer = [](const Finding& finding) -> std::string {
    const auto parameters = finding.ours(0, 0), with = finding.ours(3, 0),
               without = finding.ours(4, 0);
    if (!parameters || !with) return "";
    return fmt::format(
        "VGG-16 has {:.0f} parameters here, and {:.0f} in R18; beside its weights the path of "
        "Morton products, which unfolds, takes {:.0f} MB{}.",
        *parameters, 138357544.0, *with,
        without ? fmt::format(", and the vectorised one, which does not, {:.0f} MB", *without)
                : "");
  };
  note_quick(scale, e);
  return e;
}

}  // namespace

std::vector<Experiment> r18_vgg(Scale scale) {
  return {table_5_4(scale), figure_7_1(scale), table_7_2(scale),
          table_7_3(scale), table_7_4(scale),  vgg_memory(scale)};
}

}  // namespace morton::cli
