// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "reproduce/answers/answers.hpp"
#include "reproduce/answers/parts.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/readers.hpp"

namespace morton::cli {
namespace {

struct NamedBytes {
  std::string name, bytes;
};

Experiment latency() {
  const std::vector<NamedBytes> footprints{{"4 KiB", "4096"},
                                           {"64 KiB", "65536"},
                                           {"1 MiB", "1048576"},
                                           {"16 MiB", "16777216"},
                                           {"64 MiB", "67108864"}};
  Experiment e{
      .source = "c18",
      .id = "figure-3",
      .where = "section IV.A, figures 3 and 4",
      .title = "how long a load takes",
      .question =
          "How long does the processor wait for a number from memory, depending on how much "
          "memory it walks through?",
      .method =
          "Loads that wait for each other walk through memory in steps of 64 bytes and of 1 "
          "KiB, on the host and on the device.",
      .row_heading = "footprint",
      .published =
          "The curves are pictures: not available. The text has about 1.2 ns for L1, 11 for "
          "L2 and 145 for memory (S835), and 1.4, 10 and 170 (S820). They are the host's.",
      .notes = {"The figures' axis says us; ns is meant.",
                "In steps of 1 KiB a footprint has 16 times fewer lines of 64 bytes than in steps "
                "of 64. More of it stays in a cache, so 16 MiB may take less time so."},
      .share = 1.0};
  const std::vector<std::pair<std::string, std::string>> walks{
      {"host, 64 B", "where=host&stride_bytes=64"},
      {"device, 64 B", "where=device&stride_bytes=64"},
      {"host, 1 KiB", "where=host&stride_bytes=1024"},
      {"device, 1 KiB", "where=device&stride_bytes=1024"}};
  for (const NamedBytes& footprint : footprints) e.rows.push_back(footprint.name);
  Cell cell{{"probe", "--what", "latency", "--quick"}, {}};
  for (std::size_t column = 0; column < walks.size(); ++column) {
    e.columns.push_back({walks[column].first, "ns", Origin::not_available});
    for (std::size_t row = 0; row < footprints.size(); ++row) {
      cell.places.push_back({row, column,
                             number_at(fmt::format("latency/points/{}&footprint_bytes={}/median_ns",
                                                   walks[column].second, footprints[row].bytes))});
    }
  }
  e.cells.push_back(std::move(cell));
  e.answer = [](const Finding& finding) -> std::string {
    const std::size_t last = finding.experiment->rows.size() - 1;
    const auto near = finding.ours(0, 2), far = finding.ours(last, 2);
    if (!near || !far) return "";
    return fmt::format(
        "A load takes {} ns on this host within 4 KiB and {} ns within 64 MiB, in "
        "steps of 1 KiB; C18 says 1.2 to 1.4 and 145 to 170 ns.",
        rounded(*near), rounded(*far));
  };
  return e;
}

Experiment intensity() {
  const std::vector<std::string> multiply_adds{"1", "4", "16", "64", "256"};
  const std::vector<std::string> types{"f32", "i32", "i8", "f16"};
  Experiment e{
      .source = "c18",
      .id = "figure-5",
      .where = "section IV.B, figures 5 to 10",
      .title = "throughput over the work for each number",
      .question =
          "How many operations must a program do with each number that it reads, before the "
          "arithmetic and no more the memory limits it?",
      .method = "A kernel reads numbers and does 1 to 256 multiply-adds with each.",
      .row_heading = "multiply-adds a number",
      .rows = multiply_adds,
      .published = "The figures are pictures whose values our copy has lost: not available.",
      .notes =
          {"Without halves in the device's arithmetic, f16 is left out.",
           "Operations on i32 and i8 are of integers: GOP/s in their columns.",
           "This kernel reads memory and that of r17 table-2.1 does not, so its most may lie below "
           "that peak. Where it lies above, that peak was measured too low, by as much."},
      .share = 1.0};
  Cell cell{{"probe", "--what", "intensity", "--quick"}, {}};
  for (std::size_t column = 0; column < types.size(); ++column) {
    e.columns.push_back({types[column], types[column].starts_with("f") ? "GFLOP/s" : "GOP/s",
                         Origin::not_available});
    for (std::size_t row = 0; row < multiply_adds.size(); ++row) {
      cell.places.push_back(
          {row, column,
           number_at(fmt::format("intensity/points/type={}&multiply_adds={}/gflops", types[column],
                                 multiply_adds[row]))});
    }
  }
  e.cells.push_back(std::move(cell));
  e.answer = [multiply_adds](const Finding& finding) -> std::string {
    double most = 0.0;
    for (std::size_t row = 0; row < multiply_adds.size(); ++row) {
      most = std::max(most, finding.ours(row, 0).value_or(0.0));
    }
    for (std::size_t row = 0; row < multiply_adds.size() && most > 0.0; ++row) {
      const double rate = finding.ours(row, 0).value_or(0.0);
      if (rate < 0.6 * most) continue;
      return fmt::format(
          "Here from {1} multiply-adds a number on: in f32 the device does {0} GFLOP/s at most, "
          "and "
          "more than 60 % of that from there.",
          rounded(most), multiply_adds[row]);
    }
    return "";
  };
  return e;
}

/// A way to copy, as `probe --what copies` calls it, and as a column.
struct Way {
  std::string name, column;
};

/// The median, with its distance to the best.
Reader rate_of_copies(const std::string& path) {
  return [=](const Json& report) -> std::optional<Reading> {
    std::optional<Reading> median = number_at(path + "/median_gibibytes_per_second")(report);
    const auto best = number_at(path + "/best_gibibytes_per_second")(report);
    const auto samples = number_at(path + "/samples")(report);
    if (!median || !best || !samples) return median;
    median->spread = best->value - median->value;
    median->repetitions = static_cast<std::int64_t>(samples->value);
    return median;
  };
}

Experiment copies() {
  const std::vector<NamedBytes> sizes{
      {"4 KiB", "4096"}, {"64 KiB", "65536"}, {"1 MiB", "1048576"}, {"16 MiB", "16777216"}};
  const std::vector<Way> ways{{"to device", "to device"},
                              {"from device", "from device"},
                              {"within, by the driver", "within, by the driver"},
                              {"within, by a kernel", "within, by a kernel"}};
  Experiment e{
      .source = "c18",
      .id = "figure-11",
      .where = "section IV.C and appendix G, figures 11 and 12",
      .title = "copies between host and device, and within the device",
      .question = "How fast do data come to the device and back, and is a copy within it faster?",
      .method =
          "Non-blocking copies of a size follow each other, with one wait at their end. Numbers "
          "are "
          "medians, each with its ± the distance to the best. A GiB is 2^30 bytes. The kernel goes "
          "over the same memory again and again in one launch: no launch is in its numbers.",
      .row_heading = "size",
      .published =
          "The figures are pictures: not available. The text says that within an Adreno 540 a "
          "copy is half as fast as from the host, and within a 530 2 to 3 times as fast.",
      .answer =
          all_of({is_faster("within, by the driver", "to device",
                            {"0.5 times on the 540, 2 to 3 times on the 530", Stance::in_part}),
                  speed_ratio("from device", "to device")}),
      .share = 0.6};
  for (const NamedBytes& size : sizes) e.rows.push_back(size.name);
  Cell cell{{"probe", "--what", "copies", "--quick"}, {}};
  for (std::size_t column = 0; column < ways.size(); ++column) {
    e.columns.push_back({ways[column].column, "GiB/s", Origin::not_available});
    for (std::size_t row = 0; row < sizes.size(); ++row) {
      cell.places.push_back({row, column,
                             rate_of_copies(fmt::format("copies/way={}&bytes={}", ways[column].name,
                                                        sizes[row].bytes))});
    }
  }
  e.cells.push_back(std::move(cell));
  return e;
}

}  // namespace

std::vector<Experiment> c18_device(Scale) { return {latency(), intensity(), copies()}; }

std::vector<Experiment> r17_order(Scale) {
  Experiment e{
      .source = "r17",
      .id = "figure-12.1",
      .where = "section 7.2.1 and appendix 12.4, figure 12.1",
      .title = "the order in which work-groups run",
      .question =
          "A device runs work-groups one after the other. Does it go along the first or the "
          "second index?",
      .method =
          "Each of 33 x 33 work-groups of one item takes a ticket. `morton probe --what order "
          "--svg FILE` draws the tickets.",
      .row_heading = "work-group",
      .rows = {"1, 0", "2, 0", "0, 1", "0, 2", "32, 32"},
      .columns = {{"ticket", "", Origin::not_available}},
      .published =
          "The table of 33 x 33 is not available. The text says that global id 0 runs first.",
      .notes =
          {"Section 7.2.1 contradicts itself on which id is the row; the appendix has ids 0 and 1 "
           "as row and column.",
           "R18 says \"along four stripes of global id 1\" (7.2.1)."},
      .share = 0.3};
  constexpr std::size_t kTickets[] = {1, 2, 33, 66, 1088};
  Cell cell{{"probe", "--what", "order", "--quick"}, {}};
  for (std::size_t row = 0; row < e.rows.size(); ++row) {
    cell.places.push_back(
        {row, 0, number_at(fmt::format("order/repetitions/0/tickets/{}", kTickets[row]))});
  }
  e.cells.push_back(std::move(cell));
  e.answer = [](const Finding& finding) -> std::string {
    const auto first = finding.ours(0, 0), second = finding.ours(2, 0);
    if (!first || !second) return "";
    const bool first_runs = *first < *second;
    return fmt::format(
        "Here along the {} index, {} R17 says: after group 0, 0, which takes ticket 0, the group "
        "1, 0 takes ticket {:.0f} and the group 0, 1 ticket {:.0f}.",
        first_runs ? "first" : "second", first_runs ? "as" : "unlike what", *first, *second);
  };
  return {std::move(e)};
}

std::vector<Experiment> a16_memory(Scale) {
  const std::vector<std::pair<std::string, std::string>> reads{{"buffer", "memory=buffer"},
                                                               {"image", "memory=image"}};
  Experiment e{
      .source = "a16",
      .id = "images",
      .where = "the text on images and the texture cache",
      .title = "reading images and buffers",
      .question =
          "Does the cache for images help where a program reads down the columns of a matrix?",
      .method =
          "Kernels read a matrix of 1024 x 1024 numbers in f32 by rows, by columns and by tiles.",
      .row_heading = "order",
      .rows = {"rows", "columns", "tiles"},
      .published = "A16 publishes no numbers.",
      .notes = {"A CPU has no cache for images.", "GB/s are 10^9 bytes a second."},
      .share = 0.6};
  Cell cell{{"probe", "--what", "images", "--quick"}, {}};
  for (std::size_t column = 0; column < reads.size(); ++column) {
    e.columns.push_back({reads[column].first, "GB/s"});
    for (std::size_t row = 0; row < e.rows.size(); ++row) {
      cell.places.push_back({row, column,
                             number_at(fmt::format("images/reads/type=f32&{}&order={}&width=1024/"
                                                   "median_gigabytes_per_second",
                                                   reads[column].second, e.rows[row]))});
    }
  }
  e.cells.push_back(std::move(cell));
  e.answer = [](const Finding& finding) -> std::string {
    const auto buffer = finding.ours(1, 0), image = finding.ours(1, 1);
    if (!buffer || !image) return "";
    return fmt::format("Here {}: by columns an image gives {} GB/s, and a buffer {} GB/s.",
                       *image > (1.0 + kLeastDifference) * *buffer ? "yes" : "no", rounded(*image),
                       rounded(*buffer));
  };
  return {std::move(e)};
}

}  // namespace morton::cli
