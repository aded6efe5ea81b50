// SPDX-License-Identifier: Apache-2.0
//
// Machine code of Mali's Bifrost and Valhall as Mesa prints it. What each unit does in a cycle is
// from Mesa's own statistics (bifrost_compile.c). Valhall does 64 multiply-adds (FMA), 64
// conversions and integer additions (CVT), 16 of the special unit (SFU) and 4 texels; Bifrost 24
// tuples and 2 texels. Mesa counts one load a cycle for a single work-item. Arm's guide to
// Valhall's shader core says that a whole warp has its data in one cycle where that lies in one
// line of 64 bytes. So a load costs a 16th there, and an 8th on Bifrost, whose warp has 8.
#include <array>

#include "tools/boards/machine_code.hpp"
#include "tools/boards/printed_text.hpp"

namespace morton::tools {
namespace {

using Words = std::initializer_list<std::string_view>;

constexpr std::array kMultiplyAdds{"FMA.", "FMA_"};

/// Bytes that a load or store named so moves: "LOAD.i128" 16. Vectors of images have 4 floats.
int bytes_moved(std::string_view name) {
  int bits = 0;
  const std::size_t at = name.find(".i");
  if (at != std::string_view::npos && read_number(name.substr(at + 2), bits)) return bits / 8;
  return 16;
}

/// What is the same on Bifrost and Valhall. `line` is the instruction with its operands.
Instruction multiply_add_or_memory(std::string_view line, double message_cycles,
                                   const char* memory_unit) {
  const std::string_view name = before(line, " ");
  Instruction instruction;
  // There is no product: it is a multiply-add of negative zero.
  const bool is_product = line.ends_with(" 0x0.neg") || line.ends_with(" #0.neg");
  if (begins_with_one(name, kMultiplyAdds)) {
    if (is_product) return instruction;
    instruction.multiply_adds = name.find(".v2f16") != std::string_view::npos ? 2 : 1;
  } else if (name.starts_with("IMUL.")) {
    instruction.integer_products = name.find(".v4i8") != std::string_view::npos    ? 4
                                   : name.find(".v2i16") != std::string_view::npos ? 2
                                                                                   : 1;
  } else if (name.starts_with("IDP.")) {
    constexpr int kDotProduct = 4;
    instruction.multiply_adds = kDotProduct;
  } else if (begins_with_one(name, Words{"LOAD", "LD_"})) {
    instruction.unit = memory_unit;
    instruction.cycles = message_cycles;
    instruction.bytes_loaded = bytes_moved(name);
  } else if (begins_with_one(name, Words{"STORE", "ST_CVT"})) {
    instruction.unit = memory_unit;
    instruction.cycles = message_cycles;
    instruction.bytes_stored = bytes_moved(name);
  } else if (begins_with_one(name, Words{"LEA_", "ATOM"})) {
    instruction.unit = memory_unit;
    instruction.cycles = message_cycles;
  } else if (begins_with_one(name, Words{"TEX", "VAR_TEX"})) {
    instruction.bytes_loaded = 16;
  }
  instruction.is_move = name.starts_with("MOV");
  return instruction;
}

constexpr double kValhallMessage = 1.0 / 16, kValhallMultiplyAdds = 64.0;

/// The unit of a Valhall instruction and what it does in a cycle; nothing for one not known.
struct UnitOfValhall {
  const char* unit = nullptr;
  double per_cycle = 0.0;
};

UnitOfValhall valhall_unit(std::string_view name) {
  static const std::array fma{"FADD", "FMA.", "FMA_", "LDEXP", "IDP"};
  static const std::array sfu{"FRCP", "FRSQ",  "FLOG",   "FPCLASS", "FSIN",    "FCOS",
                              "FEXP", "FATAN", "IMUL",   "CLPER",   "LSHIFT",  "RSHIFT",
                              "MUX",  "CUBE",  "BITREV", "NOT_OLD", "POPCOUNT"};
  static const std::array cvt{"NOP",   "BRANCHZ", "DISCARD", "CSEL", "V2",   "S32_",
                              "U32_",  "S16_",    "U16_",    "F32_", "F16_", "S8_",
                              "U8_",   "FROUND",  "MOV",     "CLZ",  "IABS", "WMASK",
                              "FLUSH", "FREXP",   "FMIN",    "FMAX", "IADD", "MKVEC",
                              "ISUB",  "SEG_ADD", "SHADDX",  "HADD", "ICMP", "FCMP"};
  static const std::array memory{"LOAD", "LD_", "STORE", "ST_", "LEA_", "ATOM"};
  static const std::array none{"BARRIER", "BLEND", "ATEST", "ZS_EMIT"};
  if (begins_with_one(name, fma)) return {"fma", kValhallMultiplyAdds};
  if (begins_with_one(name, sfu)) return {"sfu", 16.0};
  if (begins_with_one(name, cvt)) return {"cvt", 64.0};
  if (begins_with_one(name, memory)) return {"ls", 1.0 / kValhallMessage};
  if (begins_with_one(name, Words{"TEX", "VAR_TEX"})) return {"t", 4.0};
  if (begins_with_one(name, none)) return {"", 0.0};
  return {};
}

Instruction valhall_instruction(std::string_view line) {
  const std::string_view name = before(line, " ");
  const auto [unit, per_cycle] = valhall_unit(name);
  if (unit == nullptr) not_understood("Valhall", line);
  Instruction instruction = multiply_add_or_memory(line, kValhallMessage, "ls");
  instruction.unit = unit;
  // 64-bit arithmetic takes the units for twice as long.
  const bool is_long =
      unit != std::string_view("ls") &&
      (name.find(".u64") != std::string_view::npos || name.find(".s64") != std::string_view::npos ||
       name.find(".i64") != std::string_view::npos);
  const int words = is_long ? 2 : 1;
  if (per_cycle > 0.0) instruction.cycles = words / per_cycle;
  if (instruction.multiply_adds > 0) instruction.multiply_add_cycles = instruction.cycles;
  instruction.waits = name.find(".wait") != std::string_view::npos;
  return instruction;
}

constexpr double kTuple = 1.0 / 24, kBifrostMessage = 1.0 / 8, kBifrostTexture = 1.0 / 2;

/// An instruction of a tuple: "*" stands before what the FMA unit does, "+" before the rest.
Instruction bifrost_instruction(std::string_view line, bool begins_tuple) {
  const std::string_view name = before(line, " ");
  Instruction instruction = multiply_add_or_memory(line, kBifrostMessage, "ldst");
  if (name.starts_with("TEX")) {
    instruction.unit = "texture";
    instruction.cycles = kBifrostTexture;
  }
  instruction.slots = begins_tuple ? 1 : 0;
  if (begins_tuple) {
    instruction.unit = "arith";
    instruction.cycles = kTuple;
    if (instruction.multiply_adds > 0) instruction.multiply_add_cycles = kTuple;
  }
  return instruction;
}

}  // namespace

CompilerStatistics read_valhall(const PrintedKernel& kernel) {
  CompilerStatistics statistics = read_mali_counts(kernel, "Valhall");
  statistics.multiply_adds_per_cycle = kValhallMultiplyAdds;
  std::vector<Instruction> code;
  for (const std::string_view printed : kernel.lines) {
    const std::string_view line = trimmed(printed);
    if (line.empty()) continue;
    Instruction instruction = valhall_instruction(line);
    const std::string_view offset = behind_last(line, "offset:");
    std::ptrdiff_t distance = 0;
    if (line.starts_with("BRANCHZ.")) {
      if (!read_number(offset, distance)) not_understood("Valhall", line);
      instruction.target = static_cast<std::ptrdiff_t>(code.size()) + 1 + distance;
    }
    code.push_back(std::move(instruction));
  }
  expect_counted(statistics, "instructions", statistics.instructions,
                 static_cast<int>(code.size()));
  read_code(code, statistics);
  return statistics;
}

CompilerStatistics read_bifrost(const PrintedKernel& kernel) {
  CompilerStatistics statistics = read_mali_counts(kernel, "Bifrost");
  statistics.multiply_adds_per_cycle = 1.0 / kTuple;
  std::vector<Instruction> code;
  Labels clauses;
  for (const std::string_view printed : kernel.lines) {
    const std::string_view line = trimmed(printed);
    if (line.starts_with("clause_") && line.ends_with(":")) {
      clauses.place(line.substr(0, line.size() - 1), code.size());
      continue;
    }
    if (line.starts_with("ds(")) {
      if (!code.empty() && line.find("dwb(") != std::string_view::npos) code.back().waits = true;
      continue;
    }
    if (line.empty() || line == "{" || line == "}") continue;
    if (line.front() != '*' && line.front() != '+') not_understood("Bifrost", line);
    code.push_back(bifrost_instruction(line.substr(1), line.front() == '*'));
    const std::size_t clause = line.rfind("clause_");
    if (clause != std::string_view::npos) {
      clauses.jump(code.size() - 1, before(line.substr(clause), " "));
    }
  }
  clauses.resolve(code, "Bifrost");
  int tuples = 0;
  if (!read_count(kernel.counts, "tuples", tuples)) not_understood("Bifrost", kernel.counts);
  read_code(code, statistics);
  expect_counted(statistics, "tuples", tuples, statistics.all.instructions);
  return statistics;
}

}  // namespace morton::tools
