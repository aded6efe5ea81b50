// SPDX-License-Identifier: Apache-2.0
#include "source/instance.hpp"

#include <algorithm>
#include <set>
#include <sstream>

#include "base/files/file.hpp"
#include "base/numbers/checked.hpp"
#include "problems/conv2d_pool.hpp"
#include "source/accessor.hpp"
#include "source/element.hpp"
#include "source/epilogue.hpp"
#include "source/memory_order.hpp"
#include "source/reduction.hpp"
#include "source/runs.hpp"

namespace morton::source {
namespace {

using Access = InstanceOperand::Access;
using Direction = InstanceOperand::Direction;

/// The number of a work-item's product in a batch.
constexpr const char* kBatch = "((int)get_global_id(2))";

/// The coordinates that a kernel's text passes to its macros: those of its own problem, which in a
/// batch is one of the products.
std::string joined_coordinates(const View& view, const Entry& entry) {
  std::string text;
  for (std::size_t d = entry.origin.batch_of.empty() ? 0 : 1; d < view.dimensions.size(); ++d) {
    text += (text.empty() ? "" : ", ") + coordinate_name(view.dimensions[d]);
  }
  return text;
}

/// Collects definitions, remembers what to undefine after the kernel, and which sizes are asked
/// for.
class Writer {
 public:
  /// With a `caller` for a part of that kernel.
  Writer(const InstanceSpec& spec, std::string caller)
      : spec_(spec), caller_(std::move(caller)), any_rank_(spec.problem.family->has_any_rank()) {}

  InstanceSource write();

 private:
  void define(const std::string& name, const std::string& parameters, const std::string& body) {
    head_ << "#define " << name << parameters << " " << body << "\n";
    tail_ << "#undef " << name << "\n";
  }
  void need(const Expression& expression) { sizes_.merge(expression.variables()); }
  void define_constants();
  void define_operand(const InstanceOperand& operand);
  void define_scalar_access(const InstanceOperand& operand);
  void define_vector_access(const InstanceOperand& operand, const IndexText& text);
  void define_memory_order(const InstanceOperand& dst);
  void define_part_order(const InstanceOperand& dst);
  void define_common_order(const InstanceOperand& dst);
  /// Whether the kernel asks for it, and all operands have dst's elements under dst's numbers.
  [[nodiscard]] bool lies_alike() const;
  void define_epilogue();
  void define_pooled_map();
  [[nodiscard]] TypedChain typed_epilogue() const;
  [[nodiscard]] std::string inside_dst(const InstanceOperand& dst);
  void need_bounds(const InstanceOperand& operand);
  [[nodiscard]] DType accumulator() const {
    const auto type = spec_.problem.types.find("acc");
    return type == spec_.problem.types.end() ? DType::f32 : type->second;
  }
  std::vector<InstanceArgument> define_arguments();
  [[nodiscard]] std::string parameter(const InstanceOperand& operand) const;
  [[nodiscard]] std::string variable_type(const InstanceOperand& operand) const;
  /// The operand's memory as a kernel argument. What a kernel indexes by hand in a batch is, under
  /// the operand's own name, its product's part of that.
  [[nodiscard]] std::string memory_name(const InstanceOperand& operand) const {
    const bool part = !spec_.entry->origin.batch_of.empty() && operand.access == Access::by_hand;
    return part ? operand.name + "_memory" : operand.name;
  }
  [[nodiscard]] const InstanceOperand* find(const std::string& name) const;
  [[nodiscard]] std::string key() const;
  [[nodiscard]] bool is_part() const { return !caller_.empty(); }
  /// `name` with what tells this text from all others of a program.
  [[nodiscard]] std::string unique(const std::string& name) const {
    return name + "_" + key().substr(0, 12) + (is_part() ? "_of_" + caller_ : "");
  }
  [[nodiscard]] std::string epilogue_name() const { return unique("epilogue"); }
  void define_place_in_caller();
  [[nodiscard]] std::string text_of_entry() const;
  /// Parameters of a macro that takes an operand's coordinates. In a family of any rank a kernel
  /// cannot name them: it passes COORDINATES, one argument that is ignored, and the body uses the
  /// variables that COORDINATES_OF_dst declared. (OpenCL C has no variadic macros.)
  [[nodiscard]] std::string macro_parameters(const View& view) const {
    return any_rank_ ? "at" : joined_coordinates(view, *spec_.entry);
  }

