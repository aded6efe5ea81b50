// SPDX-License-Identifier: Apache-2.0
//
// Machine code of Adreno's ir3 as Mesa prints it (freedreno, ir3). A wave issues one instruction
// a cycle; `(rptN)` issues it N times more, `(nopN)` leaves N cycles empty behind it.
#include <array>

#include "base/error.hpp"
#include "tools/boards/machine_code.hpp"
#include "tools/boards/printed_text.hpp"

namespace morton::tools {
namespace {

/// The marks in brackets before an instruction.
struct Marks {
  int repeats = 0, nops = 0;
  bool waits = false;
};

/// Takes the marks off the line.
Marks take_marks(std::string_view& line) {
  Marks marks;
  while (line.starts_with("(")) {
    const std::size_t end = line.find(')');
    if (end == std::string_view::npos) not_understood("ir3", line);
    const std::string_view mark = line.substr(1, end - 1);
    if (mark.starts_with("rpt") && !read_number(mark.substr(3), marks.repeats)) {
      not_understood("ir3", line);
    }
    // The printer knows no number for those of dot products: "(nop)", and says so behind.
    const bool is_counted = mark.starts_with("nop") && mark != "nop";
    if (is_counted && !read_number(mark.substr(3), marks.nops)) {
      not_understood("ir3", line);
    }
    marks.waits = marks.waits || mark == "ss" || mark == "sy";
    line = trimmed(line.substr(end + 1));
  }
  return marks;
}

/// Bytes of a component: "ldg.u32" 4.
int component_bytes(std::string_view name) {
  const std::string_view type = behind_last(name, ".");
  int bits = 0;
  if (type.empty() || !read_number(type.substr(1), bits)) return 4;
  return bits / 8;
}

/// The number of components, which stands last in "ldg.u32 r2.y, g[r10.z], 4".
int components(std::string_view line) {
  int count = 1;
  return read_number(trimmed(behind_last(line, ",")), count) ? count : 1;
}

/// Whether ir3 has an instruction of this name: what comes before its types.
bool is_known(std::string_view name) {
  static const std::array known{
      "nop",   "mov",   "cov",   "br",       "jump",   "end",     "ret",     "call",    "kill",
      "shps",  "shpe",  "pred",  "add",      "sub",    "mul",     "mad",     "sad",     "min",
      "max",   "sel",   "cmps",  "cmpv",     "absneg", "abs",     "neg",     "sign",    "floor",
      "ceil",  "rndne", "rndaz", "trunc",    "and",    "or",      "xor",     "not",     "shl",
      "shr",   "ashr",  "shrm",  "shlm",     "shrg",   "shlg",    "andg",    "cbits",   "bfrev",
      "clz",   "bary",  "flat",  "mgen",     "getbit", "setrm",   "dp2acc",  "dp4acc",  "wmm",
      "rcp",   "rsq",   "hrsq",  "log2",     "exp2",   "sin",     "cos",     "sqrt",    "hlog2",
      "hexp2", "ldg",   "stg",   "ldl",      "stl",    "ldp",     "stp",     "ldlw",    "stlw",
      "ldc",   "ldib",  "stib",  "isam",     "sam",    "getsize", "resinfo", "atomic",  "bar",
      "fence", "elect", "swz",   "gat",      "sct",    "movmsk",  "movs",    "getone",  "getlast",
      "quad",  "brcst", "scan",  "prefetch", "sleep",  "icinv",   "cc",      "lock",    "unlock",
      "stc",   "ccinv", "ldgb",  "stgb",     "stsc",   "alias",   "ray",     "resbase", "shfl",
      "tag"};
  return begins_with_one(name, known);
}

/// `line` is the instruction behind its marks.
Instruction adreno_instruction(std::string_view line, const Marks& marks) {
  const std::string_view name = before(line, " ");
  if (!is_known(name)) not_understood("ir3", line);
  Instruction instruction;
  instruction.slots = 1 + marks.repeats + marks.nops;
  instruction.unit = "issue";
  instruction.cycles = instruction.slots;
  instruction.waits = marks.waits;
  instruction.is_move = name.starts_with("mov");
  const int products = name.starts_with("mad.f")    ? 1
                       : name.starts_with("dp4acc") ? 4
                       : name.starts_with("dp2acc") ? 2
                                                    : 0;
  // A product of 32 bits begins with the lower halves' (mull); those that follow (madsh) belong to
  // it.
  static const std::array whole{"mul.s", "mul.u", "mull.u", "mad.s", "mad.u"};
  if (begins_with_one(name, whole)) instruction.integer_products = 1 + marks.repeats;
  if (products > 0) {
    instruction.multiply_adds = products * (1 + marks.repeats);
    instruction.multiply_add_cycles = 1 + marks.repeats;
  }
  static const std::array loads{"ldg", "ldl", "ldp", "ldib"};
  static const std::array stores{"stg", "stl", "stp", "stib"};
  if (begins_with_one(name, loads)) {
    instruction.bytes_loaded = component_bytes(name) * components(line);
  } else if (begins_with_one(name, stores)) {
    instruction.bytes_stored = component_bytes(name) * components(line);
  } else if (name.starts_with("isam") || name.starts_with("sam")) {
    instruction.bytes_loaded = 16;
  }
  return instruction;
}

/// Number before `word` in the kernel's own lines; not understood where it is absent.
int count_of(std::string_view counts, std::string_view word) {
  int number = 0;
  if (!read_count(counts, word, number)) not_understood("ir3", counts);
  return number;
}

}  // namespace

CompilerStatistics read_adreno(const PrintedKernel& kernel) {
  CompilerStatistics statistics;
  statistics.compiler = "ir3";
  statistics.function = kernel.function;
  statistics.instructions = count_of(kernel.counts, "instr");
  statistics.registers = count_of(kernel.counts, "full");
  statistics.half_registers = count_of(kernel.counts, "half");
  statistics.loops = count_of(kernel.counts, "loops");
  statistics.stalls = count_of(kernel.counts, "sstall") + count_of(kernel.counts, "systall");
  std::vector<Instruction> code;
  Labels labels;
  bool in_preamble = false;
  for (const std::string_view printed : kernel.lines) {
    std::string_view line = trimmed(printed);
    if (line.empty() || line.front() == ';' || line.front() == '@') continue;
    if (line.ends_with(":")) {
      labels.place(line.substr(0, line.size() - 1), code.size());
      continue;
    }
    const Marks marks = take_marks(line);
    const std::string_view name = before(line, " ");
    Instruction instruction = adreno_instruction(line, marks);
    // What lies between `shps` and `shpe` runs once for the launch.
    if (name == "shps") in_preamble = true;
    if (!in_preamble) {
      if (name.starts_with("ldp.")) ++statistics.fills;
      if (name.starts_with("stp.")) ++statistics.spills;
      const std::size_t label = line.rfind("#l");
      const bool jumps = name == "jump" || (name.starts_with("br") && !name.starts_with("brcst"));
      if (jumps && label == std::string_view::npos) not_understood("ir3", line);
      if (label != std::string_view::npos) {
        labels.jump(code.size(), before(line.substr(label + 1), " ,"));
      }
      code.push_back(std::move(instruction));
    }
    if (name == "shpe") in_preamble = false;
    if (name == "end") break;  // padding follows
  }
  if (code.empty()) not_understood("ir3", kernel.counts);
  labels.resolve(code, "ir3");
  read_code(code, statistics);
  return statistics;
}

}  // namespace morton::tools
