// SPDX-License-Identifier: Apache-2.0
#include "pages/axis.hpp"

#include <algorithm>
#include <cmath>

#include "common/output.hpp"
#include "pages/text.hpp"

namespace morton::cli::pages {
namespace {

bool is_log(const Axis& axis) { return axis.scale == Axis::Scale::log; }

std::string label_of(const Axis& axis) {
  return is_log(axis) && !axis.label.empty() ? axis.label + " (log scale)" : axis.label;
}

/// A step of 1, 2 or 5 times a power of ten, so that `span` has at most `most` of them.
double round_step(double span, int most) {
  const double least = span / most;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1.0 - 1e-9)) return factor * power;
  }
  return 10.0 * power;
}

/// Likewise of bytes: a power of two.
double round_bytes(double span, int most) {
  return std::pow(2.0, std::ceil(std::log2(std::max(1.0, span / most))));
}

}  // namespace

AxisMap::AxisMap(const Axis& axis, const std::vector<double>& values, double from, double to)
    : axis_(axis), from_(from), to_(to) {
  bool any = false;
  for (const double value : values) {
    if (!has(value)) continue;
    low_ = any ? std::min(low_, value) : value;
    high_ = any ? std::max(high_, value) : value;
    any = true;
  }
  if (!any) {
    low_ = is_log(axis) ? 1.0 : 0.0;
    high_ = is_log(axis) ? 10.0 : 1.0;
  }
  widen();
  if (axis.low && has(*axis.low)) low_ = *axis.low;
  if (axis.high && has(*axis.high)) high_ = *axis.high;
  if (high_ <= low_) high_ = is_log(axis) ? 10.0 * low_ : low_ + 1.0;
}

void AxisMap::widen() {
  if (is_log(axis_)) {
    const double ratio = std::max(1.15, std::pow(high_ / low_, 0.04));
    low_ /= ratio;
    high_ *= ratio;
    return;
  }
  // Zero belongs to what is not far from it.
  if (low_ >= 0.0 && low_ <= 0.6 * high_) low_ = 0.0;
  if (high_ <= low_) {  // one value
    if (low_ > 0.0) low_ = 0.0;
    if (high_ <= low_) high_ = low_ == 0.0 ? 1.0 : 0.0;
  }
  const double margin = 0.04 * (high_ - low_);
  high_ += margin;
  if (low_ != 0.0) low_ -= margin;
}

bool AxisMap::has(double value) const {
  return std::isfinite(value) && (!is_log(axis_) || value > 0.0);
}

double AxisMap::place(double value) const {
  const double share = is_log(axis_) ? std::log(value / low_) / std::log(high_ / low_)
                                     : (value - low_) / (high_ - low_);
  return from_ + share * (to_ - from_);
}

std::vector<double> AxisMap::linear_values(int most) const {
  const double span = high_ - low_;
  const double step =
      axis_.unit == Axis::Unit::bytes ? round_bytes(span, most) : round_step(span, most);
  std::vector<double> values;
  for (double n = std::ceil(low_ / step - 1e-9); n * step <= high_ + 1e-9 * span; n += 1.0) {
    values.push_back(n * step);
  }
  return values;
}

std::vector<double> AxisMap::log_values(int most) const {
  const bool bytes = axis_.unit == Axis::Unit::bytes;
  const double base = bytes ? 2.0 : 10.0;
  const double powers = std::log(high_ / low_) / std::log(base);
  const int step = std::max(1, static_cast<int>(std::ceil(powers / most)));
  const bool between = !bytes && powers < 2.5;
  std::vector<double> values;
  const int first = static_cast<int>(std::floor(std::log(low_) / std::log(base)));
  for (int power = first; std::pow(base, power) <= high_; ++power) {
    if (((power % step) + step) % step != 0) continue;
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1.0 && !between) break;
      const double value = factor * std::pow(base, power);
      if (value >= low_ && value <= high_) values.push_back(value);
    }
  }
  return values;
}

std::vector<AxisMap::Tick> AxisMap::ticks(int most) const {
  std::vector<Tick> ticks;
  for (const double value : is_log(axis_) ? log_values(most) : linear_values(most)) {
    ticks.push_back({place(value), axis_.unit == Axis::Unit::bytes
                                       ? bytes_text(static_cast<std::int64_t>(value))
                                       : tick_text(value)});
  }
  return ticks;
}

void draw_axis(Pen& pen, const PlotBox& box, const Axis& x, const AxisMap& x_map) {
  for (const AxisMap::Tick& tick : x_map.ticks(7)) {
    pen.line("grid", tick.place, box.top, tick.place, box.bottom);
    pen.text("tick middle", tick.place, box.bottom + 16.0, tick.text);
  }
  pen.line("axis", box.left, box.bottom, box.right, box.bottom);
  pen.text("label middle", (box.left + box.right) / 2.0, box.bottom + 36.0, label_of(x));
}

void draw_axes(Pen& pen, const PlotBox& box, const Axis& x, const AxisMap& x_map, const Axis& y,
               const AxisMap& y_map) {
  draw_axis(pen, box, x, x_map);
  for (const AxisMap::Tick& tick : y_map.ticks(6)) {
    pen.line("grid", box.left, tick.place, box.right, tick.place);
    pen.text("tick end", box.left - 6.0, tick.place + 4.0, tick.text);
  }
  pen.line("axis", box.left, box.top, box.left, box.bottom);
  pen.text_upwards("label middle", 14.0, (box.top + box.bottom) / 2.0, label_of(y));
}

}  // namespace morton::cli::pages