  const InstanceSpec& spec_;
  std::string caller_;
  bool any_rank_;
  std::ostringstream head_;
  std::ostringstream tail_;
  std::set<std::string> sizes_;
};

/// Extents that elements' places follow from: what pads the outermost loop lies behind them all.
Shape inner_extents(const Arrangement& arrangement) {
  Shape extents = arrangement.padded;
  const auto& loops = arrangement.layout.loops();
  if (loops.empty()) return extents;
  const int outermost = loops.front().dimension;
  const auto of_it = std::ranges::count(loops, outermost, &Loop::dimension);
  if (of_it == 1) extents[static_cast<std::size_t>(outermost)] = 0;
  return extents;
}

/// Whether the operand's elements have the numbers of dst's, so that no coordinates are needed.
bool lies_as(const InstanceOperand& operand, const InstanceOperand& dst) {
  const Arrangement& own = operand.arrangement;
  const Arrangement& other = dst.arrangement;
  return own.tensor_shape == other.tensor_shape && own.grouping == other.grouping &&
         own.layout == other.layout && inner_extents(own) == inner_extents(other) &&
         own.pitch == 0 && own.memory == MemoryKind::buffer;
}

bool is_single(const InstanceOperand& operand) {
  return element_count(operand.arrangement.tensor_shape) == 1;
}

/// The coordinates of an operand as a macro's body uses them, in parentheses.
std::vector<Expression> parameters_of(const View& view, const Entry& entry) {
  std::vector<Expression> names;
  for (const auto& dimension : view.dimensions) {
    const bool batch = !entry.origin.batch_of.empty() && names.empty();
    names.push_back(Expression::variable(batch ? kBatch : "(" + coordinate_name(dimension) + ")"));
  }
  return names;
}

/// Names in parentheses are macro parameters, and those of coordinates are no sizes.
std::set<std::string> sizes_in(const Expression& expression) {
  std::set<std::string> names;
  for (const auto& name : expression.variables()) {
    if (name.front() != '(') names.insert(name);
  }
  return names;
}

std::string zero_of(DType type) {
  return register_type(type) == DType::f32 ? "0.0f" : literal_of(type, 0.0);
}

const InstanceOperand* Writer::find(const std::string& name) const {
  for (const auto* list : {&spec_.operands, &spec_.sides}) {
    for (const auto& operand : *list) {
      if (operand.name == name) return &operand;
    }
  }
  return nullptr;
}

std::string Writer::key() const {
  std::ostringstream text;
  text << spec_.entry->name << "\n"
       << spec_.entry->program.function << "\n"
       << spec_.entry->program.code << "\n";
  for (const auto& argument : spec_.entry->launch.arguments) text << argument << ",";
  for (const auto& [name, value] : spec_.tunables) text << name << "=" << value << ";";
  for (const auto& [name, value] : spec_.problem.structure) text << name << "=" << value << ";";
  for (const auto& operand : spec_.operands) text << describe_access(operand);
  for (const auto& side : spec_.sides) text << describe_side(side);
  // The epilogue finds the side operands through dst's view, also where dst is written by hand.
  if (!spec_.sides.empty()) text << "dst view " << find("dst")->view.print() << ";";
  for (const std::int64_t extent : spec_.local) text << extent << "x";
  if (lies_alike()) {
    text << "alike";
    for (const auto& side : spec_.sides) text << (lies_as(side, *find("dst")) ? " all" : " one");
    text << ";";
  }
  if (spec_.in_place) text << "in place;";
  if (accumulator() != DType::f32) text << "acc " << name_of(accumulator()) << ";";
  text << spec_.problem.epilogue.print();
  return digest_of(text.str());
}

void Writer::define_constants() {
  for (const auto& [name, value] : spec_.tunables) define(name, "", std::to_string(value));
  for (const auto& [name, value] : spec_.problem.structure) {
    define(name, "", "(" + std::to_string(value) + ")");
  }
  std::string local;
  for (std::size_t i = 0; i < 3; ++i) {
    local += (i > 0 ? ", " : "") + std::to_string(i < spec_.local.size() ? spec_.local[i] : 1);
  }
  define("ATTRIBUTES", "", is_part() ? "" : "__attribute__((reqd_work_group_size(" + local + ")))");
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

/// The sizes that the condition of a bounded view names.
void Writer::need_bounds(const InstanceOperand& operand) {
  const auto& dims = operand.view.dimensions;
  for (std::size_t t = 0; t < operand.view.coordinates.size(); ++t) {
    need(tensor_extent_name(operand.name, t));
    for (const auto& name : operand.view.coordinates[t].variables()) {
      const bool coordinate = std::any_of(dims.begin(), dims.end(), [&](const std::string& d) {
        return coordinate_name(d) == name;
      });
      if (!coordinate) sizes_.insert(name);
    }
  }
}

void Writer::define_scalar_access(const InstanceOperand& operand) {
  const IndexText text = index_of(operand, parameters_of(operand.view, *spec_.entry));
  sizes_.merge(sizes_in(text.index));
  if (operand.view.bounded) need_bounds(operand);
  const DType type = operand.arrangement.dtype;
  const std::string index = text.index.to_opencl();
  const std::string coordinates = macro_parameters(operand.view);
  if (operand.direction == Direction::write) {
    std::string store = store_text(type, operand.name, index, "(v)");
    if (!text.inside.empty()) store = "(" + text.inside + " ? (void)" + store + " : (void)0)";
    define("STORE_" + operand.name, "(" + coordinates + ", v)", store);
    define_vector_access(operand, text);
    return;
  }
  const std::string element = load_text(type, operand.name, index);
  const std::string outside = literal_of(type, operand.view.outside);
  const std::string body = text.inside.empty()
                               ? "(" + element + ")"
                               : "(" + text.inside + " ? " + element + " : " + outside + ")";
  define("LOAD_" + operand.name, "(" + coordinates + ")", body);
  define_vector_access(operand, text);
}

/// STORE4, STORE16 and LOAD16: neighbours along the last dimension, at once where they lie
/// together.
void Writer::define_vector_access(const InstanceOperand& operand, const IndexText& text) {
  if (any_rank_) return;
  const std::string coordinates = macro_parameters(operand.view);
  for (const MacroText& macro : vector_macros(operand, text, coordinates)) {
    if (spec_.entry->program.code.find(macro.name) == std::string::npos) continue;
    // Not every compiler need know the type's attributes: only CPUs' kernels ask for it.
    if (macro.name.find("16_") != std::string::npos) head_ << sixteen_type();
    define(macro.name, macro.parameters, macro.body);
  }
}

void Writer::define_memory_order(const InstanceOperand& dst) {
  MemoryOrderText text = memory_order(dst);
  sizes_.merge(text.sizes);
  define("COORDINATES_OF_dst", "(e)", text.declarations);
  define("COORDINATES", "", "0");
  define("INSIDE_dst", "", text.inside.empty() ? "1" : "(" + text.inside + ")");
  define("STORE_dst_AT", "(e, v)", store_text(dst.arrangement.dtype, dst.name, "(e)", "(v)"));
  const std::string four = aligned_store4_text(dst.arrangement.dtype, dst.name, "(e)", "(v)");
  const bool asked = spec_.entry->program.code.find("STORE4_dst_AT") != std::string::npos;
  if (asked && !four.empty()) define("STORE4_dst_AT", "(e, v)", four);
  if (spec_.entry->program.code.find("ALIKE_dst") != std::string::npos) define_common_order(dst);
  // Tables need sizes that other kernels would carry as arguments in vain.
  if (spec_.entry->program.code.find("RUN_LENGTH_dst") == std::string::npos) return;
  RunTexts runs = run_texts(dst, *find("src"));
  sizes_.merge(runs.sizes);
  for (const auto& macro : runs.macros) define(macro.name, macro.parameters, macro.body);
}

bool Writer::lies_alike() const {
  if (spec_.entry->program.code.find("ALIKE_dst") == std::string::npos) return false;
  const InstanceOperand& dst = *find("dst");
  const InstanceOperand& source = *find("src0");
  const bool has_padding =
      dst.arrangement.pitch != 0 ||
      element_count(dst.arrangement.padded) != element_count(dst.arrangement.tensor_shape);
  return !has_padding && lies_as(source, dst) && source.view.grouping &&
         source.view.grouping == dst.view.grouping &&
         std::ranges::all_of(spec_.sides, [&](const InstanceOperand& side) {
           return lies_as(side, dst) || is_single(side);
         });
}

void Writer::define_common_order(const InstanceOperand& dst) {
  const bool alike = lies_alike();
  define("ALIKE_dst", "", alike ? "1" : "0");
  if (!alike) return;
  define("LOAD_src0_AT", "(e)", load_text(find("src0")->arrangement.dtype, "src0", "(e)"));
  if (spec_.problem.epilogue.is_identity()) return define("EPILOGUE_AT", "(v, e)", "(v)");
  std::string call = epilogue_name() + "((v)";
  for (const auto& side : spec_.sides) {
    call += ", " + load_text(side.arrangement.dtype, side.name, lies_as(side, dst) ? "(e)" : "0");
  }
  define("EPILOGUE_AT", "(v, e)", call + ")");
}

void Writer::define_part_order(const InstanceOperand& dst) {
  PartOrderText text = part_order(dst.view);
  sizes_.merge(text.sizes);
  define("COORDINATES_OF_ROW", "(row)", text.declarations);
  define("COORDINATES", "", "0");
  define("COLUMN", "", text.column);
}

void Writer::define_operand(const InstanceOperand& operand) {
  if (operand.access == Access::by_hand) {
    const bool image = operand.arrangement.memory == MemoryKind::image;
    const auto use = operand.direction == Direction::read ? ElementUse::read : ElementUse::write;
    for (const auto& macro : image ? image_macros(operand.name)
                                   : hand_macros(operand.arrangement.dtype, operand.name, use)) {
      define(macro.name, macro.parameters, macro.body);
    }
    if (image) head_ << image_sampler();
    if (spec_.entry->origin.batch_of.empty()) return;
    const std::string stride = batch_stride_name(operand.name).print();
    sizes_.insert(stride);
    define(operand.name, "", "(" + memory_name(operand) + " + " + kBatch + " * " + stride + ")");
    return;
  }
  if (!any_rank_ || operand.direction == Direction::read) {
    define_scalar_access(operand);
  } else if (operand.view.grouping) {
    define_memory_order(operand);
  } else {
    define_scalar_access(operand);
    define_part_order(operand);
  }
}

/// The epilogue over what it gets in registers: the value that the kernel computed (an elementwise
/// kernel only loads it), and the side operands.
TypedChain Writer::typed_epilogue() const {
  const InstanceOperand* loaded = find("src0");
  std::vector<DType> types{
      register_type(loaded != nullptr ? loaded->arrangement.dtype : accumulator())};
  for (const auto& side : spec_.sides) types.push_back(register_type(side.arrangement.dtype));
  return TypedChain(spec_.problem.epilogue, std::move(types));
}

void Writer::define_epilogue() {
  const InstanceOperand* dst = find("dst");
  const std::string parameters = "(v, " + macro_parameters(dst->view) + ")";
  if (spec_.problem.epilogue.is_identity()) {
    define("EPILOGUE", parameters, "(v)");
    return;
  }
  const std::string function = epilogue_name();
  const TypedChain chain = typed_epilogue();
  if (chain.uses(DType::f64)) head_ << element_functions(DType::f64);
  head_ << epilogue_function(chain, function);
  std::string call = function + "((v)";
  for (const auto& side : spec_.sides) {
    const SideIndex index = index_of_side(side, dst->view, parameters_of(dst->view, *spec_.entry));
    sizes_.merge(sizes_in(index.start));
    sizes_.merge(sizes_in(index.within));
    const bool whole = index.start == Expression(0);
    const std::string array =
        whole ? side.name : "(" + side.name + " + " + index.start.to_opencl() + ")";
    call += ", " + load_text(side.arrangement.dtype, array, index.within.to_opencl());
  }
  call += ")";
  // Padded elements and those that are not written lie beyond the side operands; they become zero.
  const std::string inside = inside_dst(*dst);
  if (!inside.empty()) {
    call = "(" + inside + " ? " + call + " : " + zero_of(chain.result_type()) + ")";
  }
  define("EPILOGUE", parameters, call);
}

/// What conv2d_pool does to each value before it is pooled.
void Writer::define_pooled_map() {
  if (spec_.problem.family != families::conv2d_pool) return;
  const std::string function = unique("map");
  const Chain map = pooled_map(structure_of<Conv2dPoolStructure>(spec_.problem.structure).map);
  head_ << epilogue_function(TypedChain(map, {DType::f32}), function);
  define("MAPPED", "(v)", function + "(v)");
}

/// Condition that dst has an element at the macro's coordinates; empty where it always has.
std::string Writer::inside_dst(const InstanceOperand& dst) {
  if (dst.view.bounded) {
    need_bounds(dst);
    return index_of(dst, parameters_of(dst.view, *spec_.entry)).inside;
  }
  if (spec_.entry->padding.edges != Entry::Edges::pad) return {};
  std::string inside;
  for (std::size_t d = spec_.entry->origin.batch_of.empty() ? 0 : 1; d < dst.view.dimensions.size();
       ++d) {
    const std::string& dimension = dst.view.dimensions[d];
    inside += (inside.empty() ? "(" : " && (") + coordinate_name(dimension) + ") < " + dimension;
    sizes_.insert(dimension);
  }
  return inside;
}

std::string Writer::parameter(const InstanceOperand& operand) const {
  const std::string type = variable_type(operand);
  const bool restricts = type.ends_with('*') && !spec_.in_place;
  return type + (restricts ? " restrict " : " ") + memory_name(operand);
}

std::string Writer::variable_type(const InstanceOperand& operand) const {
  const bool image = operand.arrangement.memory == MemoryKind::image;
  if (image && operand.access == Access::by_hand) return "__read_only image2d_t";
  const std::string type(memory_type(operand.arrangement.dtype));
  const bool reads = operand.direction == Direction::read;
  return std::string("__global ") + (reads ? "const " : "") + type + "*";
}

/// The built-in functions that say where a work-item is, as the caller's arguments have it.
void Writer::define_place_in_caller() {
  define("get_group_id", "(d)", "((size_t)((d) == 0 ? part_at0 : (d) == 1 ? part_at1 : 0))");
  define("get_num_groups", "(d)",
         "((size_t)((d) == 0 ? part_groups0 : (d) == 1 ? part_groups1 : 1))");
  define("get_global_id", "(d)", "(get_group_id(d) * get_local_size(d) + get_local_id(d))");
  define("get_global_size", "(d)", "(get_num_groups(d) * get_local_size(d))");
}

std::string Writer::text_of_entry() const {
  std::string text = spec_.entry->program.source;
  constexpr std::string_view kKernel = "__kernel ";
  if (is_part()) text.replace(text.find(kKernel), kKernel.size(), "static ");
  return text;
}

std::vector<InstanceArgument> Writer::define_arguments() {
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
  std::string list;
  for (const auto& argument : arguments) {
    list += list.empty() ? "" : ", ";
    list +=
        argument.kind == Kind::operand ? parameter(*find(argument.name)) : "int " + argument.name;
  }
  if (is_part()) list += ", int part_at0, int part_at1, int part_groups0, int part_groups1";
  define("ARGUMENTS", "", list);
  return arguments;
}

InstanceSource Writer::write() {
  InstanceSource result;
  result.key = key();
  result.shares_program = spec_.entry->program.is_shared;
  result.function = unique(spec_.entry->program.function);
  // What a compiler complains of is then found in the kernel's own file.
  head_ << "#line 1 \"" << spec_.entry->name << ", generated\"\n";
  define(spec_.entry->program.function, "", result.function);
  define_constants();
  for (const auto& operand : spec_.operands) define_operand(operand);
  define_epilogue();
  define_pooled_map();
  if (is_part()) define_place_in_caller();
  result.arguments = define_arguments();
  result.text = head_.str() + "#line 1 \"" + spec_.entry->program.source_file + "\"\n" +
                text_of_entry() + "\n" + tail_.str();
  return result;
}

}  // namespace

InstanceSource generate(const InstanceSpec& spec) { return Writer(spec, "").write(); }

InstanceSource generate_part(const InstanceSpec& spec, const std::string& caller) {
  return Writer(spec, caller).write();
}

}  // namespace morton::source
