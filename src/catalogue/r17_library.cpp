// SPDX-License-Identifier: Apache-2.0
#include "catalogue/r17_library.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.hpp"
#include "base/text/bare_code.hpp"
#include "catalogue/entry_digest.hpp"
#include "catalogue/reader.hpp"

namespace morton::catalogue {
namespace {

/// Far above any that makes sense; keeps products of alignments within 64 bits.
constexpr std::int64_t kMostAlignment = 65536;
/// Where nothing is measured: as much as the baseline of the built-in ladder.
constexpr double kCpuEfficiency = 0.01, kGpuEfficiency = 0.02;

/// One matrix of a product: R17's key, and what it is here.
struct Matrix {
  const char* key;
  const char* operand;
  std::array<const char*, 2> dimensions;  ///< rows, columns
  PaddingContents
      padding;  ///< zeros in the padding of one factor cancel whatever finite the other's holds
};
constexpr Matrix kMatrices[] = {{"a", "lhs", {"M", "K"}, PaddingContents::zero},
                                {"b", "rhs", {"K", "N"}, PaddingContents::finite},
                                {"r", "dst", {"M", "N"}, PaddingContents::finite}};

std::int64_t read_factor(const JsonReader& reader, const char* key) {
  if (!reader.has(key)) return 1;
  const JsonReader member = reader.at(key);
  const std::int64_t value = member.integer();
  if (value < 1 || value > kMostAlignment) {
    member.fail("expected 1 to " + std::to_string(kMostAlignment) + ", got " +
                std::to_string(value));
  }
  return value;
}

std::string read_codename(const JsonReader& reader) {
  const std::string name = reader.text();
  const bool fits = !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
  if (!fits) reader.fail("expected letters, digits, '_', '-' and '.', got '" + name + "'");
  return name;
}

/// The kernel of one item of "sources".
class EntryReader {
 public:
  EntryReader(const JsonReader& restrictions, Entry& entry)
      : reader_(restrictions), entry_(entry) {}

  void read() {
    reader_.allow_keys({"flop", "a", "b", "r", "arglist", "scale"});
    entry_.family = families::gemm;
    entry_.padding.edges = Entry::Edges::pad;
    read_arguments();
    for (const Matrix& matrix : kMatrices) read_matrix(reader_.at(matrix.key), matrix);
    read_launch();
    const std::int64_t flop = reader_.has("flop") ? reader_.at("flop").integer() : 2;
    if (flop < 1 || flop > kMostAlignment) reader_.at("flop").fail("expected 1 or more");
    entry_.cost.flop = parse(std::to_string(flop) + "*M*N*K");
    entry_.cost.work = entry_.cost.flop;
    entry_.cost.efficiency = {{"cpu", kCpuEfficiency}, {"gpu", kGpuEfficiency}};
  }

 private:
  [[nodiscard]] Expression parse(const std::string& text) const {
    return Expression::parse(text, reader_.where());
  }

  void read_arguments() {
    const JsonReader list = reader_.at("arglist");
    const std::string letters = list.text();
    for (const char letter : letters) {
      const char* name = letter == 'l'   ? "K_pad"
                         : letter == 'w' ? "N_pad"
                         : letter == 'h' ? "M_pad"
                                         : nullptr;
      if (name == nullptr || std::ranges::count(letters, letter) > 1) {
        list.fail("expected each of l, w and h at most once, got '" + letters + "'");
      }
      entry_.launch.arguments.emplace_back(name);
    }
    for (const Matrix& matrix : kMatrices) entry_.launch.arguments.emplace_back(matrix.operand);
  }

  void read_matrix(const JsonReader& reader, const Matrix& matrix) {
    reader.allow_keys({"representation", "colAlign", "rowAlign"});
    OperandFormat format;
    const JsonReader text = reader.at("representation");
    format.layout_text = text.text();
    const std::array<std::string, 2> dimensions{matrix.dimensions[0], matrix.dimensions[1]};
    try {
      format.layout = Layout::parse(format.layout_text, dimensions);
    } catch (const ModelError& error) {
      text.fail(error.what());
    }
    format.types = {DType::f32};
    format.padding = matrix.padding;
    align(dimensions[0], read_factor(reader, "rowAlign"));
    align(dimensions[1], read_factor(reader, "colAlign"));
    entry_.operands.emplace(matrix.operand, std::move(format));
  }

