// SPDX-License-Identifier: Apache-2.0
//
// What a kernel's text does to a value before it is stored.
#include <algorithm>

#include "problems/conv2d_pool.hpp"
#include "source/accessor.hpp"
#include "source/element.hpp"
#include "source/epilogue.hpp"
#include "source/instance_writer.hpp"
#include "source/vector_epilogue.hpp"
#include "source/work_program.hpp"

namespace morton::source {
namespace {

std::string zero_of(DType type) {
  return register_type(type) == DType::f32 ? "0.0f" : literal_of(type, 0.0);
}

/// LANES numbers of 16 bits as floats.
std::string short_lanes_text(DType type, const std::string& pointer, int lanes) {
  const std::string count = std::to_string(lanes);
  if (type == DType::f16) return "vload_half" + count + "(0, " + pointer + ")";
  return "as_float" + count + "(convert_uint" + count + "(vload" + count + "(0, " + pointer +
         ")) << 16)";
}

}  // namespace

/// The epilogue over what it gets in registers: the value that the kernel computed (an elementwise
/// kernel only loads it), and the side operands.
TypedChain InstanceWriter::typed_epilogue() const {
  const InstanceOperand* loaded = find("src0");
  // A real of 16 bits is an f32 in a register, but where its bits are read.
  const auto& steps = spec_.problem.epilogue.steps;
  const bool reads_bits =
      std::ranges::any_of(steps, [](const ScalarStep& step) { return step.op == ScalarOp::bits; });
  const auto typed = [&](DType type) { return reads_bits ? type : register_type(type); };
  std::vector<DType> types{typed(loaded != nullptr ? loaded->arrangement.dtype : accumulator())};
  for (const auto& side : spec_.sides) types.push_back(typed(side.arrangement.dtype));
  return TypedChain(spec_.problem.epilogue, std::move(types));
}

void InstanceWriter::define_epilogue() {
  if (spec_.entry->takes_work()) return define_work();
  const InstanceOperand* dst = find("dst");
  const std::string parameters = "(v, " + macro_parameters(dst->view) + ")";
  const bool of_vectors =
      spec_.entry->uses("EPILOGUE_VECTOR") || spec_.entry->uses("EPILOGUE_EDGE");
  if (spec_.problem.epilogue.is_identity()) {
    define("EPILOGUE", parameters, "(v)");
    if (!of_vectors) return;
    define("EPILOGUE_VECTOR", parameters, "(v)");
    define("EPILOGUE_EDGE", parameters, "(v)");
    return;
  }
  const std::string function = epilogue_name();
  const TypedChain chain = typed_epilogue();
  if (chain.uses(DType::f64)) head_ << element_functions(DType::f64);
  head_ << epilogue_function(chain, function);
  if (of_vectors) define_vector_epilogue(chain, function);
  std::string call = function + "((v)";
  for (const auto& side : spec_.sides) {
    const SideIndex index = index_of_side(side, dst->view, parameters_of(dst->view, *spec_.entry));
    sizes_.merge(sizes_in(index.start));
    sizes_.merge(sizes_in(index.within));
    const bool whole = index.start == Expression(0);
    const std::string array =
        whole ? side.name : "(" + side.name + " + " + index.start.to_opencl() + ")";
    call += ", " + load_at(side, array, index.within.to_opencl());
  }
  call += ")";
  // Padded elements and those that are not written lie beyond the side operands; they become zero.
  const std::string inside = inside_dst(*dst);
  if (!inside.empty()) {
    call = "(" + inside + " ? " + call + " : " + zero_of(chain.result_type()) + ")";
  }
  define("EPILOGUE", parameters, call);
}

/// EPILOGUE_VECTOR and EPILOGUE_EDGE: the epilogue of LANES neighbours along the innermost loop of
/// dst, the first at the macro's coordinates and at a multiple of LANES. With the former all lie in
/// dst. With the latter some lie beyond its end, and the last that does not stands in for their
/// side operands.
void InstanceWriter::define_vector_epilogue(const TypedChain& chain, const std::string& scalar) {
  const std::string function = scalar + "_vector";
  const auto lanes = static_cast<int>(spec_.tunables.at("LANES"));
  head_ << vector_epilogue_function(chain, function, scalar, lanes);
  std::string whole = function + "((v)";
  std::string edge = whole;
  for (const auto& side : spec_.sides) {
    const std::string by_lane = side_by_lane(side, lanes, function, true);
    edge += ", " + by_lane;
    whole += ", " + side_vector(side, lanes, function);
  }
  const std::string parameters = "(v, " + macro_parameters(find("dst")->view) + ")";
  define("EPILOGUE_VECTOR", parameters, whole + ")");
  define("EPILOGUE_EDGE", parameters, edge + ")");
}

/// The numbers of LANES neighbours of dst: a vector where they lie together, one for all where it
/// is the same, else one by one.
std::string InstanceWriter::side_vector(const InstanceOperand& side, int lanes,
                                        const std::string& function) {
  const View& dst = find("dst")->view;
  const std::vector<Expression> first = parameters_of(dst, *spec_.entry);
  std::map<std::string, std::int64_t> below{{"(lane)", lanes}, {"(group)", 0}};
  std::set<std::string> others{"(group)"};
  for (const Expression& coordinate : first) {
    below.emplace(coordinate.print(), 0);
    others.insert(coordinate.print());
  }
  std::vector<Expression> moved = first;
  moved[lane_dimension()] =
      Expression::variable("(group)") * lanes + Expression::variable("(lane)");
  const auto place_at = [&](const std::vector<Expression>& coordinates) {
    const SideIndex index = index_of_side(side, dst, coordinates);
    return index.start + index.within;
  };
  const auto step = place_at(moved).reduced(below).terms_with("(lane)", others);
  const DType stored = side.arrangement.dtype;
  const bool is_short = stored == DType::f16 || stored == DType::bf16;
  const bool has_vectors = is_short || stored == DType::f32 || stored == DType::i32 ||
                           stored == DType::u8 || stored == DType::i8;
  const bool together = step && *step == Expression::variable("(lane)") && has_vectors;
  const bool same = step && *step == Expression(0);
  if (!together && !same) return side_by_lane(side, lanes, function, false);
  const std::string type = lane_type(function, stored);
  const std::string index = place_at(first).to_opencl();
  if (same) return "(" + type + ")(" + load_text(side.arrangement.dtype, side.name, index) + ")";
  if (is_short) return short_lanes_text(stored, side.name + " + " + index, lanes);
  return "*(__global const " + type + "*)(" + side.name + " + " + index + ")";
}

std::string InstanceWriter::side_by_lane(const InstanceOperand& side, int lanes,
                                         const std::string& function, bool at_edge) {
  const View& dst = find("dst")->view;
  // Indices are worked out once, with a mark in place of the lane's number.
  constexpr std::string_view kLane = "@";
  std::vector<Expression> lane = parameters_of(dst, *spec_.entry);
  Expression& along = lane[lane_dimension()];
  along = along + Expression::variable(std::string(kLane));
  if (at_edge) {
    const std::string& extent = dst.dimensions[lane_dimension()];
    along = Expression::variable("(min(" + along.to_opencl() + ", " + extent + " - 1))");
    sizes_.insert(extent);
  }
  const SideIndex index = index_of_side(side, dst, lane);
  const std::string marked =
      load_text(side.arrangement.dtype, side.name, (index.start + index.within).to_opencl());
  std::string text;
  for (int l = 0; l < lanes; ++l) {
    std::string one = marked;
    replace_all(one, kLane, std::to_string(l));
    text += (l > 0 ? ", " : "") + one;
  }
  return "(" + lane_type(function, side.arrangement.dtype) + ")(" + text + ")";
}

/// dst's dimension that its innermost loop goes along.
std::size_t InstanceWriter::lane_dimension() const {
  return static_cast<std::size_t>(find("dst")->arrangement.layout.loops().back().dimension);
}

/// What a kernel that takes a program has in place of accessors and an epilogue: the numbers of
/// instructions, and names for the arrays that they load from.
void InstanceWriter::define_work() {
  for (const WorkCodeName& one : work_code_names()) {
    define("CODE_" + one.name, "", std::to_string(one.code));
  }
  define("REGISTERS", "", std::to_string(kWorkRegisters));
  const bool packs = spec_.problem.family == families::pack;
  define("ARRAYS", "", packs ? "src, src, src, src" : "src0, side1, side2, side3");
}

/// What conv2d_pool does to each value before it is pooled.
void InstanceWriter::define_pooled_map() {
  if (spec_.problem.family != families::conv2d_pool) return;
  const std::string function = unique("map");
  const Chain map = pooled_map(structure_of<Conv2dPoolStructure>(spec_.problem.structure).map);
  head_ << epilogue_function(TypedChain(map, {DType::f32}), function);
  define("MAPPED", "(v)", function + "(v)");
}

/// Condition that dst has an element at the macro's coordinates; empty where it always has.
std::string InstanceWriter::inside_dst(const InstanceOperand& dst) {
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

}  // namespace morton::source
