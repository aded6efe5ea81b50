// SPDX-License-Identifier: Apache-2.0
#include "catalogue/r17_restrictions.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/error.hpp"
#include "catalogue/reader.hpp"

namespace morton::catalogue {
namespace {

/// Far above any that makes sense; keeps products of alignments within 64 bits.
constexpr std::int64_t kMostAlignment = 65536;
/// Where nothing is measured: as much as the baseline of the built-in ladder.
constexpr double kCpuEfficiency = 0.01, kGpuEfficiency = 0.02;

/// One matrix: R17's key, and what it is here.
struct Matrix {
  const char* key;
  const char* operand;
  std::vector<std::string> dimensions;  ///< rows, columns
  PaddingContents padding = PaddingContents::finite;
};

/// One of R17's operations (source 5.2).
struct Operation {
  Family family;
  std::vector<Matrix> matrices;
  const char* sizes;       ///< letters that "arglist" may have
  std::int64_t flop;       ///< of a step of a product, or of an element
  const char* work;        ///< how many of these
  const char* convention;  ///< restrictions that R17's framework takes for granted
};

const std::vector<Operation>& operations() {
  // Zeros in the padding of one factor cancel whatever finite the other's holds.
  static const std::vector<Operation> kOperations{
      {families::gemm,
       {{"a", "lhs", {"M", "K"}, PaddingContents::zero},
        {"b", "rhs", {"K", "N"}},
        {"r", "dst", {"M", "N"}}},
       "lwh",
       2,
       "*M*N*K",
       R"({"arglist": "lw", "a": {"representation": "R"}, "b": {"representation": "R"},
           "r": {"representation": "R"}})"},
      {families::bias,
       {{"a", "src", {"M", "N"}}, {"b", "bias", {"M"}}, {"r", "dst", {"M", "N"}}},
       "wh",
       1,
       "*M*N",
       R"({"operation": "bias", "arglist": "hw", "a": {"representation": "R"}})"},
      {families::sigmoid,
       {{"a", "src", {"M", "N"}}, {"r", "dst", {"M", "N"}}},
       "wh",
       4,
       "*M*N",
       R"({"operation": "sigmoid", "scale": {"elements": 1}})"},
      {families::relu,
       {{"a", "src", {"M", "N"}}, {"r", "dst", {"M", "N"}}},
       "wh",
       1,
       "*M*N",
       R"({"operation": "relu", "scale": {"elements": 1}})"}};
  return kOperations;
}

const Operation* find_operation(Family family) {
  const auto found = std::ranges::find(operations(), family, &Operation::family);
  return found == operations().end() ? nullptr : &*found;
}

const Operation& read_operation(const JsonReader& reader) {
  if (!reader.has("operation")) return *find_operation(families::gemm);
  const std::string name = reader.at("operation").text();
  const ProblemFamily* family = find_problem_family(name);
  const Operation* found = family == nullptr ? nullptr : find_operation(family->id);
  if (found == nullptr) {
    reader.at("operation").fail("expected one of " + r17_conventions() + ", got '" + name + "'");
  }
  return *found;
}

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

class RestrictionsReader {
 public:
  RestrictionsReader(const JsonReader& restrictions, Entry& entry)
      : reader_(restrictions), operation_(read_operation(restrictions)), entry_(entry) {}

  R17Call read() {
    reader_.allow_keys({"operation", "flop", "a", "b", "r", "arglist", "scale"});
    entry_.family = operation_.family;
    call_.in_place = !is_product() && !reader_.has("r");
    read_scale();
    read_parameters();
    if (call_.elements > 0) {
      read_unbound();
      launch_over_elements();
    } else {
      entry_.padding.edges = Entry::Edges::pad;
      for (const Matrix& matrix : operation_.matrices) read_matrix(matrix);
      launch_over_matrix();
    }
    read_cost();
    return call_;
  }

 private:
  [[nodiscard]] bool is_product() const { return operation_.family == families::gemm; }
  [[nodiscard]] Expression parse(const std::string& text) const {
    return Expression::parse(text, reader_.where());
  }

  void read_scale() {
    if (!reader_.has("scale")) return;
    const JsonReader scale = reader_.at("scale");
    const bool of_one_matrix = operation_.matrices.size() == 2;
    if (of_one_matrix && scale.has("elements")) {
      scale.allow_keys({"elements"});
      call_.elements = read_factor(scale, "elements");
      return;
    }
    scale.allow_keys({"rows", "cols"});
    call_.rows = read_factor(scale, "rows");
    call_.cols = read_factor(scale, "cols");
  }

