// SPDX-License-Identifier: Apache-2.0
//
// How a kernel's text reads and writes its operands.
#include <algorithm>

#include "source/accessor.hpp"
#include "source/element.hpp"
#include "source/epilogue.hpp"
#include "source/instance_writer.hpp"
#include "source/memory_order.hpp"
#include "source/runs.hpp"
#include "source/work_program.hpp"

namespace morton::source {
namespace {

/// The coordinates that a kernel's text passes to its macros: those of its own problem, which in a
/// batch is one of the products.
std::string joined_coordinates(const View& view, const Entry& entry) {
  std::string text;
  for (std::size_t d = entry.origin.batch_of.empty() ? 0 : 1; d < view.dimensions.size(); ++d) {
    text += (text.empty() ? "" : ", ") + coordinate_name(view.dimensions[d]);
  }
  return text;
}

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

bool is_single(const InstanceOperand& operand) {
  return element_count(operand.arrangement.tensor_shape) == 1;
}

}  // namespace

bool lies_as(const InstanceOperand& operand, const InstanceOperand& dst) {
  const Arrangement& own = operand.arrangement;
  const Arrangement& other = dst.arrangement;
  return own.tensor_shape == other.tensor_shape && own.grouping == other.grouping &&
         own.layout == other.layout && inner_extents(own) == inner_extents(other) &&
         own.pitch == 0 && own.memory == MemoryKind::buffer;
}

std::vector<Expression> parameters_of(const View& view, const Entry& entry) {
  std::vector<Expression> names;
  for (const auto& dimension : view.dimensions) {
    const bool batch = !entry.origin.batch_of.empty() && names.empty();
    names.push_back(Expression::variable(batch ? kBatch : "(" + coordinate_name(dimension) + ")"));
  }
  return names;
}

std::set<std::string> sizes_in(const Expression& expression) {
  std::set<std::string> names;
  for (const auto& name : expression.variables()) {
    if (name.front() != '(') names.insert(name);
  }
  return names;
}

std::string InstanceWriter::macro_parameters(const View& view) const {
  return any_rank_ ? "at" : joined_coordinates(view, *spec_.entry);
}

/// The sizes that the condition of a bounded view names.
void InstanceWriter::need_bounds(const InstanceOperand& operand) {
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

std::string InstanceWriter::load_at(const InstanceOperand& operand, const std::string& array,
                                    const std::string& index) const {
  const ElementPlace place = place_of(operand, array, index, spec_.has_byte_addresses);
  return load_text(operand.arrangement.dtype, place.array, place.index);
}

void InstanceWriter::define_scalar_access(const InstanceOperand& operand) {
  const IndexText text = index_of(operand, parameters_of(operand.view, *spec_.entry));
  sizes_.merge(sizes_in(text.index));
  if (operand.view.bounded) need_bounds(operand);
  const DType type = operand.arrangement.dtype;
  const ElementPlace place =
      place_of(operand, operand.name, text.index.to_opencl(), spec_.has_byte_addresses);
  const std::string coordinates = macro_parameters(operand.view);
  if (operand.direction == InstanceOperand::Direction::write) {
    std::string store = store_text(type, place.array, place.index, "(v)", stored_number());
    if (!text.inside.empty()) store = "(" + text.inside + " ? (void)" + store + " : (void)0)";
    define("STORE_" + operand.name, "(" + coordinates + ", v)", store);
    define_vector_access(operand, place);
    return;
  }
  const std::string element = load_text(type, place.array, place.index);
  const std::string outside = literal_of(type, operand.view.outside);
  const std::string body = text.inside.empty()
                               ? "(" + element + ")"
                               : "(" + text.inside + " ? " + element + " : " + outside + ")";
  define("LOAD_" + operand.name, "(" + coordinates + ")", body);
  define_vector_access(operand, place);
}

/// TOGETHER4_<name>: whether four elements along the last dimension lie together from here on.
/// False where the kernel does not ask for it, or its text cannot say it.
bool InstanceWriter::define_together(const InstanceOperand& operand) {
  const std::string name = "TOGETHER4_" + operand.name;
  if (!spec_.entry->uses(name)) return false;
  const std::string coordinates = macro_parameters(operand.view);
  if (lie_together(operand, 4)) {
    define(name, "(" + coordinates + ")", "1");
    return true;
  }
  if (!lies_in_order(operand)) return false;
  std::vector<Expression> along = parameters_of(operand.view, *spec_.entry);
  const Expression first = index_of(operand, along).index;
  along.back() = along.back() + Expression(3);
  const Expression last = index_of(operand, along).index;
  define(name, "(" + coordinates + ")",
         "((" + last.to_opencl() + ") - (" + first.to_opencl() + ") == 3)");
  return true;
}

/// STORE4, STORE_VECTOR and LOAD_VECTOR: neighbours along the last dimension, at once where they
/// lie together. The type `vector` and its LANES are those of shared/vectors.clh.
void InstanceWriter::define_vector_access(const InstanceOperand& operand,
                                          const ElementPlace& place) {
  if (any_rank_) return;
  const std::string coordinates = macro_parameters(operand.view);
  // LANES are those of `vector` only where the kernel uses that type: others have many more.
  const auto lanes = spec_.tunables.find("LANES");
  const bool has_vectors =
      std::ranges::any_of(spec_.entry->program.uses, [](const std::string& definition) {
        return definition.find("_VECTOR_") != std::string::npos;
      });
  const int count =
      has_vectors && lanes != spec_.tunables.end() ? static_cast<int>(lanes->second) : 0;
  FourStores stores;
  stores.has_test = define_together(operand);
  stores.as_a_type = spec_.has_byte_addresses && spec_.entry->uses("STORE4_" + operand.name);
  if (stores.as_a_type) {
    // Joined kernels are one text.
    head_ << "#ifndef MORTON_FLOAT4\n#define MORTON_FLOAT4\ntypedef float4 "
          << "__attribute__((aligned(4))) " << kFloat4 << ";\n#endif\n";
  }
  for (const MacroText& macro : vector_macros(operand, place, coordinates, count, stores)) {
    if (!spec_.entry->uses(macro.name)) continue;
    define(macro.name, macro.parameters, macro.body);
  }
}

void InstanceWriter::define_moves(const InstanceOperand& dst) {
  if (!spec_.entry->uses("GIVE_dst")) return;
  const InstanceOperand& source = *find("src");
  for (const MacroText& macro : move_macros(source.arrangement.dtype, dst.arrangement.dtype,
                                            source.view.bounded ? source.view.outside : 0.0)) {
    define(macro.name, macro.parameters, macro.body);
  }
}

void InstanceWriter::define_memory_order(const InstanceOperand& dst) {
  define_moves(dst);
  MemoryOrderText text = memory_order_text(dst);
  sizes_.merge(text.sizes);
  define("COORDINATES_OF_dst", "(e)", text.declarations);
  define("COORDINATES", "", "0");
  define("INSIDE_dst", "", text.inside.empty() ? "1" : "(" + text.inside + ")");
  const auto [array, index] = place_of(dst, dst.name, "(e)", spec_.has_byte_addresses);
  define("STORE_dst_AT", "(e, v)",
         store_text(dst.arrangement.dtype, array, index, "(v)", stored_number()));
  const std::string four = aligned_store4_text(dst.arrangement.dtype, array, index, "(v)");
  const bool asked = spec_.entry->uses("STORE4_dst_AT");
  if (asked && !four.empty()) define("STORE4_dst_AT", "(e, v)", four);
  if (spec_.entry->uses("ALIKE_dst")) define_common_order(dst);
  const bool walks = spec_.entry->uses("WALK_dst") && define_walk(dst);
  if (spec_.entry->uses("NEST_dst")) {
    // Their sizes would be arguments in vain.
    walks ? define("NEST_dst", "", "0") : define_nest(dst);
  }
  // Tables need sizes that other kernels would carry as arguments in vain.
  if (!spec_.entry->uses("RUN_LENGTH_dst")) return;
  RunTexts runs = run_texts(dst, *find("src"));
  sizes_.merge(runs.sizes);
  for (const auto& macro : runs.macros) define(macro.name, macro.parameters, macro.body);
}

bool InstanceWriter::lies_alike() const {
  if (!spec_.entry->uses("ALIKE_dst")) return false;
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

void InstanceWriter::define_common_order(const InstanceOperand& dst) {
  const bool alike = lies_alike();
  define("ALIKE_dst", "", alike ? "1" : "0");
  if (!alike) return;
  define("LOAD_src0_AT", "(e)", load_at(*find("src0"), "src0", "(e)"));
  if (spec_.problem.epilogue.is_identity()) return define("EPILOGUE_AT", "(v, e)", "(v)");
  std::string call = epilogue_name() + "((v)";
  for (const auto& side : spec_.sides) {
    call += ", " + load_at(side, side.name, lies_as(side, dst) ? "(e)" : "0");
  }
  define("EPILOGUE_AT", "(v, e)", call + ")");
}

void InstanceWriter::define_part_order(const InstanceOperand& dst) {
  PartOrderText text = part_order(dst.view);
  sizes_.merge(text.sizes);
  define("COORDINATES_OF_ROW", "(row)", text.declarations);
  define("COORDINATES", "", "0");
  define("COLUMN", "", text.column);
}

void InstanceWriter::define_operand(const InstanceOperand& operand) {
  if (spec_.entry->takes_work()) return;
  if (operand.access == InstanceOperand::Access::by_hand) {
    const bool image = operand.arrangement.memory == MemoryKind::image;
    const auto use = operand.direction == InstanceOperand::Direction::read ? ElementUse::read
                                                                           : ElementUse::write;
    for (const auto& macro :
         image ? image_macros(operand.name)
               : hand_macros(operand.arrangement.dtype, operand.name, use, stored_number())) {
      define(macro.name, macro.parameters, macro.body);
    }
    if (use == ElementUse::write && spec_.entry->uses("AT_dst")) {
      define("AT_dst", "(i)", load_text(operand.arrangement.dtype, operand.name, "(i)"));
    }
    const MacroText stepped = stepped_macro(operand.arrangement.dtype, operand.name);
    if (spec_.entry->uses(stepped.name)) define(stepped.name, stepped.parameters, stepped.body);
    if (image) head_ << image_sampler();
    if (spec_.entry->origin.batch_of.empty()) return;
    const std::string stride = batch_stride_name(operand.name).print();
    sizes_.insert(stride);
    define(operand.name, "", "(" + memory_name(operand) + " + " + kBatch + " * " + stride + ")");
    return;
  }
  if (!any_rank_ || operand.direction == InstanceOperand::Direction::read) {
    define_scalar_access(operand);
  } else if (operand.view.grouping) {
    define_memory_order(operand);
  } else {
    define_scalar_access(operand);
    define_part_order(operand);
    if (spec_.entry->uses("NEST_src")) define_nest_of_part(operand);
  }
}

}  // namespace morton::source
