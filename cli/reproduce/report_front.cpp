// SPDX-License-Identifier: Apache-2.0
#include "reproduce/report_front.hpp"

#include <algorithm>

#include "reproduce/report.hpp"

namespace morton::cli {
namespace {

struct SourceFacts {
  const char* id;
  const char* document;
  const char* device;
};

constexpr SourceFacts kSources[] = {
    {"r17",
     "S. Rovder, Evaluating Neural Networks on Low-Powered GPUs, thesis, 2017: a ladder of matrix "
     "products from the textbook to layouts in tiles",
     "Odroid XU3 board: GPU Mali T-628"},
    {"r18",
     "S. Rovder, Optimising Neural Network Inference on Low-Powered GPUs, thesis, 2018: LeNet and "
     "VGG-16 of a library's routines and of own kernels",
     "the same board"},
    {"g16",
     "Kernels in gemmlowp, Google, 2016: kernels for 8 bits that state how operands are packed",
     "phones' processors"},
    {"a16",
     "V. Shimanskiy, Matrix Multiply on Adreno GPUs, Part 2, Qualcomm, 2016: a product that reads "
     "one "
     "matrix as an image",
     "GPUs Adreno 4xx and 5xx"},
    {"c18",
     "Cheng Wei, Performance optimization on TensorFlow framework on Mobile GPU devices using "
     "OpenCL, thesis, 2018: training on a phone",
     "phones' GPUs Adreno 530 and 540"}};

/// Up to its first full stop that ends a sentence.
std::string first_sentence(const std::string& text) {
  const std::size_t end = text.find(". ");
  return end == std::string::npos ? text : text.substr(0, end + 1);
}

}  // namespace

Table sources_table(const std::vector<Finding>& findings) {
  Table table;
  table.columns = {{"name"}, {"document, and what it is about"}, {"its device"}};
  for (const SourceFacts& source : kSources) {
    const auto known = std::ranges::find_if(
        findings, [&](const Finding& finding) { return finding.experiment->source == source.id; });
    if (known == findings.end()) continue;
    table.rows.push_back({source_name(*known->experiment), source.document, source.device});
  }
  return table;
}

Table words_table() {
  Table table;
  table.columns = {{"word"}, {"meaning"}};
  table.rows = {
      {"cut, left out", "not measured: no time was left, or --quick does not ask for it"},
      {"failed", "the command had an error"},
      {"not given", "the command's result holds no such number; a note says why"},
      {"-", "nobody asked for this number, or the source has none"},
      {"derived", "computed from other numbers that the source published"},
      {"±", "how far repetitions are apart: the interquartile range unless said otherwise"},
      {"within the spread",
       "a difference below 3 %, or below both ± together, each in per cent of its number"},
      {"in part", "in some rows only, or not by every source's word"},
      {"kernel", "a function that the device runs, once for each work-item"},
      {"work-item, work-group", "one of a kernel's many runs; those that run together"},
      {"GFLOP/s", "10^9 additions or multiplications of real numbers a second"},
      {"product of size N", "of two square matrices of N x N numbers: 2 N^3 operations"},
      {"GOP/s", "likewise of integers: columns of i32, i8 and bytes"},
      {"GiB/s, GB/s", "2^30 and 10^9 bytes a second"},
      {"peak", "the most that a device does, measured; a guess is marked"},
      {"layout", "the order in which memory goes through a matrix"},
      {"lhs, rhs", "the left and the right matrix of a product"},
      {"R, C; RM, CM", "row by row, column by column"},
      {"RM x CM", "a product whose left matrix lies row by row, its right one column by column"},
      {"grouped", "with rectangles of work-items as work-groups: 4 x 16"},
      {"unbound", "of a kernel that takes any layout"},
      {"baseline", "the source's first kernel of its kind; in table-8.2 its best on plain layouts"},
      {"version 1 to 3", "C18's kernels: textbook, tiles in local memory, transposed with vectors"},
      {"gemm.swapped", "the product turned round, B^T A^T: left out, for the sources have none"},
      {"plan's choice", "the kernels that Morton itself takes"},
      {"session", "a plan with its memory, ready to run again and again"},
      {"end to end", "from the first command to the last result, on the host's clock"},
      {"whole call", "a product with packing and waiting, on the host's clock"},
      {"R_2_4_R", "tiles of 2 x 4 numbers, row by row, each of them row by row inside"},
      {"Morton layout", "such tiles, in which a work-group's reads share cache lines"},
      {"packing", "bringing numbers into a layout, before a kernel runs"},
      {"im2col, unfolding", "an image written out so that a convolution becomes a product"},
      {"float4, float8, float16", "vectors of 4, 8 and 16 numbers"},
      {"bias, ReLU, sigmoid", "a number added to each row; functions of each result"},
      {"MLP, CNN", "networks of products alone; networks with convolutions"},
      {"LeNet, VGG-16", "a small and a large CNN; C1, conv1-1, mp1, F5, fc1 are their layers"},
      {"MNIST", "pictures of handwritten digits, to train on and to test with"},
      {"CLBlast, Eigen, NumPy", "libraries of matrix routines: for OpenCL, C++ and Python"},
      {"PoCL", "a driver that makes a CPU an OpenCL device"},
      {"xGEMM, xGEMV, xGEMMBATCHED, xCOPY, xIM2COL",
       "CLBlast's routines: product, with one vector, several at once, copy, unfolding"},
      {"host, device", "the processor that asks, and the one that computes; a CPU can be both"}};
  return table;
}

Table verdicts_table(const std::vector<Finding>& findings) {
  Table table;
  table.columns = {{"experiment"}, {"asked"}, {"answered"}};
  for (const Finding& finding : findings) {
    table.rows.push_back({name_of(*finding.experiment), finding.experiment->question,
                          first_sentence(answer_of(finding))});
  }
  return table;
}

}  // namespace morton::cli