  void read_parameters() {
    const std::string allowed = call_.elements > 0 ? "" : operation_.sizes;
    std::string letters;
    if (is_product() || reader_.has("arglist")) letters = reader_.at("arglist").text();
    for (const char letter : letters) {
      if (allowed.find(letter) == std::string::npos || std::ranges::count(letters, letter) > 1) {
        reader_.at("arglist").fail("expected " + expected_letters(allowed) + ", got '" + letters +
                                   "'");
      }
      call_.parameters.emplace_back(1, letter);
    }
    for (const Matrix& matrix : operation_.matrices) {
      if (matrix.key[0] != 'r' || !call_.in_place) call_.parameters.emplace_back(matrix.key);
    }
  }

  static std::string expected_letters(const std::string& allowed) {
    if (allowed.empty()) return "no sizes of a kernel whose ids count elements";
    return allowed == "lwh" ? "each of l, w and h at most once" : "each of w and h at most once";
  }

  void read_unbound() {
    for (const Matrix& matrix : operation_.matrices) {
      if (reader_.has(matrix.key)) reader_.at(matrix.key).allow_keys({});
      OperandFormat format;
      format.layout_text = "unbound";
      format.types = {DType::f32};
      format.padding = matrix.padding;
      entry_.operands.emplace(matrix.operand, std::move(format));
    }
  }

  void read_matrix(const Matrix& matrix) {
    const bool is_column = matrix.dimensions.size() == 1;
    // What works in place leaves r as a lies; a column of biases lies in one way only.
    const char* key = matrix.key[0] == 'r' && call_.in_place ? "a" : matrix.key;
    OperandFormat format;
    format.layout_text = "M";
    if (!is_column || reader_.has(key)) {
      const JsonReader reader = reader_.at(key);
      if (is_column) {
        reader.allow_keys({"rowAlign"});
      } else {
        reader.allow_keys({"representation", "colAlign", "rowAlign"});
        format.layout_text = reader.at("representation").text();
        align(matrix.dimensions[1], read_factor(reader, "colAlign"));
      }
      align(matrix.dimensions[0], read_factor(reader, "rowAlign"));
    }
    try {
      format.layout = Layout::parse(format.layout_text, matrix.dimensions);
    } catch (const ModelError& error) {
      reader_.at(key).at("representation").fail(error.what());
    }
    format.types = {DType::f32};
    format.padding = matrix.padding;
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

  void launch_over_matrix() {
    entry_.tunables = {{"LOCAL_M", {{1, 2, 4, 8, 16}, 4}}, {"LOCAL_N", {{1, 2, 4, 8, 16, 32}, 16}}};
    launch_along("M", "LOCAL_M", call_.rows);
    launch_along("N", "LOCAL_N", call_.cols);
    if (is_product()) entry_.padding.align.insert_or_assign("K", Expression(aligned_.at("K")));
  }

  void launch_over_elements() {
    entry_.padding.edges = Entry::Edges::guard;
    entry_.tunables = {{"LOCAL", {{16, 32, 64, 128, 256}, 64}}};
    const std::string each = std::to_string(call_.elements);
    const std::string items = "round_up(ceil_div(elements_dst, " + each + "), LOCAL)";
    entry_.launch.global.push_back(parse(items));
    entry_.launch.local.push_back(parse("LOCAL"));
    entry_.require.push_back(parse(items + " <= 2147483647"));
    if (call_.elements > 1) entry_.require.push_back(parse("elements_dst % " + each + " == 0"));
  }

  void read_cost() {
    const std::int64_t flop = reader_.has("flop") ? reader_.at("flop").integer() : operation_.flop;
    if (flop < 1 || flop > kMostAlignment) reader_.at("flop").fail("expected 1 or more");
    entry_.cost.flop = parse(std::to_string(flop) + operation_.work);
    entry_.cost.work = entry_.cost.flop;
    entry_.cost.efficiency = {{"cpu", kCpuEfficiency}, {"gpu", kGpuEfficiency}};
  }

  JsonReader reader_;
  const Operation& operation_;
  Entry& entry_;
  R17Call call_;
  std::map<std::string, std::int64_t> aligned_;  ///< by dimension, over all matrices
};

}  // namespace

R17Call read_r17_restrictions(const JsonReader& restrictions, Entry& entry) {
  return RestrictionsReader(restrictions, entry).read();
}

std::string r17_convention(Family family) {
  const Operation* operation = find_operation(family);
  return operation == nullptr ? "" : operation->convention;
}

std::string r17_conventions() {
  NameSet names;
  for (const Operation& operation : operations()) names.emplace(operation.family.name());
  return join(names);
}

}  // namespace morton::catalogue
