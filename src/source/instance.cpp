// SPDX-License-Identifier: Apache-2.0
#include "source/instance.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include "base/files/file.hpp"
#include "base/text/bare_code.hpp"
#include "base/text/identifiers.hpp"
#include "source/accessor.hpp"
#include "source/element.hpp"
#include "source/instance_writer.hpp"
#include "source/reduction.hpp"
#include "source/work_program.hpp"

namespace morton::source {
namespace {

/// How a stacked kernel calls an operand of that copy.
std::string name_in_copy(const std::string& operand, int copy) {
  return "copy" + std::to_string(copy) + "_" + operand;
}

/// Operands once for each copy, integers once.
std::vector<InstanceArgument> for_each_copy(const std::vector<InstanceArgument>& arguments,
                                            int copies) {
  std::vector<InstanceArgument> all;
  for (InstanceArgument argument : arguments) {
    const int times = argument.kind == InstanceArgument::Kind::operand ? copies : 1;
    for (argument.member = 0; argument.member < times; ++argument.member) all.push_back(argument);
  }
  return all;
}

}  // namespace

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
  }
}

const InstanceOperand* InstanceWriter::find(const std::string& name) const {
  for (const auto* list : {&spec_.operands, &spec_.sides}) {
    for (const auto& operand : *list) {
      if (operand.name == name) return &operand;
    }
  }
  return nullptr;
}

DType InstanceWriter::accumulator() const {
  const auto type = spec_.problem.types.find("acc");
  return type == spec_.problem.types.end() ? DType::f32 : type->second;
}

StoredNumber InstanceWriter::stored_number() const {
  if (is_real(find("dst")->arrangement.dtype)) return StoredNumber::any;
  if (!spec_.problem.epilogue.is_identity()) {
    return is_real(typed_epilogue().result_type()) ? StoredNumber::any : StoredNumber::whole;
  }
  const auto acc = spec_.problem.types.find("acc");
  const bool adds_reals = acc != spec_.problem.types.end() && is_real(acc->second);
  const bool reads_reals = std::ranges::any_of(spec_.operands, [](const InstanceOperand& operand) {
    return operand.direction == InstanceOperand::Direction::read &&
           is_real(operand.arrangement.dtype);
  });
  return adds_reals || reads_reals ? StoredNumber::any : StoredNumber::whole;
}

std::string InstanceWriter::memory_name(const InstanceOperand& operand) const {
  const bool part =
      !spec_.entry->origin.batch_of.empty() && operand.access == InstanceOperand::Access::by_hand;
  return part ? operand.name + "_memory" : operand.name;
}

void InstanceWriter::define_constants() {
  for (const auto& [name, value] : spec_.tunables) define(name, "", std::to_string(value));
  std::string local;
  for (std::size_t i = 0; i < 3; ++i) {
    local += (i > 0 ? ", " : "") + std::to_string(i < spec_.local.size() ? spec_.local[i] : 1);
  }
  define("ATTRIBUTES", "", is_part() ? "" : "__attribute__((reqd_work_group_size(" + local + ")))");
  if (spec_.entry->takes_work()) return;
  for (const auto& operand : spec_.operands) {
    const DType type = operand.arrangement.dtype;
    define("TYPE_" + operand.name, "", std::string(value_type(type)));
    define("MEMORY_" + operand.name, "", std::string(memory_type(type)));
    head_ << element_functions(type);
  }
  for (const auto& side : spec_.sides) head_ << element_functions(side.arrangement.dtype);
  define("TYPE_acc", "", std::string(value_type(accumulator())));
  for (const auto& macro : reduction_macros(spec_.problem)) {
    define(macro.name, macro.parameters, macro.body);
  }
}

std::string InstanceWriter::parameter(const InstanceOperand& operand,
                                      const std::string& name) const {
  const std::string type = variable_type(operand);
  const bool restricts = type.ends_with('*') && !spec_.in_place;
  return type + (restricts ? " restrict " : " ") + name;
}

std::string InstanceWriter::operands_of_copy() const {
  std::string text;
  for (const auto* list : {&spec_.operands, &spec_.sides}) {
    for (const InstanceOperand& operand : *list) {
      std::string choice;
      for (int copy = 0; copy + 1 < copies_; ++copy) {
        choice += "stack_copy == " + std::to_string(copy) + " ? " +
                  name_in_copy(operand.name, copy) + " : ";
      }
      text += parameter(operand, operand.name) + " = " + choice +
              name_in_copy(operand.name, copies_ - 1) + "; ";
    }
  }
  return "const int stack_copy = get_group_id(2); " + text;
}

std::string InstanceWriter::variable_type(const InstanceOperand& operand) const {
  const bool image = operand.arrangement.memory == MemoryKind::image;
  if (image && operand.access == InstanceOperand::Access::by_hand) return "__read_only image2d_t";
  const std::string type(memory_type(operand.arrangement.dtype));
  const bool reads = operand.direction == InstanceOperand::Direction::read;
  return std::string("__global ") + (reads ? "const " : "") + type + "*";
}

/// The built-in functions that say where a work-item is, as the caller's arguments have it.
void InstanceWriter::define_place_in_caller() {
  define("get_group_id", "(d)", "((size_t)((d) == 0 ? part_at0 : (d) == 1 ? part_at1 : 0))");
  define("get_num_groups", "(d)",
         "((size_t)((d) == 0 ? part_groups0 : (d) == 1 ? part_groups1 : 1))");
  define("get_global_id", "(d)", "(get_group_id(d) * get_local_size(d) + get_local_id(d))");
  define("get_global_size", "(d)", "(get_num_groups(d) * get_local_size(d))");
}

