// SPDX-License-Identifier: Apache-2.0
//
// Charts as values, and their drawings. Names come from models and kernels: they are shown as text,
// whatever they hold. What has no place in a chart (NaN, or 0 on a logarithmic axis) is counted
// under it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pages/axis.hpp"
#include "pages/drawing.hpp"

namespace morton::cli::pages {

/// Horizontal bars, one row for each name.
struct BarChart {
  struct Bar {
    std::string name{};
    std::vector<double> values{};  ///< one for each series; NaN where there is none
    std::string note{};            ///< behind the bars, such as the value with its unit
  };
  /// stacked: a row's values follow each other. grouped: they lie under each other.
  enum class Mode : std::uint8_t { stacked, grouped } mode = Mode::stacked;
  Axis axis{};
  std::vector<std::string> series{};  ///< empty: one series without a legend
  std::vector<Bar> bars{};
};

/// Curves and points over two axes.
struct LineChart {
  struct Point {
    double x = 0.0, y = 0.0;
    std::string title{};  ///< what a pointer shows; empty: the coordinates
    std::string label{};  ///< beside the point; keep it short
  };
  enum class Style : std::uint8_t { curve, curve_and_points, points };
  struct Series {
    std::string name{};
    std::vector<Point> points{};
    Style style = Style::curve_and_points;
  };
  Axis x{}, y{};
  std::vector<Series> series{};
};

/// What a device can do at most, and what kernels do.
struct Roofline {
  struct Roof {
    std::string name{};
    double value = 0.0;
  };
  std::vector<Roof> arithmetic{};            ///< GFLOP/s (or GOP/s), the same at every intensity
  std::vector<Roof> memory{};                ///< GB/s, times the intensity
  std::vector<LineChart::Series> kernels{};  ///< x: operations a byte; y: GFLOP/s
  std::string y_label = "GFLOP/s";
};

/// What happened when, in lanes under each other.
struct Timeline {
  struct Span {
    std::string name{};
    double start = 0.0, end = 0.0;
    int series = 0;
    std::string title{};  ///< empty: name and times
  };
  struct Lane {
    std::string name{};
    std::vector<Span> spans{};
  };
  Axis axis{};
  std::vector<Lane> lanes{};
};

/// A matrix of counts, such as a confusion matrix. Each row is coloured by its own greatest.
struct HeatMap {
  std::string row_label{}, column_label{};
  std::vector<std::string> rows{}, columns{};
  std::vector<std::vector<double>> values{};  ///< by row
};

/// Which bytes are in use during which step.
struct MemoryMap {
  struct Block {
    std::string name{};
    int first_step = 0, last_step = 0;  ///< both inclusive
    std::int64_t offset = 0, bytes = 0;
    int series = 0;
  };
  int steps = 0;
  std::int64_t size = 0;              ///< of all memory that is shown, in bytes
  std::vector<std::string> series{};  ///< names of the colours
  std::vector<Block> blocks{};
};

/// Steps from top to bottom, and which results go where.
struct StepGraph {
  struct Step {
    std::string name{}, detail{};
    double share = 0.0;  ///< 0 to 1: how strongly it is coloured
    std::string note{};  ///< beside it, such as its time
  };
  struct Edge {
    int from = 0, to = 0;
    std::string title{};
  };
  std::vector<Step> steps{};
  std::vector<Edge> edges{};
};

[[nodiscard]] Drawing draw(const BarChart& chart);
[[nodiscard]] Drawing draw(const LineChart& chart);
[[nodiscard]] Drawing draw(const Roofline& roofline);
[[nodiscard]] Drawing draw(const Timeline& timeline);
[[nodiscard]] Drawing draw(const HeatMap& map);
[[nodiscard]] Drawing draw(const MemoryMap& map);
[[nodiscard]] Drawing draw(const StepGraph& graph);

}  // namespace morton::cli::pages
