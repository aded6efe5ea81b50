// SPDX-License-Identifier: Apache-2.0
#include "reproduce/answers.hpp"
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

const Rung kV1{"c18_v1", "version 1"};
const Rung kV2{"c18_v2", "version 2"};
const Rung kV3of4{"c18_v3_4", "version 3, float4"};
const Rung kV3of8{"c18_v3_8", "version 3, float8"};
const Rung kV3of16{"c18_v3_16", "version 3, float16"};
const Rung kEigen{"eigen", "Eigen on the CPU"};
const Rung kClblast{"clblast", "CLBlast"};

std::vector<Experiment> versions(Scale scale) {
  return {
      version_figure(
          {.id = "figure-13",
           .where = "section VII.A, figures 13 and 14",
           .title = "a library on the GPU beside the CPU",
           .question = "Is CLBlast's product on the device faster than Eigen's on the CPU?",
           .published = std::string(kPicture) +
                        " The text says that even tuned it is slower than the CPU below 1024.",
           .notes = {"C18's times have the building of kernels in them, ours have not.",
                     "C18's Eigen has all threads, ours one."},
           .answer = speed_ratio("CLBlast", "Eigen on the CPU", "that the CPU wins below 1024"),
           .share = 1.0},
          {kClblast, kEigen}, scale),
      version_figure(
          {.id = "figure-16",
           .where = "section C.1, figure 16",
           .title = "the textbook kernel beside the CPU",
           .question = "How far is a textbook kernel on the device from Eigen on the CPU?",
           .published = std::string(kPicture) +
                        " The text says that the CPU is 2 to 3 times as fast at 1024.",
           .notes = {"C18's Eigen has all threads, ours one."},
           .answer = speed_ratio("Eigen on the CPU", "version 1", "2 to 3 times at 1024"),
           .share = 1.0},
          {kV1, kEigen}, scale),
      version_figure(
          {.id = "figure-17",
           .where = "section C.2, figure 17",
           .title = "tiles in local memory",
           .question = "How much does a product gain if work-groups of 16 x 16 share tiles in "
                       "local memory?",
           .published = std::string(kPicture) + " The text says about 2 times at 1024.",
           .notes = {"C18's version 2 is wrong unless sizes are multiples of 16; ours is right "
                     "for all."},
           .answer = speed_ratio("version 2", "version 1", "about 2 times at 1024"),
           .share = 0.5},
          {kV2, kV1}, scale),
      version_figure(
          {.id = "figure-18",
           .where = "section C.3, figure 18",
           .title = "transpose first, then vectors",
           .question = "Is a product faster if one matrix is transposed first, so that both are "
                       "read in vectors of four?",
           .published = std::string(kPicture) + " The text says that it is slower.",
           .answer = speed_ratio("version 3, float4", "version 2", "that it is slower"),
           .share = 0.5},
          {kV3of4, kV2}, scale),
      version_figure(
          {.id = "figure-19",
           .where = "section C.4, figure 19; section VIII.B, figure 32",
           .title = "vectors of 4, 8 and 16",
           .question = "Which vector width is best for that product, and what is the whole gain "
                       "over the textbook kernel?",
           .published = std::string(kPicture) +
                        " The text says that 16 is best, and 2.16 times version 1 at 1024.",
           .answer = all_of({fastest_column(),
                             speed_ratio("version 3, float16", "version 1", "2.16 times at 1024")}),
           .share = 0.5},
          {kV3of16, kV3of8, kV3of4, kV1}, scale),
      version_figure(
          {.id = "figure-20",
           .where = "section C.7, figure 20",
           .title = "products in half precision",
           .question = "Is the product faster if its operands are halves?",
           .published = kPicture,
           .notes = {"Sums are in f32, as C18's. What it does to results is in appendix-F."},
           .answer = all_of({speed_ratio("halves, float16", "version 3, float16"),
                             speed_ratio("halves, version 1", "version 1")}),
           .share = 0.8},
          {{"c18_v3_16_f16", "halves, float16"}, kV3of16, {"c18_v1_f16", "halves, version 1"}, kV1},
          scale),
      version_figure(
          {.id = "figure-20.5",
           .where = "section C.6",
           .title = "an operand as an image on a buffer",
           .question = "Is the product faster if one operand is an image that shares a buffer's "
                       "memory?",
           .published = "The text says that it is slower. It has no figures.",
           .notes = {"The image of version 3 is lhs, as C18's, in memory of its own. That on a "
                     "buffer is "
                     "rhs, as A16's; PoCL refuses such images."},
           .answer = all_of({speed_ratio("version 3, lhs an image", "version 3, float4",
                                         "that an image is slower"),
                             speed_ratio("image on a buffer", "version 3, float4")}),
           .share = 0.5},
          {{"c18_v3_image", "version 3, lhs an image"},
           kV3of4,
           {"image_on_buffer", "image on a buffer"}},
          scale),
      version_figure(
          {.id = "figure-30",
           .where = "section VII.E, figure 30",
           .title = "rates over the size, CPU and device",
           .question = "Which rate do the CPU and the device reach, and from which size on?",
           .published = std::string(kPicture) +
                        " The maxima are about 7 (CPU) and 6 (GPU), GeekBench's 11.5: of N^3, "
                        "so 14 and 12 GFLOP/s.",
           .notes = {kCubes},
           .answer =
               all_of({trend("Eigen on the CPU"), trend("version 3, float16"), fastest_column()}),
           .share = 0.8},
          {kEigen, kV3of16, kV2, kClblast}, scale)};
}

}  // namespace

std::vector<Experiment> c18_ladder(Scale scale) { return versions(scale); }

}  // namespace morton::cli
