// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "reproduce/answers/answers.hpp"
#include "reproduce/answers/parts.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/products.hpp"
#include "reproduce/readers.hpp"

namespace morton::cli {
namespace {

/// R17's best kernels for each operation.
const char* const kChain = "gemm=gemm.morton_4_2,bias=bias.morton_4_2_1x16,relu=relu.unbound";
/// Its first kernels.
const char* const kBaseline = "gemm=gemm.rm_rm,bias=bias.rm,sigmoid=sigmoid.unbound";

std::vector<std::string> profile_command(const std::string& model, const std::string& batch,
                                         const std::string& use, Scale scale) {
  return {"profile", model,       "--batch",      batch, "--use",
          use,       "--exclude", "gemm.swapped", "-n",  samples_text(scale)};
}

std::vector<std::string> bench_command(const std::string& model, const std::string& batch,
                                       Scale scale) {
  return {"bench", model, "--batch", batch, "-n", scale == Scale::quick ? "5" : "10"};
}

/// The network with its products on one thread of the CPU, in place of NumPy's.
std::vector<std::string> eigen_command(const std::string& model, const std::string& batch,
                                       Scale scale) {
  std::vector<std::string> words = bench_command(model, batch, scale);
  words.insert(words.end(), {"--use", "gemm=gemm.eigen"});
  return words;
}

Experiment figure_6_1(Scale scale) {
  Experiment e{
      .source = "r17",
      .id = "figure-6.1",
      .where = "section 6.4, figure 6.1",
      .title = "a network of digits, end to end",
      .question =
          "How long does a small network take to classify 1,000 handwritten digits, with "
          "plain kernels on the device?",
      .method =
          "784-100-100-10 with sigmoids runs on 1,000 inputs. \"Baseline\" has R17's first "
          "kernels. \"Products by Eigen\" has those on one thread of the host, and its sigmoids on "
          "the device. All times are end to end, on the host's clock, each with its ± the standard "
          "deviation of single runs. Those of \"baseline\" are medians of `morton profile`, "
          "without a ±.",
      .row_heading = "network",
      .rows = {"r17-digits, 1,000 digits"},
      .columns = {{"baseline", "ms", Origin::not_available},
                  {"plan's choice", "ms"},
                  {"products by Eigen", "ms", Origin::not_available}},
      .cells = {{profile_command("r17-digits", "1000", kBaseline, scale),
                 {{0, 0, number_at("clocks/host_end_to_end_unmeasured_ms")}}},
                {bench_command("r17-digits", "1000", scale), {{0, 1, host_mean()}}},
                {eigen_command("r17-digits", "1000", scale), {{0, 2, host_mean()}}}},
      .published =
          "The figure is a picture whose values our copy has lost: not available. The text "
          "sees \"a significant gain\" over a sequential CPU.",
      .notes = {"Times do not depend on weights, so these are random."},
      .answer = all_of(
          {[](const Finding& finding) -> std::string {
             const auto plain = finding.ours(0, 0), best = finding.ours(0, 1);
             if (!plain) return no_number_text(finding, 0);
             return fmt::format(
                 "It takes {} ms here with R17's first kernels{}.", rounded(*plain),
                 best ? fmt::format(" and {} ms with the plan's choice", rounded(*best)) : "");
           },
           is_faster("baseline", "products by Eigen",
                     {"that a device gains over a sequential CPU", Stance::yes}),
           speed_ratio("plan's choice", "baseline")}),
      .share = 0.6};
  return e;
}

Experiment figure_6_2(Scale scale) {
  Experiment e{
      .source = "r17",
      .id = "figure-6.2",
      .where = "section 6.4, figure 6.2",
      .title = "where a network's time goes",
      .question =
          "Which operation of that network takes the time: the products, the biases or the "
          "activations?",
      .method = "The same run, by operation and layer, on the device's clock.",
      .row_heading = "layer",
      .rows = {"1", "2", "3"},
      .columns = {{"product", "ms", Origin::not_available},
                  {"bias", "ms", Origin::not_available},
                  {"sigmoid", "ms", Origin::not_available}},
      .published =
          "The figure is a picture whose values our copy has lost: not available. The text "
          "says that products are the bottleneck and activations negligibly small.",
      .notes = {"The last layer has no sigmoid."},
      .share = 0.3};
  Cell cell{profile_command("r17-digits", "1000", kBaseline, scale), {}};
  const std::vector<std::string> prefixes{"gemm.", "bias.", "sigmoid."};
  for (std::size_t layer = 0; layer < 3; ++layer) {
    for (std::size_t column = 0; column < prefixes.size(); ++column) {
      if (layer == 2 && column == 2) continue;
      cell.places.push_back({layer, column, nth_step_time(prefixes[column], layer)});
    }
  }
  e.cells.push_back(std::move(cell));
  e.answer = [](const Finding& finding) -> std::string {
    double sums[3] = {0.0, 0.0, 0.0};
    for (std::size_t row = 0; row < 3; ++row) {
      for (std::size_t column = 0; column < 3; ++column) {
        sums[column] += finding.ours(row, column).value_or(0.0);
      }
    }
    const double all = sums[0] + sums[1] + sums[2];
    if (all <= 0.0) return "";
    return fmt::format(
        "Products take {:.1f} % of the kernels' time here, biases {:.1f} %, sigmoids "
        "{:.1f} %; R17 says that products are the bottleneck.",
        100.0 * sums[0] / all, 100.0 * sums[1] / all, 100.0 * sums[2] / all);
  };
  return e;
}

struct NetworkOf10 {
  std::string name, model;
};
const std::vector<NetworkOf10> kNetworksOf10{{"Partial MNIST, 640-150-10", "r17-640"},
                                             {"Partial CIFAR, 256-128-10", "r17-256"},
                                             {"Full MNIST, 784-2500-2000-10", "r17-2500"},
                                             {"Full CIFAR, 3072-4096-3072-10", "r17-cifar"}};

std::vector<std::string> names_of_10() {
  std::vector<std::string> names;
  for (const NetworkOf10& network : kNetworksOf10) names.push_back(network.name);
  return names;
}

Experiment figure_10_1(const Conditions& conditions) {
  Experiment e{
      .source = "r17",
      .id = "figure-10.1",
      .where = "section 10.1.1, figure 10.1",
      .title = "share of the device's peak",
      .question =
          "Which share of the device's arithmetic peak do R17's kernels use, over whole "
          "networks of different size?",
      .method =
          "Operations of the network, over the time of all kernels, over the device's "
          "measured peak. Batches of 100.",
      .row_heading = "network",
      .rows = names_of_10(),
      .columns = {{"share of the peak", "%", Origin::derived, {14.4, 15.2, 15.9, 14.6}},
                  {"rate", "GFLOP/s"},
                  {"measured peak", "GFLOP/s"}},
      .published =
          "The figure is a picture: its values are not available. Those here are derived "
          "from table 10.5, 100 columns and a peak of 68 GFLOPS. The text calls R17's share "
          "constant, and TensorFlow's on a GTX 960M higher for the full models.",
      .notes =
          {"R17 pads 100 columns to 128, so its kernels do 1.28 times that.",
           "The peak is table-2.1's, by `morton probe`: multiply-adds in registers, the best "
           "of several runs. Where c18 figure-5 finds more, the shares are too high by as much."},
      .share = 1.5};
  const Reader share = [](const Json& report) -> std::optional<Reading> {
    const auto rate = number_at("gflops")(report);
    const auto peak = number_at("roofs/gflops_f32")(report);
    const auto runs = number_at("runs")(report);
    if (!rate || !peak || !runs || peak->value <= 0.0) return std::nullopt;
    return Reading{100.0 * rate->value / peak->value, 0.0, static_cast<std::int64_t>(runs->value)};
  };
  if (!conditions.has_peak) e.cells.push_back(peak_cell(0, 2));
  for (std::size_t row = 0; row < kNetworksOf10.size(); ++row) {
    e.cells.push_back(
        {profile_command(kNetworksOf10[row].model, "100", kChain, conditions.scale),
         {{row, 0, share}, {row, 1, number_at("gflops")}, {row, 2, peak_at("roofs")}}});
  }
  e.answer = [](const Finding& finding) -> std::string {
    double least = 0.0, most = 0.0;
    for (std::size_t row = 0; row < finding.experiment->rows.size(); ++row) {
      const auto share_here = finding.ours(row, 0);
      if (!share_here) continue;
      least = least == 0.0 ? *share_here : std::min(least, *share_here);
      most = std::max(most, *share_here);
    }
    if (most == 0.0) return "";
    const auto peak = finding.ours(0, 2);
    return fmt::format(
        "R17's kernels reach {} to {} % of this device's peak{}; on R17's they reached 14.4 to "
        "15.9 % of 68 GFLOP/s.",
        rounded(least), rounded(most), peak ? " of " + rounded(*peak) + " GFLOP/s" : "");
  };
  return e;
}

Experiment table_10_5(Scale scale) {
  Experiment e{
      .source = "r17",
      .id = "table-10.5",
      .where = "chapter 10, tables 10.1 to 10.5",
      .title = "four networks beside NumPy",
      .question =
          "Is a network on the device with R17's kernels faster than on the CPU with NumPy, and by "
          "how much?",
      .method =
          "Batches of 100. \"R17's kernels\" are Morton 4-2 with its bias and unbound ReLU. All "
          "times are end to end, on the host's clock, each with its ± the standard deviation of "
          "single runs. Those of \"R17's kernels\" are medians of `morton profile`, without a ±.",
      .row_heading = "network",
      .rows = names_of_10(),
      .columns = {{"the CPU (NumPy, here Eigen)",
                   "ms",
                   Origin::published,
                   {38.14, 11.20, 3705.50, 19673.92}},
                  {"R17's kernels", "ms", Origin::published, {1.99, 0.66, 129.33, 506.15}},
                  {"plan's choice", "ms"}},
      .notes = {"R17 prints 19.20 and 16.99 as ratios of the first two, from times that were not "
                "rounded. Its others are 28.65 and 38.87.",
                "NumPy calls a BLAS library; whose it is decides its time. Here Eigen stands for "
                "it, on one thread. `./dev bench networks --only r17` measures NumPy itself."},
      .answer = all_of({is_faster("R17's kernels", "the CPU (NumPy, here Eigen)"),
                        speed_ratio("plan's choice", "R17's kernels"),
                        beside_published("R17's kernels")}),
      .share = 1.5};
  for (std::size_t row = 0; row < kNetworksOf10.size(); ++row) {
    const std::string& model = kNetworksOf10[row].model;
    e.cells.push_back({profile_command(model, "100", kChain, scale),
                       {{row, 1, number_at("clocks/host_end_to_end_unmeasured_ms")}}});
    e.cells.push_back({bench_command(model, "100", scale), {{row, 2, host_mean()}}});
    e.cells.push_back({eigen_command(model, "100", scale), {{row, 0, host_mean()}}});
  }
  return e;
}

}  // namespace

std::vector<Experiment> r17_networks(const Conditions& conditions) {
  const Scale scale = conditions.scale;
  return {figure_6_1(scale), figure_6_2(scale), figure_10_1(conditions), table_10_5(scale)};
}

}  // namespace morton::cli