std::string InstanceWriter::text_of_entry() const {
  std::string text = spec_.entry->program.source;
  constexpr std::string_view kKernel = "__kernel ";
  if (is_part()) text.replace(text.find(kKernel), kKernel.size(), "static ");
  if (copies_ > 1) {
    text.insert(text.find(kBeginOfBody) + kBeginOfBody.size(), " " + operands_of_copy());
  }
  return text;
}

/// The same for all work: words in place of the operands' types, and an array for each side operand
/// that there could be.
std::vector<InstanceArgument> InstanceWriter::define_program_arguments() {
  std::vector<InstanceArgument> arguments;
  std::string list;
  for (const auto& name : spec_.entry->launch.arguments) {
    const std::string type = name == "dst"    ? "__global uint*"
                             : name == "work" ? "__global const int*"
                                              : "__global const uint*";
    arguments.push_back({InstanceArgument::Kind::operand, name, type});
    list += (list.empty() ? "" : ", ") + type + " " + name;
  }
  define("ARGUMENTS", "", list);
  return arguments;
}

std::vector<InstanceArgument> InstanceWriter::define_arguments() {
  if (spec_.entry->takes_work()) return define_program_arguments();
  using Kind = InstanceArgument::Kind;
  std::vector<InstanceArgument> arguments;
  std::set<std::string> taken;
  const auto add = [&](Kind kind, const std::string& name) {
    if (!taken.insert(name).second) return;
    arguments.push_back({kind, name, kind == Kind::operand ? variable_type(*find(name)) : "int"});
  };
  for (const auto& name : spec_.entry->launch.arguments) {
    add(find(name) != nullptr ? Kind::operand : Kind::integer, name);
  }
  for (const auto& operand : spec_.operands) {
    if (!taken.contains(operand.name)) {
      throw ModelError(spec_.entry->name + ": \"arguments\" lacks the operand '" + operand.name +
                       "'");
    }
  }
  for (const auto& side : spec_.sides) add(Kind::operand, side.name);
  for (const auto& name : sizes_) {
    if (!spec_.problem.structure.contains(name)) add(Kind::integer, name);
  }
  if (copies_ > 1) arguments = for_each_copy(arguments, copies_);
  std::string list;
  for (const auto& argument : arguments) {
    list += list.empty() ? "" : ", ";
    if (argument.kind == Kind::integer) {
      list += "int " + argument.name;
      continue;
    }
    const InstanceOperand& operand = *find(argument.name);
    list += parameter(
        operand, copies_ > 1 ? name_in_copy(operand.name, argument.member) : memory_name(operand));
  }
  if (is_part()) list += ", int part_at0, int part_at1, int part_groups0, int part_groups1";
  define("ARGUMENTS", "", list);
  return arguments;
}

InstanceSource InstanceWriter::write() {
  InstanceSource result;
  result.function = unique(spec_.entry->program.function);
  define(spec_.entry->program.function, "", result.function);
  for (const auto& name : spec_.entry->program.shared_names) define(name, "", unique(name));
  define_constants();
  for (const auto& operand : spec_.operands) define_operand(operand);
  define_epilogue();
  define_pooled_map();
  if (is_part()) define_place_in_caller();
  result.arguments = define_arguments();
  // A compiler's complaint about the kernel then names the kernel's own file.
  result.text = head_.str() + "#line 1 \"" + spec_.entry->program.source_file + "\"\n" +
                text_of_entry() + "\n" + tail_.str();
  define_structure(result.text);
  result.text.insert(0, "#line 1 \"" + spec_.entry->name + ", generated\"\n");
  name_by_code(result);
  return result;
}

/// Only numbers of the structure that the text names, and that are no arguments, are compiled in:
/// problems that differ in others share the kernel.
void InstanceWriter::define_structure(std::string& text) const {
  const std::string code = bare_code(text);
  const std::unordered_set<std::string_view> named = identifiers_in(code);
  const auto& arguments = spec_.entry->launch.arguments;
  std::string constants;
  for (const auto& [name, value] : spec_.problem.structure) {
    if (!named.contains(name) || std::ranges::count(arguments, name) > 0) continue;
    constants += "#define " + name + " (" + std::to_string(value) + ")\n";
    text += "#undef " + name + "\n";
  }
  text.insert(0, constants);
}

/// The key is a digest of what the compiler reads, and a part of it stands in the names.
void InstanceWriter::name_by_code(InstanceSource& made) const {
  made.key = digest_of(spec_.entry->name + "\n" + bare_code(made.text));
  const std::string mark = made.key.substr(0, kMark.size());
  replace_all(made.text, kMark, mark);
  replace_all(made.function, kMark, mark);
}

InstanceSource generate(const InstanceSpec& spec) { return InstanceWriter(spec, "").write(); }

InstanceSource generate_stacked(const InstanceSpec& spec, int copies) {
  return InstanceWriter(spec, "", copies).write();
}

InstanceSource generate_part(const InstanceSpec& spec, const std::string& caller) {
  return InstanceWriter(spec, caller).write();
}

}  // namespace morton::source
