// SPDX-License-Identifier: Apache-2.0
#include "source/runs.hpp"

#include <algorithm>
#include <optional>

#include "source/accessor.hpp"
#include "source/epilogue.hpp"

namespace morton::source {
namespace {

/// A run is at most this long: its tables stay in the first-level cache.
constexpr std::int64_t kLongestRun = 64;

/// Where a run goes: along a coordinate, within the innermost loop of dst's layout.
struct RunDirection {
  std::string coordinate;   ///< its variable ("d1")
  std::string dimension;    ///< and its extent's name ("D1")
  Expression loop{1};       ///< iterations of the loop
  std::int64_t length = 1;  ///< of a run
};

class RunWriter {
 public:
  RunWriter(const InstanceOperand& dst, const InstanceOperand& src) : dst_(dst), src_(src) {}

  RunTexts write() {
    find_direction();
    std::vector<Expression> coordinates;
    for (const auto& dimension : src_.view.dimensions) {
      coordinates.push_back(Expression::variable(coordinate_name(dimension)));
    }
    positions_.push_back(index_of(src_, coordinates).index);
    if (src_.view.bounded) {
      // With the names of the coordinates as they are, a view's own texts are what it reads.
      for (const auto& coordinate : src_.view.coordinates) positions_.push_back(coordinate);
    }
    split();
    define_run();
    define_tables();
    define_access();
    return std::move(texts_);
  }

 private:
  void define(const std::string& name, const std::string& parameters, const std::string& body) {
    texts_.macros.push_back({name, parameters, body});
  }

  std::string text_of(const Expression& expression) {
    for (const auto& name : expression.variables()) {
      if (!is_coordinate(name)) texts_.sizes.insert(name);
    }
    return expression.to_opencl();
  }

  [[nodiscard]] bool is_coordinate(const std::string& name) const {
    const auto& dimensions = dst_.view.dimensions;
    return std::any_of(dimensions.begin(), dimensions.end(), [&](const std::string& dimension) {
      return coordinate_name(dimension) == name;
    });
  }

  void find_direction() {
    const auto& loops = dst_.arrangement.layout.loops();
    const auto& groups = dst_.arrangement.grouping;
    const auto& viewed = *dst_.view.grouping;
    // dst may lie with its dimensions in another order.
    if (loops.empty() || !std::ranges::is_permutation(viewed, groups)) return;
    // A dimension of one element makes no run: it is as if those outside of it were the innermost.
    const auto is_one = [&](const Loop& loop) {
      return loop.extent == 0 &&
             dst_.arrangement.padded[static_cast<std::size_t>(loop.dimension)] == 1;
    };
    const auto found = std::find_if_not(loops.rbegin(), loops.rend(), is_one);
    const Loop& loop = found == loops.rend() ? loops.back() : *found;
    const auto place = static_cast<std::size_t>(loop.dimension);
    const auto d = std::ranges::find(viewed, groups[place]) - viewed.begin();
    const std::int64_t extent = loop.extent;
    direction_.dimension = dst_.view.dimensions[static_cast<std::size_t>(d)];
    direction_.coordinate = coordinate_name(direction_.dimension);
    direction_.loop = extent > 0 ? Expression(extent) : padded_name(dst_.name, place);
    direction_.length = extent > 0 ? std::min(extent, kLongestRun) : kLongestRun;
  }

  /// Takes from each position the part that goes into a table.
  void split() {
    std::set<std::string> others;
    for (const auto& dimension : dst_.view.dimensions) others.insert(coordinate_name(dimension));
    others.erase(direction_.coordinate);
    for (const auto& position : positions_) {
      const auto part = position.terms_with(direction_.coordinate, others);
      if (!part) {
        direction_ = {};
        parts_.assign(positions_.size(), Expression(0));
        return;
      }
      parts_.push_back(*part);
    }
  }

  void define_run() {
    const bool moves = !direction_.coordinate.empty();
    define("RUN_LENGTH_dst", "", std::to_string(direction_.length));
    define("LOOP_dst", "", "(" + text_of(direction_.loop) + ")");
    define("RUN_START_dst", "", moves ? direction_.coordinate : "0");
    define("INSIDE_ALONG_dst", "(i)",
           moves ? "(" + direction_.coordinate + " + (i) < " + direction_.dimension + ")" : "1");
    if (moves) texts_.sizes.insert(direction_.dimension);
  }

  [[nodiscard]] bool has_table(std::size_t t) const { return !(parts_[t] == Expression(0)); }
  static std::string table(std::size_t t) { return "src_table" + std::to_string(t); }
  static std::string base(std::size_t t) { return "src_base" + std::to_string(t); }

  void define_tables() {
    std::string declare;
    std::string fill;
    std::string begin;
    const auto start = Expression::variable("(start)");
    const auto moved = Expression::variable("((start) + (i))");
    for (std::size_t t = 0; t < positions_.size(); ++t) {
      begin += " const int " + base(t) + " = " + text_of(positions_[t]) + ";";
      if (!has_table(t)) continue;
      static_cast<void>(text_of(parts_[t]));
      declare += " int " + table(t) + "[RUN_LENGTH_dst];";
      fill += " " + table(t) +
              "[i] = " + parts_[t].substitute({{direction_.coordinate, moved}}).to_opencl() +
              " - (" + parts_[t].substitute({{direction_.coordinate, start}}).to_opencl() + ");";
    }
    define("TABLES_src", "", declare);
    define("FILL_src", "(i, start)", fill);
    define("BEGIN_src", "", begin);
  }

  [[nodiscard]] std::string along(std::size_t t) const {
    return has_table(t) ? "(" + base(t) + " + " + table(t) + "[i])" : base(t);
  }

  void define_access() {
    define("INDEX_ALONG_src", "(i)", along(0));
    std::string inside;
    for (std::size_t t = 1; t < positions_.size(); ++t) {
      // One unsigned comparison checks both ends.
      inside += (t > 1 ? " && " : "") + ("(uint)" + along(t)) + " < (uint)" +
                text_of(tensor_extent_name(src_.name, t - 1));
    }
    define("INSIDE_ALONG_src", "(i)", inside.empty() ? "1" : "(" + inside + ")");
    define("OUTSIDE_src", "",
           literal_of(src_.arrangement.dtype, src_.view.bounded ? src_.view.outside : 0.0));
  }

  const InstanceOperand& dst_;
  const InstanceOperand& src_;
  RunDirection direction_;
  /// Index of the element, then the tensor's coordinates if they must be checked, and of each the
  /// part that depends on the run's coordinate.
  std::vector<Expression> positions_;
  std::vector<Expression> parts_;
  RunTexts texts_;
};

}  // namespace

RunTexts run_texts(const InstanceOperand& dst, const InstanceOperand& src) {
  return RunWriter(dst, src).write();
}

}  // namespace morton::source
