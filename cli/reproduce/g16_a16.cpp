// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "reproduce/answers/answers.hpp"
#include "reproduce/answers/parts.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/products.hpp"
#include "reproduce/readers.hpp"

namespace morton::cli {
namespace {

std::vector<std::string> bytes_command(const std::string& size, const std::string& entry,
                                       Scale scale) {
  return {"bench",    "gemm",
          "--m",      size,
          "--n",      size,
          "--k",      size,
          "--type",   "u8",
          "--use",    "integer_gemm=" + entry,
          "-n",       samples_text(scale),
          "--warmup", "10ms"};
}

Experiment g16_kernels(Scale scale) {
  const std::string size = scale == Scale::quick ? "128" : "512";
  Experiment e{
      .source = "g16",
      .id = "kernel-formats",
      .where = "the whole document",
      .title = "a kernel that states the format of its operands",
      .question =
          "If a kernel for 8-bit numbers only states how its operands must be packed, can it "
          "be exchanged without anything else, and is the result the same to the bit?",
      .method = "Three kernels of different formats multiply square matrices of bytes, of size " +
                size + ". Every result is compared with exact sums.",
      .row_heading = "kernel",
      .rows = {"12 x 4 cells of depth 2 (G16's)", "rows and panels", "textbook"},
      .columns = {{"rate", "GOP/s"}, {"call", "ms"}, {"packing of it", "%"}, {"largest error", ""}},
      .published = "G16 publishes no numbers.",
      .notes =
          {"gemmlowp rounds and clamps sums to 8 bits in a pipeline; docs/low_precision.md says "
           "how that is tested bit by bit."},
      .share = 0.7};
  const std::vector<std::string> entries{"integer_gemm.cells_12x4", "integer_gemm.panels",
                                         "integer_gemm.naive"};
  for (std::size_t row = 0; row < entries.size(); ++row) {
    const std::string& entry = entries[row];
    const Reader packing = [entry](const Json& report) -> std::optional<Reading> {
      const auto call = call_time_of(entry)(report), alone = time_of(entry)(report);
      if (!call || !alone || call->value <= 0.0) return std::nullopt;
      return Reading{std::max(0.0, 100.0 * (1.0 - alone->value / call->value))};
    };
    e.cells.push_back({bytes_command(size, entry, scale),
                       {{row, 0, rate_of(entry)},
                        {row, 1, call_time_of(entry)},
                        {row, 2, packing},
                        {row, 3, number_at("contenders/name=" + entry + "/error")}}});
  }
  e.answer = [](const Finding& finding) -> std::string {
    std::size_t measured = 0, exact = 0;
    for (std::size_t row = 0; row < finding.experiment->rows.size(); ++row) {
      const auto error = finding.ours(row, 3);
      if (!error) continue;
      ++measured;
      if (*error == 0.0) ++exact;
    }
    if (measured == 0) return "";
    std::string text = fmt::format("Here {}: {} of {} kernels give the exact sums, to the bit.",
                                   exact == measured ? "yes" : "no", exact, measured);
    const auto cells = finding.ours(0, 0), panels = finding.ours(1, 0);
    if (cells && panels) {
      text += fmt::format(" Rows and panels are {} times as fast here as G16's cells.",
                          ratio_text(*panels / *cells));
    }
    return text;
  };
  return e;
}

Experiment a16_images(Scale scale) {
  Experiment e{
      .source = "a16",
      .id = "figure-7",
      .where = "figure 7, sgemm_mult_only",
      .title = "the right matrix as an image",
      .question =
          "A GPU has a cache of its own for images. Is a product faster if the right matrix "
          "is read as an image?",
      .method =
          "A16's kernel reads the right matrix as an image, 8 x 4 results for a work-item. R17's "
          "blocked kernel reads buffers. Packing is not counted.",
      .published = "A16 publishes no numbers.",
      .notes = {"A CPU has no cache for images, and PoCL computes each read.",
                "`gemm.patch_image` is A16's way, developed.",
                "At 1024 lines of the image lie 4 KiB apart, which compete for the same places of "
                "a cache."},
      .answer = all_of({is_faster("A16's, image", "R17's, buffers"), fastest_column()}),
      .share = 1.0};
  add_ladder({{128, 256, 512, 1024},
              scale == Scale::quick ? std::vector<std::int64_t>{256}
                                    : std::vector<std::int64_t>{512, 256, 1024, 128},
              {{"a16_image", "A16's, image"},
               {"rm_cm_blocked", "R17's, buffers"},
               {"patch_image", "developed, image"}}},
             scale, e);
  return e;
}

/// The largest size at which the host is faster.
std::string host_answer(const Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  std::string largest;
  std::size_t measured = 0;
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    const auto device = finding.ours(row, 0), host = finding.ours(row, 1);
    if (!device || !host) continue;
    ++measured;
    if (*host < *device) largest = experiment.rows[row];
  }
  if (measured == 0) return "";
  return largest.empty() ? "Here at none of these sizes: the host is never faster; A16 advises it "
                           "for small products."
                         : "Here up to size " + largest + " the host is faster, as A16 advises.";
}

Experiment a16_small_products(Scale scale) {
  constexpr std::array<std::int64_t, 4> kSizes{16, 32, 64, 128};
  Experiment e{
      .source = "a16",
      .id = "small-products",
      .where = "the advice on small matrices",
      .title = "small products on the CPU",
      .question =
          "A device has to be asked, which takes time. Up to which size is a product faster on "
          "the host?",
      .method =
          "The same product by a tiled kernel on the device (`gemm.tile`) and by Eigen on the "
          "host, each with all that a call takes.",
      .row_heading = "size",
      .rows = texts_of({kSizes.begin(), kSizes.end()}),
      .columns = {{"device", "us"}, {"host", "us"}},
      .published = "A16 advises it, and publishes no numbers.",
      .notes =
          {"The step on the host waits for the device and maps its memory: at these sizes that "
           "is most of its time. `morton probe` shows what Eigen takes alone.",
           "Up to size 64 a call on the device is mostly its launch, so a larger product may "
           "take less time than a smaller one."},
      .answer = all_of({host_answer, speed_ratio("host", "device")}),
      .share = 0.8};
  for (std::size_t row = 0; row < kSizes.size(); ++row) {
    const std::int64_t size = kSizes[row];
    if (scale == Scale::quick && size != 32 && size != 128) continue;
    e.cells.push_back(
        {product_command(square(size), "tile", scale), {{row, 0, call_time_of("gemm.tile", 1e3)}}});
    e.cells.push_back({product_command(square(size), "eigen", scale),
                       {{row, 1, call_time_of("gemm.eigen", 1e3)}}});
  }
  return e;
}

}  // namespace

std::vector<Experiment> g16_and_a16(Scale scale) {
  return {g16_kernels(scale), a16_images(scale), a16_small_products(scale)};
}

}  // namespace morton::cli
