// SPDX-License-Identifier: Apache-2.0
#include "source/element.hpp"

#include <array>

#include "base/algebra/typed_chain.hpp"
#include "morton/error.hpp"

namespace morton::source {
namespace {

struct ElementText {
  DType type;
  std::string_view memory, value;
};

constexpr std::array<ElementText, 26> kElements{{
    {DType::f32, "float", "float"},      {DType::f16, "half", "float"},
    {DType::bf16, "ushort", "float"},    {DType::tf32, "float", "float"},
    {DType::i8, "char", "char"},         {DType::u8, "uchar", "uchar"},
    {DType::i32, "int", "int"},          {DType::f64, "double", "double"},
    {DType::boolean, "uchar", "uchar"},  {DType::i16, "short", "short"},
    {DType::u16, "ushort", "ushort"},    {DType::u32, "uint", "uint"},
    {DType::i64, "long", "long"},        {DType::u64, "ulong", "ulong"},
    {DType::f8e4m3fn, "uchar", "uchar"}, {DType::f8e4m3fnuz, "uchar", "uchar"},
    {DType::f8e5m2, "uchar", "uchar"},   {DType::f8e5m2fnuz, "uchar", "uchar"},
    {DType::f8e8m0, "uchar", "uchar"},   {DType::f4e2m1, "uchar", "uchar"},
    {DType::f6e2m3, "uchar", "uchar"},   {DType::f6e3m2, "uchar", "uchar"},
    {DType::i4, "char", "char"},         {DType::u4, "uchar", "uchar"},
    {DType::i2, "char", "char"},         {DType::u2, "uchar", "uchar"},
}};

const ElementText& text_of(DType type) {
  for (const auto& element : kElements) {
    if (element.type == type) return element;
  }
  throw UnsupportedError("source: kernels do not handle elements of type " +
                         std::string(name_of(type)));
}

}  // namespace

std::string_view memory_type(DType type) { return text_of(type).memory; }

std::string_view value_type(DType type) { return text_of(type).value; }

bool is_integer(DType type) { return !is_real(type); }

std::string load_text(DType type, const std::string& array, const std::string& index) {
  if (type == DType::f16) return "vload_half(" + index + ", " + array + ")";
  if (type == DType::bf16) return "as_float((uint)" + array + "[" + index + "] << 16)";
  if (type == DType::boolean) return "(uchar)(" + array + "[" + index + "] != 0)";
  return array + "[" + index + "]";
}

std::string store_text(DType type, const std::string& array, const std::string& index,
                       const std::string& value, StoredNumber number) {
  if (type == DType::f16) return "vstore_half_rte(" + value + ", " + index + ", " + array + ")";
  std::string stored = value;
  if (type == DType::bf16) stored = "morton_to_bf16(" + value + ")";
  if (type == DType::tf32) stored = "morton_to_tf32(" + value + ")";
  if (is_integer(type)) {
    // Mesa's library has no conversion between unlike whole numbers that says how to round.
    const std::string rounding = number == StoredNumber::whole ? "" : "_rte";
    stored = "convert_" + std::string(memory_type(type)) + "_sat" + rounding + "(" + value + ")";
  }
  return "(" + array + "[" + index + "] = " + stored + ")";
}

std::string store4_text(DType type, const std::string& array, const std::string& index,
                        const std::string& value) {
  const std::string place = "(" + value + ", 0, " + array + " + (" + index + "))";
  if (type == DType::f32) return "vstore4" + place;
  if (type == DType::f16) return "vstore_half4_rte" + place;
  return {};
}

std::string aligned_store4_text(DType type, const std::string& array, const std::string& index,
                                const std::string& value) {
  if (type != DType::f32) return store4_text(type, array, index, value);
  return "(*(__global float4*)(" + array + " + " + index + ") = " + value + ")";
}

std::vector<MacroText> hand_macros(DType type, const std::string& array, ElementUse use,
                                   StoredNumber number) {
  std::vector<MacroText> macros;
  const bool reads = use == ElementUse::read;
  if (reads) {
    macros.push_back({"AT_" + array, "(i)", load_text(type, array, "(i)")});
  } else {
    macros.push_back({"PUT_" + array, "(i, v)", store_text(type, array, "(i)", "(v)", number)});
  }
  if (type == DType::bf16) return macros;
  for (const char* width : {"4", "8", "16"}) {
    const std::string of_half = std::string("half") + width;
    const std::string vectors = "((__global " + std::string(reads ? "const " : "") +
                                std::string(memory_type(type)) + width + "*)" + array + ")[i]";
    const std::string name = (reads ? "AT" : "PUT") + std::string(width) + "_" + array;
    if (reads) {
      const std::string half = "vload_" + of_half + "((i), " + array + ")";
      macros.push_back({name, "(i)", type == DType::f16 ? half : "(" + vectors + ")"});
    } else {
      const std::string half = "vstore_" + of_half + "_rte((v), (i), " + array + ")";
      if (type == DType::tf32) continue;  // rounded one by one
      macros.push_back({name, "(i, v)", type == DType::f16 ? half : "(" + vectors + " = (v))"});
    }
  }
  return macros;
}

std::vector<MacroText> move_macros(DType src, DType dst, double outside) {
  const auto is_half = [](DType type) { return type == DType::f16 || type == DType::bf16; };
  if (is_half(src) && src == dst && outside == 0.0) {
    return {{"MOVED", "", "ushort"},
            {"TAKE_src", "(i)", "(((__global const ushort*)src)[i])"},
            {"GIVE_dst", "(i, v)", "(((__global ushort*)dst)[i] = (v))"}};
  }
  if (is_half(src) || is_half(dst)) {
    return {{"MOVED", "", "float"},
            {"TAKE_src", "(i)", load_text(src, "src", "(i)")},
            {"GIVE_dst", "(i, v)", store_text(dst, "dst", "(i)", "(v)", StoredNumber::any)}};
  }
  return {{"MOVED", "", std::string(value_type(dst))},
          {"TAKE_src", "(i)", "(src[i])"},
          {"GIVE_dst", "(i, v)", "(dst[i] = (v))"}};
}

MacroText stepped_macro(DType type, const std::string& array) {
  const std::string vectors = "((__global const " + std::string(memory_type(type)) + "4*)(p))[i]";
  return {"AT4_FROM_" + array, "(p, i)",
          type == DType::f16 ? "vload_half4((i), (p))" : "(" + vectors + ")"};
}

std::vector<MacroText> image_macros(const std::string& image) {
  return {
      {"AT4_" + image, "(x, y)", "read_imagef(" + image + ", morton_sampler, (int2)((x), (y)))"}};
}

std::string image_sampler() {
  return "#ifndef MORTON_SAMPLER\n"
         "#define MORTON_SAMPLER\n"
         "__constant sampler_t morton_sampler =\n"
         "    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
         "#endif\n";
}

std::string element_functions(DType type) {
  if (type == DType::tf32) {
    // Nearest, ties to even; what is no number or infinite stays as it is.
    return "#ifndef MORTON_TO_TF32\n"
           "#define MORTON_TO_TF32\n"
           "float morton_to_tf32(float value) {\n"
           "  const uint bits = as_uint(value);\n"
           "  if ((bits & 0x7f800000u) == 0x7f800000u) return value;\n"
           "  return as_float((bits + 0xfffu + ((bits >> 13) & 1u)) & 0xffffe000u);\n"
           "}\n"
           "#endif\n";
  }
  if (type == DType::f64) return "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  if (type != DType::bf16) return {};
  // Nearest, ties to even; a NaN keeps a bit of its fraction.
  return "#ifndef MORTON_TO_BF16\n"
         "#define MORTON_TO_BF16\n"
         "ushort morton_to_bf16(float value) {\n"
         "  const uint bits = as_uint(value);\n"
         "  if ((bits & 0x7fffffffu) > 0x7f800000u) return (ushort)((bits >> 16) | 0x40u);\n"
         "  return (ushort)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);\n"
         "}\n"
         "#endif\n";
}

}  // namespace morton::source
