// SPDX-License-Identifier: Apache-2.0
//
// Machine code of Mali's Midgard as Mesa prints it (disassemble.c) with the word "verbose", which
// names the units. A core has two arithmetic pipelines and one for memory; each takes a bundle a
// cycle. A multiply-add is a product and a sum of one bundle: 4 lanes of each, of halves 8.
#include <algorithm>
#include <array>
#include <map>

#include "base/error.hpp"
#include "tools/boards/machine_code.hpp"
#include "tools/boards/printed_text.hpp"

namespace morton::tools {
namespace {

constexpr double kArithmeticPipelines = 2.0, kLanes = 4.0;
constexpr int kQuadword = 16;

/// A bundle as it is read, line by line.
struct Bundle {
  [[nodiscard]] bool is_empty() const { return !is_arithmetic && !is_memory && !is_texture; }

  bool is_arithmetic = false, is_memory = false, is_texture = false, has_constants = false;
  int bytes = 0;               ///< of an arithmetic bundle, without its constants
  int products = 0, sums = 0;  ///< of floats, lanes
  int integer_products = 0;    ///< lanes
  int loaded = 0, stored = 0;
  bool is_move = false, is_of_halves = false;
  std::optional<std::ptrdiff_t> distance;  ///< of a jump, in quadwords
};

/// Lanes that an instruction writes: "FMUL.f32 R2.xy, ..." 2; '~' stands for one that is masked.
int lanes_written(std::string_view line) {
  const std::size_t blank = line.find(' ');
  const std::string_view destination = before(line.substr(std::min(blank + 1, line.size())), ",");
  const std::string_view mask = behind_last(destination, ".");
  const double all = line.find(".f16 ") == std::string_view::npos ? kLanes : 2.0 * kLanes;
  return mask.empty() ? static_cast<int>(all)
                      : static_cast<int>(std::count_if(mask.begin(), mask.end(),
                                                       [](char c) { return c != '~'; }));
}

bool takes_unit(std::string_view line, std::string_view unit) {
  return line.starts_with(unit) && line.substr(unit.size()).starts_with(".");
}

void read_arithmetic(std::string_view line, bool is_vector, Bundle& bundle) {
  // A word of 2 bytes names the registers; a vector operation has 6 more, a scalar one 4.
  bundle.is_arithmetic = true;
  bundle.bytes += 2 + (is_vector ? 6 : 4);
  const std::string_view operation = line.substr(line.find('.') + 1);
  const bool is_half = operation.starts_with("FMUL.f16") || operation.starts_with("FADD.f16");
  const bool is_real =
      is_half || operation.starts_with("FMUL.f32") || operation.starts_with("FADD.f32");
  if (operation.starts_with("MUL.")) bundle.integer_products += lanes_written(operation);
  bundle.is_of_halves = bundle.is_of_halves || is_half;
  if (is_real) (operation[1] == 'M' ? bundle.products : bundle.sums) += lanes_written(operation);
  bundle.is_move = bundle.is_move || operation.starts_with("FMOV") || operation.starts_with("MOV");
}

/// Bytes of "LD.128" and its like; images and the rest 16.
int midgard_bytes(std::string_view line) {
  int bits = 0;
  return read_number(behind_last(before(line, " "), "."), bits) ? bits / 8 : 16;
}

void read_midgard_line(std::string_view line, Bundle& bundle) {
  static const std::array jumps{"br.", "brx.", "writeout", "break"};
  if (takes_unit(line, "vmul") || takes_unit(line, "vadd") || takes_unit(line, "lut")) {
    read_arithmetic(line, true, bundle);
  } else if (takes_unit(line, "sadd") || takes_unit(line, "smul")) {
    read_arithmetic(line, false, bundle);
  } else if (begins_with_one(line, jumps)) {
    bundle.is_arithmetic = true;
    bundle.bytes += line.starts_with("brx.") ? 6 : 2;
    const std::size_t number = line.find_first_of("+-");
    std::ptrdiff_t distance = 0;
    if (number != std::string_view::npos &&
        read_number(line.substr(number + (line[number] == '+' ? 1 : 0)), distance)) {
      bundle.distance = distance;
    }
  } else if (line.starts_with("uconstants") || line.starts_with("fconstants") ||
             line.starts_with("vconstants") || line.starts_with("sconstants")) {
    bundle.has_constants = true;
  } else if (line.starts_with("LD") || line.starts_with("UNPACK") || line.starts_with("PACK") ||
             line.starts_with("LEA") || line.starts_with("CUBEMAP")) {
    bundle.is_memory = true;
    // LDST_MOV fetches an id, from no memory.
    const bool loads = line.starts_with("LD") && !line.starts_with("LDST_MOV");
    bundle.loaded += loads ? midgard_bytes(line) : 0;
  } else if (line.starts_with("ST") || line.starts_with("A")) {
    bundle.is_memory = true;
    bundle.stored += line.starts_with("ST") ? midgard_bytes(line) : 0;
  } else if (line.starts_with("TEX") || line.starts_with("BARRIER") ||
             line.starts_with("texture") || line.starts_with("barrier")) {
    bundle.is_texture = true;
    bundle.loaded += line.starts_with("TEX") ? 16 : 0;
  } else {
    not_understood("Midgard", line);
  }
}

Instruction midgard_instruction(const Bundle& bundle) {
  Instruction instruction;
  instruction.bytes_loaded = bundle.loaded;
  instruction.bytes_stored = bundle.stored;
  instruction.is_move = bundle.is_move;
  if (bundle.is_arithmetic) {
    instruction.unit = "arith";
    instruction.cycles = 1.0 / kArithmeticPipelines;
    instruction.products = bundle.products;
    instruction.sums = bundle.sums;
    instruction.integer_products = bundle.integer_products;
    instruction.pair_cycles =
        1.0 / (bundle.is_of_halves ? 2.0 * kLanes : kLanes) / kArithmeticPipelines;
  } else {
    instruction.unit = bundle.is_memory ? "ldst" : "texture";
    instruction.cycles = 1.0;
  }
  return instruction;
}

int midgard_quadwords(const Bundle& bundle) {
  if (!bundle.is_arithmetic) return 1;
  constexpr int kControlBytes = 4;
  return (kControlBytes + bundle.bytes + kQuadword - 1) / kQuadword +
         (bundle.has_constants ? 1 : 0);
}

}  // namespace

CompilerStatistics read_midgard(const PrintedKernel& kernel) {
  CompilerStatistics statistics = read_mali_counts(kernel, "Midgard");
  statistics.multiply_adds_per_cycle = kLanes * kArithmeticPipelines;
  std::vector<Bundle> bundles(1);
  for (const std::string_view printed : kernel.lines) {
    const std::string_view line = trimmed(printed);
    if (!line.empty()) {
      read_midgard_line(line, bundles.back());
    } else if (!bundles.back().is_empty()) {
      bundles.emplace_back();
    }
  }
  if (bundles.back().is_empty()) bundles.pop_back();
  int counted = 0;
  if (!read_count(kernel.counts, "bundles", counted)) not_understood("Midgard", kernel.counts);
  // The compiler counts before it adds what stores and fetches registers.
  if (statistics.spills + statistics.fills == 0) {
    expect_counted(statistics, "bundles", counted, static_cast<int>(bundles.size()));
  }
  std::vector<Instruction> code;
  std::map<std::ptrdiff_t, std::ptrdiff_t> at_quadword;  // -> index of the bundle there
  std::vector<std::ptrdiff_t> starts;
  std::ptrdiff_t quadword = 0;
  for (const Bundle& bundle : bundles) {
    at_quadword[quadword] = static_cast<std::ptrdiff_t>(code.size());
    starts.push_back(quadword);
    quadword += midgard_quadwords(bundle);
    code.push_back(midgard_instruction(bundle));
  }
  for (std::size_t i = 0; i < bundles.size(); ++i) {
    if (!bundles[i].distance) continue;
    // The distance counts from the end of the bundle.
    const auto next = i + 1 < bundles.size() ? starts[i + 1] : quadword;
    const auto found = at_quadword.find(next + *bundles[i].distance);
    if (found != at_quadword.end()) {
      code[i].target = found->second;
    } else if (next + *bundles[i].distance != quadword) {
      throw ModelError("the compiler's text: a jump of Midgard goes into the midst of a bundle");
    }
  }
  read_code(code, statistics);
  return statistics;
}

}  // namespace morton::tools