  void align(const std::string& dimension, std::int64_t step) {
    std::int64_t& all = aligned_.try_emplace(dimension, 1).first->second;
    all = std::lcm(all, step);
  }

  /// Pads an extent of r so that work-groups of `local` work-items, each `scale` elements wide,
  /// cover it exactly.
  void launch_along(const std::string& dimension, const std::string& local, std::int64_t scale) {
    const auto power_of_two = [](std::int64_t n) {
      return std::has_single_bit(static_cast<std::uint64_t>(n));
    };
    const std::int64_t step = aligned_.at(dimension);
    const std::string group = scale == 1 ? local : std::to_string(scale) + "*" + local;
    // A work-group's size is a power of two, so of two powers the larger is a multiple of both.
    std::string whole = group;
    if (scale % step != 0) {
      // A work-group's size is a power of two, so of two powers the larger is a multiple of both.
      whole = power_of_two(step) && power_of_two(scale)
                  ? "max(" + std::to_string(step) + ", " + group + ")"
                  : group + "*" + std::to_string(step / std::gcd(step, scale));
    }
    entry_.padding.align.insert_or_assign(dimension, parse(whole));
    const std::string global = dimension + "_pad/" + std::to_string(scale);
    entry_.launch.global.push_back(parse(global));
    entry_.launch.local.push_back(parse(local));
    entry_.require.push_back(parse(global + " <= 65535"));
  }

  void read_launch() {
    std::int64_t rows = 1;
    std::int64_t cols = 1;
    if (reader_.has("scale")) {
      const JsonReader scale = reader_.at("scale");
      scale.allow_keys({"rows", "cols"});
      rows = read_factor(scale, "rows");
      cols = read_factor(scale, "cols");
    }
    entry_.tunables = {{"LOCAL_M", {{1, 2, 4, 8, 16}, 4}}, {"LOCAL_N", {{1, 2, 4, 8, 16, 32}, 16}}};
    launch_along("M", "LOCAL_M", rows);
    launch_along("N", "LOCAL_N", cols);
    entry_.padding.align.insert_or_assign("K", Expression(aligned_.at("K")));
  }

  JsonReader reader_;
  Entry& entry_;
  std::map<std::string, std::int64_t> aligned_;  ///< by dimension, over all matrices
};

/// The text with R17's types defined. It may define other names too, even the same as another
/// kernel's of the library, so it stands in a program of its own.
void read_text(const JsonReader& reader, Entry& entry,
               const std::function<std::string(const std::string&)>& read_source) {
  entry.program.source_file = reader.at("source").text();
  entry.program.function = reader.at("function").text();
  entry.program.is_shared = false;
  std::string text;
  try {
    text = read_source(entry.program.source_file);
  } catch (const ModelError& error) {
    reader.at("source").fail(error.what());
  }
  if (!declares_function(bare_code(text), entry.program.function)) {
    reader.at("function")
        .fail(entry.program.source_file + " has no function '" + entry.program.function + "'");
  }
  entry.program.source = "#define HON_DATA_TYPE float\n#define HON_DATA_TYPE_VECTOR float4\n" +
                         text + "\n#undef HON_DATA_TYPE_VECTOR\n#undef HON_DATA_TYPE\n";
  entry.program.code = bare_code(entry.program.source);
  entry.program.digest.kernel = kernel_digest(reader.json(), entry.program.code);
}

}  // namespace

bool is_r17_library(const Json& json) { return json.is_object() && json.contains("sources"); }

R17Library read_r17_library(const JsonReader& reader,
                            const std::function<std::string(const std::string&)>& read_source) {
  reader.allow_keys({"sources"});
  R17Library library;
  NameSet taken;
  for (const JsonReader& item : reader.at("sources").elements()) {
    item.allow_keys({"codename", "function", "source", "restrictions"});
    Entry entry;
    entry.name = read_codename(item.at("codename"));
    if (!taken.insert(entry.name).second) {
      item.at("codename").fail("'" + entry.name + "' stands twice");
    }
    read_text(item, entry, read_source);
    const JsonReader restrictions = item.at("restrictions");
    if (restrictions.json().is_object() && restrictions.json().empty()) {
      library.left_out.emplace(entry.name,
                               item.where() + ": '" + entry.name +
                                   "' states no restrictions, so neither what it computes nor its "
                                   "arguments are known");
      continue;
    }
    EntryReader(restrictions, entry).read();
    library.entries.push_back(std::move(entry));
  }
  return library;
}

}  // namespace morton::catalogue
