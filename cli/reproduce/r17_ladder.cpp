// SPDX-License-Identifier: Apache-2.0
#include "reproduce/answers/answers.hpp"
#include "reproduce/experiments.hpp"
#include "reproduce/products.hpp"

namespace morton::cli {
namespace {

const char* const kLostPicture =
    "The figure is a picture whose values our copy has lost: not available.";

/// What the figures 7.3 to 8.3 have in common: the same sizes, more and more kernels.
void finish_figure(std::vector<Rung> rungs, Scale scale, Experiment& e) {
  e.source = "r17";
  e.method =
      "Kernels multiply square matrices, each checked before it is timed. Packing is not counted.";
  add_ladder({{128, 256, 384, 512, 640, 768, 896, 1024, 1152},
              scale == Scale::quick
                  ? std::vector<std::int64_t>{256}
                  : std::vector<std::int64_t>{512, 128, 1024, 256, 384, 640, 768, 896, 1152},
              std::move(rungs)},
             scale, e);
  for (Column& column : e.columns) column.origin = Origin::not_available;
}

const Rung kRmRm{"rm_rm", "RM x RM"};
const Rung kRmCm{"rm_cm", "RM x CM"};
const Rung kRmRmGrouped{"rm_rm_4x16", "RM x RM grouped"};
const Rung kRmCmGrouped{"rm_cm_4x16", "RM x CM grouped"};
const Rung kVectorised{"rm_cm_vectorised", "vectorised"};
const Rung kRmRmBlocked{"rm_rm_blocked", "RM x RM blocked"};
const Rung kRmCmBlocked{"rm_cm_blocked", "RM x CM blocked"};
const Rung kMorton42{"morton_4_2", "Morton 4-2"};
const Rung kMorton44{"morton_4_4", "Morton 4-4"};

Experiment figure_7_3(Scale scale) {
  Experiment e{
      .id = "figure-7.3",
      .where = "section 7.2.3, figure 7.3",
      .title = "work-groups of 4 x 16",
      .question =
          "Work-items that run together can share what they read. Is a product faster if its "
          "work-groups are rectangles of 4 x 16?",
      .published = std::string(kLostPicture) +
                   " The text says that grouped kernels beat ungrouped ones, and that 4 x 16 beats "
                   "8 x 32 by a tiny margin.",
      .notes = {"The ungrouped kernels have the driver's work-group in R17, and 64 x 1 here."},
      .answer = all_of({is_faster("RM x CM grouped", "RM x CM", {"that groups win", Stance::yes}),
                        is_faster("RM x RM grouped", "RM x RM", {"that groups win", Stance::yes})}),
      .share = 2.0};
  finish_figure({kRmRm, kRmRmGrouped, kRmCm, kRmCmGrouped}, scale, e);
  return e;
}

Experiment figure_7_4(Scale scale) {
  Experiment e{
      .id = "figure-7.4",
      .where = "section 7.3.1, figure 7.4",
      .title = "vectors of four",
      .question =
          "How much does a product gain if it reads four numbers at once and multiplies "
          "them as a vector?",
      .published = std::string(kLostPicture) +
                   " The text says 2.8 times the grouped kernel and 27 times the baseline.",
      .answer = all_of({speed_ratio("vectorised", "RM x CM grouped", {"2.8 times"}),
                        speed_ratio("vectorised", "RM x RM", {"27 times"})}),
      .share = 1.0};
  finish_figure({kVectorised, kRmCmGrouped, kRmRm}, scale, e);
  return e;
}

Experiment figure_7_7(Scale scale) {
  Experiment e{
      .id = "figure-7.7",
      .where = "sections 7.4.3 and 7.5, figure 7.7",
      .title = "a block of results for each work-item",
      .question =
          "How much does a product gain if each work-item computes a block of the result, "
          "so that it uses again what it has read?",
      .published = std::string(kLostPicture) +
                   " The text says that blocked RM x CM is 33 times the baseline, and blocked "
                   "RM x RM about the vectorised one.",
      .notes =
          {"Blocked RM x RM has blocks of 1 x 4 and groups of 8 x 8, blocked RM x CM blocks of "
           "2 x 2 and groups of 4 x 16.",
           "The chapter's introduction says \"up to 4000 %\"."},
      .answer = all_of({speed_ratio("RM x CM blocked", "RM x RM", {"33 times"}),
                        speed_ratio("RM x RM blocked", "vectorised", {"about as fast"}),
                        fastest_column()}),
      .share = 1.0};
  finish_figure({kRmCmBlocked, kRmRmBlocked, kVectorised, kRmRm}, scale, e);
  return e;
}

Experiment figure_8_3(Scale scale) {
  Experiment e{
      .id = "figure-8.3",
      .where = "section 8.5, figure 8.3",
      .title = "all steps of the ladder together",
      .question = "What did each step from the textbook product to the Morton layouts bring?",
      .published = kLostPicture,
      .notes =
          {"Blocked RM x RM is not among them: it is in figure-7.7.",
           "Figure 12.2, which draws these layouts, swaps left and right; table 8.1 is right."},
      .answer = all_of({ratio_by_step({"RM x RM", "RM x CM grouped", "vectorised",
                                       "RM x CM blocked", "Morton 4-2"}),
                        speed_ratio("Morton 4-2", "RM x CM blocked", {"1.09 times"}),
                        speed_ratio("Morton 4-4", "RM x CM blocked"),
                        speed_ratio("Morton 4-2", "RM x RM"), fastest_column()}),
      .share = 1.5};
  finish_figure({kMorton42, kMorton44, kRmCmBlocked, kVectorised, kRmCmGrouped, kRmRm}, scale, e);
  return e;
}

}  // namespace

std::vector<Experiment> r17_ladder(Scale scale) {
  return {figure_7_3(scale), figure_7_4(scale), figure_7_7(scale), figure_8_3(scale)};
}

}  // namespace morton::cli
