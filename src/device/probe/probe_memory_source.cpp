// SPDX-License-Identifier: Apache-2.0
#include "device/probe/probe_memory_source.hpp"

namespace morton::device {
namespace {

/// The walk that all kernels share: TURNS { ... AT(0) ... AT(3) ... NEXT }. Vector AT(j) of the
/// range [first, first + vectors).
constexpr const char* kWalk = R"(
#if PARTS
#define BEGIN const uint id = get_global_id(0); const uint part = vectors / (uint)get_global_size(0); \
  const uint begin = first + part * id, end = begin + part;
#define TURNS for (uint r = 0; r < rounds; ++r) for (uint i = begin; i < end; i += 4)
#define AT(j) (i + j)
#define NEXT
#define ROUND r
#else
#define BEGIN const uint id = get_global_id(0); const uint step = get_global_size(0); \
  const uint mask = vectors - 1; uint at = id;
#define TURNS for (uint r = 0; r < rounds; ++r)
#define AT(j) (first + ((at + j * step) & mask))
#define NEXT at += 4 * step;
#define ROUND 0
#endif
)";

constexpr const char* kBufferKernels = R"(
__kernel void fill(__global uint* memory, uint elements, uint factor) {
  for (uint e = get_global_id(0); e < elements; e += get_global_size(0)) memory[e] = e * factor;
}
__kernel void read(__global const VECTOR* memory, uint first, uint vectors, uint rounds,
                   __global uint* sums) {
  BEGIN
  VECTOR s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  TURNS {
    s0 += memory[AT(0)]; s1 += memory[AT(1)]; s2 += memory[AT(2)]; s3 += memory[AT(3)];
    NEXT
  }
  s0 += s1 + s2 + s3;
  sums[id] = sum_of_lanes(s0);
}
__kernel void write(__global VECTOR* memory, uint first, uint vectors, uint rounds, uint seed) {
  BEGIN
  TURNS {
    const VECTOR value = (VECTOR)(seed + ROUND);
    memory[AT(0)] = value; memory[AT(1)] = value; memory[AT(2)] = value; memory[AT(3)] = value;
    NEXT
  }
}
__kernel void copy(__global VECTOR* memory, uint first, uint vectors, uint rounds, uint seed) {
  BEGIN
  __global VECTOR* to = memory + vectors;
  TURNS {
    const VECTOR value = (VECTOR)(seed + ROUND);
    const VECTOR v0 = memory[AT(0)], v1 = memory[AT(1)], v2 = memory[AT(2)], v3 = memory[AT(3)];
    to[AT(0)] = v0 + value; to[AT(1)] = v1 + value;
    to[AT(2)] = v2 + value; to[AT(3)] = v3 + value;
    NEXT
  }
}
)";

constexpr const char* kImageKernel = R"(
__constant sampler_t exact = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
#define TEXEL(t) read_imageui(image, exact, (int2)((t) & ((1u << shift) - 1), (t) >> shift))
__kernel void image_read(__read_only image2d_t image, uint first, uint vectors, uint rounds,
                         __global uint* sums, uint shift) {
  BEGIN
  uint4 s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  TURNS {
    s0 += TEXEL(AT(0)); s1 += TEXEL(AT(1)); s2 += TEXEL(AT(2)); s3 += TEXEL(AT(3));
    NEXT
  }
  s0 += s1 + s2 + s3;
  sums[id] = s0.x + s0.y + s0.z + s0.w;
}
)";

std::string head_of(MemoryWalk walk, std::int64_t lanes) {
  std::string sum;
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    sum += (lane == 0 ? "v.s" : " + v.s") + std::string(1, "0123456789abcdef"[lane]);
  }
  std::string text = std::string("#define PARTS ") + (walk == MemoryWalk::parts ? "1" : "0") + "\n";
  text += "#define VECTOR uint" + std::to_string(lanes) + "\n";
  text += "uint sum_of_lanes(VECTOR v) { return " + sum + "; }\n";
  return text + kWalk;
}

}  // namespace

std::string memory_probe_source(MemoryWalk walk, std::int64_t lanes) {
  return head_of(walk, lanes) + kBufferKernels;
}

std::string image_probe_source(MemoryWalk walk) { return head_of(walk, 4) + kImageKernel; }

}  // namespace morton::device
