// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pages/drawing.hpp"

namespace morton::cli::pages {

/// What a direction of a chart means.
struct Axis {
  enum class Scale : std::uint8_t { linear, log };
  enum class Unit : std::uint8_t { number, bytes };
  std::string label{};  ///< with the unit: "time, ms"
  Scale scale = Scale::linear;
  Unit unit = Unit::number;             ///< bytes: "4.0 KiB"
  std::optional<double> low{}, high{};  ///< nothing: from the values
};

/// Values of an axis as places in a drawing.
class AxisMap {
 public:
  struct Tick {
    double place = 0.0;
    std::string text{};
  };

  /// `values`: all that the axis should show; those that it cannot are left out. `from` is the
  /// place of the lowest.
  AxisMap(const Axis& axis, const std::vector<double>& values, double from, double to);

  /// Whether a value has a place: it is finite and, on a logarithmic axis, above 0.
  [[nodiscard]] bool has(double value) const;
  [[nodiscard]] double place(double value) const;
  /// About `most` of them, at round values.
  [[nodiscard]] std::vector<Tick> ticks(int most) const;
  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }

 private:
  void widen();
  [[nodiscard]] std::vector<double> linear_values(int most) const;
  [[nodiscard]] std::vector<double> log_values(int most) const;

  Axis axis_{};
  double low_ = 0.0, high_ = 1.0;
  double from_ = 0.0, to_ = 1.0;
};

/// The box in which a chart's data lie.
struct PlotBox {
  double left = 0.0, right = 0.0, top = 0.0, bottom = 0.0;
};

/// Grid, numbers and labels.
void draw_axes(Pen& pen, const PlotBox& box, const Axis& x, const AxisMap& x_map, const Axis& y,
               const AxisMap& y_map);
/// The horizontal axis alone.
void draw_axis(Pen& pen, const PlotBox& box, const Axis& x, const AxisMap& x_map);

}  // namespace morton::cli::pages
