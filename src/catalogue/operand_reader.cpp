// SPDX-License-Identifier: Apache-2.0
//
// The formats that an entry demands of its operands.
#include <algorithm>
#include <iterator>

#include "base/error.hpp"
#include "base/numbers/small_types.hpp"
#include "base/rooms.hpp"
#include "catalogue/fill_in.hpp"
#include "catalogue/reader.hpp"

namespace morton::catalogue {
namespace {

std::vector<std::string> dimensions_of(const ProblemFamily& family, std::string_view operand) {
  for (const auto& schema : family.operands) {
    if (schema.name == operand) return {schema.dimensions.begin(), schema.dimensions.end()};
  }
  return {};
}

void read_layout(const JsonReader& reader, const std::vector<std::string>& dimensions,
                 const Entry& entry, OperandFormat& format) {
  format.layout_text = reader.text();
  if (format.is_any()) return;
  // Packing has operands of any rank, and a kernel for one layout packs matrices.
  if (dimensions.empty() && entry.family == families::pack) {
    return read_layout(reader, {"D0", "D1"}, entry, format);
  }
  if (dimensions.empty()) {
    reader.fail("operands of any number of dimensions have the layout 'any', got '" +
                format.layout_text + "'");
  }
  try {
    const Layout standard = layout_of(format, dimensions, standard_tunables(entry));
    if (format.layout_text.find('{') == std::string::npos) format.layout = standard;
  } catch (const ModelError& error) {
    reader.fail(error.what());
  }
}

void read_split(const JsonReader& reader, OperandFormat& format) {
  const auto split = reader.integers();
  if (split.size() != 2 || split[0] < 1 || split[1] < 1 || split[0] > 64 || split[1] > 64) {
    reader.fail("expected [loops that count rows, loops that count texels], each 1 or more");
  }
  format.image_rows = static_cast<int>(split[0]);
  format.image_texels = static_cast<int>(split[1]);
}

DType read_stored(const JsonReader& reader) {
  const std::string name = reader.text();
  if (name != "f16" && name != "bf16" && name != "tf32") {
    reader.fail("expected 'f16', 'bf16' or 'tf32', got '" + name + "'");
  }
  return parse_dtype(name);
}

OperandFormat read_format(const JsonReader& reader, const std::vector<std::string>& dimensions,
                          const Entry& entry) {
  if (reader.has("rim")) reader.at("rim").fail("is called 'padding' now: rename the key");
  reader.allow_keys({"layout", "types", "stored", "padding", "memory", "split"});
  OperandFormat format;
  read_layout(reader.at("layout"), dimensions, entry, format);
  for (const auto& type : reader.at("types").elements()) {
    if (type.text() == "stored") {
      std::ranges::copy(stored_types(), std::back_inserter(format.types));
      continue;
    }
    try {
      format.types.push_back(parse_dtype(type.text()));
    } catch (const UsageError& error) {
      type.fail(error.what());
    }
  }
  if (format.types.empty()) reader.at("types").fail("expected at least one type");
  if (reader.has("stored")) format.stored = read_stored(reader.at("stored"));
  if (format.is_unbound() && format.stored) {
    reader.fail("an unbound operand has its tensor's own type: leave out 'stored'");
  }
  if (reader.has("padding")) {
    const JsonReader padding = reader.at("padding");
    format.padding = parse_padding_contents(padding.text(), padding.where());
  }
  if (reader.has("memory")) {
    const std::string memory = reader.at("memory").text();
    if (memory != "buffer" && memory != "image") {
      reader.at("memory").fail("expected 'buffer' or 'image', got '" + memory + "'");
    }
    if (memory == "image") format.memory = MemoryKind::image;
  }
  if (reader.has("split") != (format.memory == MemoryKind::image)) {
    reader.fail("'split' and the memory 'image' go together");
  }
  if (reader.has("split")) read_split(reader.at("split"), format);
  return format;
}

/// Whether an element of dst depends on nothing but the element of src at the same place.
bool is_place_by_place(const ProblemFamily& family) {
  const std::vector<std::string> dst = dimensions_of(family, "dst");
  const bool mixes = family.mixes && !family.mixes->empty();
  return !dst.empty() && !mixes && dimensions_of(family, "src") == dst;
}

/// Who walks memory walks src and dst alike, and nothing else.
void check_unbound(const JsonReader& reader, const ProblemFamily& family, const Entry& entry) {
  const auto unbound = std::ranges::count_if(
      entry.operands, [](const auto& operand) { return operand.second.is_unbound(); });
  if (unbound == 0) return;
  const bool all = unbound == 2 && entry.operands.size() == 2 && entry.operands.contains("src");
  if (!all) {
    reader.fail("the layout 'unbound' is for kernels of 'src' and 'dst' alone, which both have it");
  }
  if (!is_place_by_place(family)) {
    reader.fail("the layout 'unbound' is for problems that make each element of 'dst' of the one " +
                ("of 'src' at its place, which " + family.name() + " is not"));
  }
  const OperandFormat& src = entry.operands.at("src");
  const OperandFormat& dst = entry.operands.at("dst");
  for (const auto& [name, format] : entry.operands) {
    if (format.memory == MemoryKind::buffer) continue;
    reader.at(name).fail("an unbound operand lies in a buffer: leave out 'memory' and 'split'");
  }
  if (src.types != dst.types) {
    reader.fail("unbound operands have the same types: make 'types' of 'src' and 'dst' equal");
  }
  if (src.padding < dst.padding) {
    reader.at("src").fail("its padding becomes that of 'dst': expected '" +
                          std::string(name_of(dst.padding)) + "' or stronger, got '" +
                          std::string(name_of(src.padding)) + "'");
  }
}

}  // namespace

void read_operands(const JsonReader& reader, const ProblemFamily& family, Entry& entry) {
  NameSet known;
  for (const auto& schema : family.operands) known.emplace(schema.name);
  for (const auto& [name, member] : reader.members()) {
    if (!known.contains(name)) {
      reader.fail("unknown operand '" + name + "' (" + entry.family.name() + " has " + join(known) +
                  ")");
    }
    entry.operands.emplace(name, read_format(member, dimensions_of(family, name), entry));
  }
  for (const auto& name : known) {
    if (!entry.operands.contains(name)) reader.fail("the operand '" + name + "' is missing");
  }
  check_unbound(reader, family, entry);
}

std::string fill_in(const std::string& text, const Environment& tunables) {
  const std::string where = "layout '" + text + "'";
  std::string filled;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') {
      filled += text[i];
      continue;
    }
    const std::size_t end = text.find('}', i);
    if (end == std::string::npos) throw ModelError(where + ": a '{' has no '}'");
    const Expression extent = Expression::parse(text.substr(i + 1, end - i - 1), where);
    filled += std::to_string(extent.evaluate(tunables));
    i = end;
  }
  return filled;
}

Layout layout_of(const OperandFormat& format, std::span<const std::string> dimensions,
                 const Environment& tunables) {
  if (format.is_any()) throw InternalError("catalogue: the layout 'any' has no loops");
  if (format.layout) return *format.layout;
  const auto outer = static_cast<std::size_t>(format.outer);
  const Layout inner =
      Layout::parse(fill_in(format.layout_text, tunables), dimensions.subspan(outer));
  if (outer == 0) return inner;
  std::vector<Loop> loops;
  for (int d = 0; d < format.outer; ++d) loops.push_back({d, 0});
  for (const Loop& loop : inner.loops()) {
    loops.push_back({loop.dimension + format.outer, loop.extent});
  }
  return Layout(static_cast<int>(dimensions.size()), std::move(loops));
}

}  // namespace morton::catalogue
