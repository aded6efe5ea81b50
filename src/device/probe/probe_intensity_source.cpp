// SPDX-License-Identifier: Apache-2.0
#include "device/probe/probe_intensity_source.hpp"

#include <algorithm>

namespace morton::device {
namespace {

bool is_real(IntensityType type) {
  return type == IntensityType::f32 || type == IntensityType::f16;
}

const char* scalar_of(IntensityType type) {
  switch (type) {
    case IntensityType::f32:
      return "float";
    case IntensityType::f16:
      return "half";
    case IntensityType::i32:
      return "uint";
    case IntensityType::i8:
      break;
  }
  return "uchar";
}

/// The vectors of a turn in one. Compilers may take v0 - v1 of integers for (x0 - x1) * a and do
/// half of the work; of exclusive ors they cannot.
const char* together_of(IntensityType type) {
  return is_real(type) ? "(((v0 - v1) + (v2 - v3)) + ((v4 - v5) + (v6 + v7)))"
                       : "(((v0 ^ v1) ^ (v2 ^ v3)) ^ ((v4 ^ v5) ^ (v6 ^ v7)))";
}

std::string element(std::int64_t i) { return "v" + std::to_string(i); }

/// Elements are 0 to 3, so that all sums are exact.
constexpr const char* kFill = R"(
__kernel void fill(__global SCALAR* memory, uint elements) {
  for (uint e = get_global_id(0); e < elements; e += get_global_size(0)) {
    memory[e] = (SCALAR)((e * 2654435761u) >> 30);
  }
}
)";

/// Loads, multiply-adds, and a sum whose sign alternates, so that it stays small.
constexpr const char* kComputeHead = R"(
__kernel void compute(__global const VECTOR* memory, uint turns, uint rounds, ARGUMENT a, ARGUMENT b,
                      __global RESULT* sums) {
  const uint id = get_global_id(0), step = get_global_size(0);
  const VECTOR va = (VECTOR)((SCALAR)a), vb = (VECTOR)((SCALAR)b);
  VECTOR sum = (VECTOR)((SCALAR)0);
  for (uint t = 0; t < turns; ++t) {
)";

constexpr const char* kComputeTail = R"(
    sum = TOGETHER - sum;
  }
  sums[id] = RESULT_OF(sum);
}
)";

}  // namespace

const char* name_of(IntensityType type) {
  switch (type) {
    case IntensityType::f32:
      return "f32";
    case IntensityType::f16:
      return "f16";
    case IntensityType::i32:
      return "i32";
    case IntensityType::i8:
      break;
  }
  return "i8";
}

std::int64_t bytes_of(IntensityType type) {
  return type == IntensityType::i8 ? 1 : type == IntensityType::f16 ? 2 : 4;
}

std::int64_t result_bytes_of(IntensityType type) { return type == IntensityType::i8 ? 1 : 4; }

std::string intensity_source(const IntensityForm& form, std::int64_t multiply_adds) {
  const std::string scalar = scalar_of(form.type);
  const std::string vector = form.lanes == 1 ? scalar : scalar + std::to_string(form.lanes);
  std::string text;
  if (form.type == IntensityType::f16) text += "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";
  text += "#define SCALAR " + scalar + "\n#define VECTOR " + vector + "\n";
  text += std::string("#define ARGUMENT ") + (is_real(form.type) ? "float" : "uint") + "\n";
  const std::string result = form.type == IntensityType::f16 ? "float" + vector.substr(4) : vector;
  text += "#define RESULT " + result + "\n#define RESULT_OF(v) convert_" + result + "(v)\n";
  text += form.walk == MemoryWalk::parts ? "#define AT(j) ((id * turns + t) * 8 + j)\n"
                                         : "#define AT(j) ((t * 8 + j) * step + id)\n";
  text += std::string("#define TOGETHER ") + together_of(form.type) + "\n";
  text += std::string(kFill) + kComputeHead;
  for (std::int64_t i = 0; i < kVectorsOfTurn; ++i) {
    text += "    VECTOR " + element(i) + " = memory[AT(" + std::to_string(i) + ")];\n";
  }
  const bool in_rounds = multiply_adds >= kMultiplyAddsOfRound;
  if (in_rounds) text += "    for (uint r = 0; r < rounds; ++r) {\n";
  for (std::int64_t n = 0; n < std::min(multiply_adds, kMultiplyAddsOfRound); ++n) {
    text += "   ";
    for (std::int64_t i = 0; i < kVectorsOfTurn; ++i) {
      const std::string v = element(i);
      text += " " + v + " = ";
      text += is_real(form.type) ? std::string(form.multiply_add) + "(" + v + ", va, vb);"
                                 : v + " * va + vb;";
    }
    text += "\n";
  }
  if (in_rounds) text += "    }\n";
  return text + kComputeTail;
}

}  // namespace morton::device
