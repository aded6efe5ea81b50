// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "reproduce/answers/answers.hpp"
#include "reproduce/answers/parts.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/products.hpp"

namespace morton::cli {
namespace {

const char* const kPicture =
    "The figure is a picture whose values our copy has lost: not available.";
const char* const kCubes = "C18 counts N^3 operations for a product; 2 N^3 are counted here.";

Experiment version_figure(Experiment e, std::vector<Rung> rungs, Scale scale) {
  e.source = "c18";
  if (e.method.empty()) {
    e.method =
        "Kernels multiply square matrices, each checked before it is timed. Packing is not "
        "counted.";
  }
  add_ladder({{64, 128, 256, 512, 1024},
              scale == Scale::quick ? std::vector<std::int64_t>{256}
                                    : std::vector<std::int64_t>{512, 1024, 256, 128, 64},
              std::move(rungs)},
             scale, e);
  for (Column& column : e.columns) column.origin = Origin::not_available;
  return e;
}

/// Work-groups are those of the kernels' standard, so their size is in the name.
const Rung kV1{"c18_v1", "version 1"};
const Rung kV2{"c18_v2", "version 2"};
const Rung kV3of4{"c18_v3_4", "version 3, float4 (groups of 16)"};
const Rung kV3of8{"c18_v3_8", "version 3, float8 (groups of 16)"};
const Rung kV3of16{"c18_v3_16", "version 3, float16 (groups of 64)"};
const Rung kHalvesOf16{"c18_v3_16_f16", "halves, float16 (groups of 64)"};
const Rung kEigenCall{"eigen", "Eigen on the CPU, whole calls", Timed::call};
const Rung kClblastCall{"clblast", "CLBlast, whole calls", Timed::call};
const Rung kV1Call{"c18_v1", "version 1, whole calls", Timed::call};
const Rung kV2Call{"c18_v2", "version 2, whole calls", Timed::call};
const Rung kV3of4Call{"c18_v3_4", "version 3, float4, with the transposition", Timed::call};
const Rung kV3of16Call{"c18_v3_16", "version 3, float16 (groups of 64), whole calls", Timed::call};
const Rung kLhsImage{"c18_v3_image", "version 3, lhs an image of its own"};
const Rung kOnBuffer{"image_on_buffer", "image on a buffer"};

const char* const kWholeCalls =
    "Kernels multiply square matrices, each checked before it is timed. Rates are of whole calls, "
    "with packing, on the host's clock: Eigen's can only be timed so. Its step waits for the "
    "device and maps its memory, which is most of a small product's time.";

/// Says first where the device has no such images.
std::string image_answer(const Finding& finding) {
  const bool refused = std::ranges::any_of(finding.failures, [](const std::string& failure) {
    return failure.find("image_from_buffer") != std::string::npos;
  });
  const std::string own = speed_ratio(kLhsImage.name, kV3of4.name)(finding);
  if (has_numbers(finding, finding.column(kOnBuffer.name))) {
    return is_faster(kOnBuffer.name, kV3of4.name, {"that it is slower", Stance::no})(finding) +
           " " + own;
  }
  return fmt::format("{} An image in memory of its own, which C18 did not measure: {}",
                     refused ? "Not answered here: the device makes no image from a buffer; C18 "
                               "says no, and " +
                                   quoted(kOnBuffer.name) + " has no number."
                             : no_number_text(finding, finding.column(kOnBuffer.name)),
                     own);
}

std::vector<Experiment> versions(Scale scale) {
  return {
      version_figure(
          {.id = "figure-13",
           .where = "section VII.A, figures 13 and 14",
           .title = "a library on the GPU beside the CPU",
           .question = "Is CLBlast's product on the device faster than Eigen's on the CPU?",
           .method = kWholeCalls,
           .published = std::string(kPicture) +
                        " The text says that even tuned it is slower than the CPU below 1024.",
           .notes = {"C18's times have the building of kernels in them, ours have not.",
                     "C18's Eigen has all threads, ours one."},
           .answer = is_faster(kClblastCall.name, kEigenCall.name,
                               {"that the CPU wins below 1024", Stance::in_part}),
           .share = 1.0},
          {kClblastCall, kEigenCall}, scale),
      version_figure(
          {.id = "figure-16",
           .where = "section C.1, figure 16",
           .title = "the textbook kernel beside the CPU",
           .question = "How far is a textbook kernel on the device from Eigen on the CPU?",
           .method = kWholeCalls,
           .published = std::string(kPicture) +
                        " The text says that the CPU is 2 to 3 times as fast at 1024.",
           .notes = {"C18's Eigen has all threads, ours one."},
           .answer =
               speed_ratio(kEigenCall.name, kV1Call.name, {"2 to 3 times", Stance::yes, "1024"}),
           .share = 1.0},
          {kV1Call, kEigenCall}, scale),
      version_figure(
          {.id = "figure-17",
           .where = "section C.2, figure 17",
           .title = "tiles in local memory",
           .question = "How much does a product gain if work-groups of 16 x 16 share tiles in "
                       "local memory?",
           .published = std::string(kPicture) + " The text says about 2 times at 1024.",
           .notes = {"C18's version 2 is wrong unless sizes are multiples of 16; ours is right "
                     "for all."},
           .answer = speed_ratio(kV2.name, kV1.name, {"about 2 times", Stance::yes, "1024"}),
           .share = 0.5},
          {kV2, kV1}, scale),
      version_figure(
          {.id = "figure-18",
           .where = "section C.3, figure 18",
           .title = "transpose first, then vectors",
           .question = "Is a product faster if one matrix is transposed first, so that both are "
                       "read in vectors of four?",
           .method = "Kernels multiply square matrices, each checked before it is timed: whole "
                     "calls with the transposition, on the host's clock, and kernels alone.",
           .published = std::string(kPicture) + " The text says that it is slower.",
           .notes = {"Whole calls count the transposition, which is packing here. C18 does not say "
                     "whether its times do."},
           .answer =
               all_of({is_faster(kV3of4Call.name, kV2Call.name, {"that it is slower", Stance::no}),
                       speed_ratio(kV3of4.name, kV2.name)}),
           .share = 0.5},
          {kV3of4Call, kV2Call, kV3of4, kV2}, scale),
      version_figure(
          {.id = "figure-19",
           .where = "section C.4, figure 19; section VIII.B, figure 32",
           .title = "vectors of 4, 8 and 16",
           .question = "Which vector width is best for that product, and what is the whole gain "
                       "over the textbook kernel?",
           .published = std::string(kPicture) +
                        " The text says that 16 is best, and 2.16 times version 1 at 1024.",
           .notes =
               {"Groups are the kernels' standard. On this device others may be better: table-2 "
                "has them at 256. With the best ones the order of the widths may be another.",
                "The transposition is not counted here; figure-18 has it for float4."},
           .answer =
               all_of({fastest_column("'float16'"),
                       speed_ratio(kV3of16.name, kV1.name, {"2.16 times", Stance::yes, "1024"})}),
           .share = 0.5},
          {kV3of16, kV3of8, kV3of4, kV1}, scale),
      version_figure(
          {.id = "figure-20",
           .where = "section C.7, figure 20",
           .title = "products in half precision",
           .question = "Is the product faster if its operands are halves?",
           .published = std::string(kPicture) +
                        " The text sees a minor improvement in speed, and errors of 0.1.",
           .notes = {"Sums are in f32, as C18's. What it does to results is in appendix-F."},
           .answer = all_of(
               {is_faster(kHalvesOf16.name, kV3of16.name, {"a minor improvement", Stance::yes}),
                is_faster("halves, version 1", kV1.name)}),
           .share = 0.8},
          {kHalvesOf16, kV3of16, {"c18_v1_f16", "halves, version 1"}, kV1}, scale),
      version_figure(
          {.id = "section-C.6",
           .where = "section C.6, figure 20.5",
           .title = "an operand as an image on a buffer",
           .question = "Is the product faster if one operand is an image that shares a buffer's "
                       "memory?",
           .published = std::string(kPicture) +
                        " The text says that it is slower, and that such an image passes by the "
                        "cache for images.",
           .notes = {"The image of version 3 is lhs, as C18's, in memory of its own. That on a "
                     "buffer is rhs, as A16's. PoCL refuses such images."},
           .answer = image_answer,
           .share = 0.5},
          {kLhsImage, kV3of4, kOnBuffer}, scale),
      version_figure(
          {.id = "figure-30",
           .where = "section VII.E, figure 30",
           .title = "rates over the size, CPU and device",
           .question = "Which rate do the CPU and the device reach, and from which size on?",
           .method = kWholeCalls,
           .published = std::string(kPicture) +
                        " The maxima are about 7 (CPU) and 6 (GPU), GeekBench's 11.5: of N^3, "
                        "so 14 and 12 GFLOP/s.",
           .notes = {kCubes},
           .answer = all_of({reaches_its_most(kV3of16Call.name), reaches_its_most(kEigenCall.name),
                             fastest_column()}),
           .share = 0.8},
          {kEigenCall, kV3of16Call, kV2Call, kClblastCall}, scale)};
}

}  // namespace

std::vector<Experiment> c18_ladder(Scale scale) { return versions(scale); }

}  // namespace morton::cli
