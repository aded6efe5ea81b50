// SPDX-License-Identifier: Apache-2.0
#include "device/open/processor.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace morton::device {
namespace {

constexpr const char* kCpuinfo = "/proc/cpuinfo";
constexpr const char* kFirstProcessor = "/sys/devices/system/cpu/cpu0/";

/// A file of the kernel's; empty where there is none.
std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::int64_t number_in(std::string_view text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// "32K", "1M", "65536".
std::int64_t bytes_in(std::string_view text) {
  const std::int64_t number = number_in(text);
  if (text.find('K') != std::string_view::npos) return number << 10;
  return text.find('M') != std::string_view::npos ? number << 20 : number;
}

/// The first value of a key of /proc/cpuinfo.
std::string_view value_of(std::string_view cpuinfo, std::string_view key) {
  for (std::size_t line = 0; line < cpuinfo.size();) {
    const std::size_t end = std::min(cpuinfo.find('\n', line), cpuinfo.size());
    const std::string_view text = cpuinfo.substr(line, end - line);
    const std::size_t colon = text.find(':');
    if (text.starts_with(key) && colon != std::string_view::npos) {
      const auto between = text.substr(key.size(), colon - key.size());
      if (between.find_first_not_of(" \t") == std::string_view::npos) {
        return text.substr(std::min(colon + 2, text.size()));
      }
    }
    line = end + 1;
  }
  return {};
}

bool has_word(std::string_view text, const std::string& word) {
  return (" " + std::string(text) + " ").find(" " + word + " ") != std::string::npos;
}

/// How many numbers "0,64" or "0-1,8" lists.
std::int64_t count_of(const std::string& list) {
  std::istringstream parts(list);
  std::int64_t count = 0;
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    count += dash == std::string::npos
                 ? 1
                 : number_in(std::string_view(part).substr(dash + 1)) - number_in(part) + 1;
  }
  return count;
}

/// Vectors of `lanes` floats that a core of x86 multiplies and adds in a cycle. AMD's families 23
/// to 25 work on 256 bits at a time, two of them in a cycle.
std::int64_t multiply_adds_of_x86(std::string_view cpuinfo, std::string_view flags,
                                  std::int64_t lanes) {
  if (!has_word(flags, "fma")) return 1;
  const std::int64_t family = number_in(value_of(cpuinfo, "cpu family"));
  const bool has_halves = has_word(flags, "avx512f") && family >= 23 && family <= 25 &&
                          value_of(cpuinfo, "vendor_id") == "AuthenticAMD";
  return has_halves && lanes == 16 ? 1 : 2;
}

void describe_x86(std::string_view cpuinfo, std::string_view flags, DeviceInfo& info) {
  CoreFacts& core = info.core;
  if (info.compute.native_vector_f32 < 4) {
    core.lanes = has_word(flags, "avx512f") ? 16 : has_word(flags, "avx2") ? 8 : 4;
    core.sources["lanes"] = kCpuinfo;
  }
  // AVX-512 names 32 registers, all before it 16, whatever their width.
  core.vector_registers = core.lanes == 16 ? 32 : 16;
  core.multiply_adds_per_cycle = multiply_adds_of_x86(cpuinfo, flags, core.lanes);
  core.dot_products =
      has_word(flags, "avx_vnni") || (core.lanes == 16 && has_word(flags, "avx512_vnni"));
  for (const char* key : {"vector_registers", "multiply_adds_per_cycle", "dot_products"}) {
    core.sources[key] = kCpuinfo;
  }
}

/// `features` are those of the line "Features"; the 64-bit state calls its vectors asimd, the
/// 32-bit one neon.
void describe_arm(std::string_view features, DeviceInfo& info) {
  CoreFacts& core = info.core;
  const bool is_64_bits = has_word(features, "asimd");
  core.lanes = 4;
  core.vector_registers = is_64_bits ? 32 : 16;
  core.dot_products = has_word(features, "asimddp");
  for (const char* key : {"lanes", "vector_registers", "dot_products"}) {
    core.sources[key] = kCpuinfo;
  }
  core.multiply_adds_per_cycle = is_64_bits ? 2 : 1;
  core.sources["multiply_adds_per_cycle"] = "guessed of any Arm processor";
}

}  // namespace

ProcessorDescription ProcessorDescription::read() {
  ProcessorDescription read;
  read.cpuinfo = text_of(kCpuinfo);
  const std::string first = kFirstProcessor;
  for (int i = 0; i < 8; ++i) {
    const std::string cache = first + "cache/index" + std::to_string(i) + "/";
    const std::string type = text_of(cache + "type");
    if (type.empty() || type.starts_with("Instruction")) continue;
    const std::int64_t level = number_in(text_of(cache + "level"));
    const std::int64_t bytes = bytes_in(text_of(cache + "size"));
    if (level == 1) read.l1_bytes = bytes;
    if (level == 2) read.l2_bytes = bytes;
  }
  read.thread_siblings = text_of(first + "topology/thread_siblings_list");
  return read;
}

void describe_core(const ProcessorDescription& processor, DeviceInfo& info) {
  CoreFacts& core = info.core;
  if (info.compute.native_vector_f32 >= 4) core.sources["lanes"] = "OpenCL";
  const std::string_view cpuinfo = processor.cpuinfo;
  if (const auto flags = value_of(cpuinfo, "flags"); !flags.empty()) {
    describe_x86(cpuinfo, flags, info);
  } else if (const auto features = value_of(cpuinfo, "Features"); !features.empty()) {
    describe_arm(features, info);
  }
  const auto set = [&](const char* key, std::int64_t& fact, std::int64_t found) {
    if (found <= 0) return;
    fact = found;
    core.sources[key] = "/sys";
  };
  set("l1_bytes", core.l1_bytes, processor.l1_bytes);
  set("l2_bytes", core.l2_bytes, processor.l2_bytes);
  set("threads_per_core", core.threads_per_core, count_of(processor.thread_siblings));
}

}  // namespace morton::device
