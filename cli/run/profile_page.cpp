// SPDX-License-Identifier: Apache-2.0
#include "run/profile_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "pages/charts.hpp"
#include "pages/command_line.hpp"
#include "pages/device_facts.hpp"
#include "pages/page.hpp"
#include "pages/plan_figures.hpp"
#include "run/profile_clocks.hpp"

namespace morton::cli {
namespace {

constexpr std::size_t kMostBars = 40;
constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

/// The time that stands for a step: the device's where it has one, else the host's.
double time_us(const ProfiledStep& step) { return step.device_us.value_or(step.host_us); }

bool has_device_time(const Profile& profile) {
  return std::ranges::any_of(profile.steps,
                             [](const ProfiledStep& step) { return step.device_us.has_value(); });
}

std::string clock_text(const Profile& profile) {
  return has_device_time(profile) ? "by the device's clock" : "by the host's clock";
}

pages::Section summary_section(const Profile& profile, const RooflinePeaks& peaks) {
  double whole = 0.0;
  const ProfiledStep* slowest = nullptr;
  for (const ProfiledStep& step : profile.steps) {
    whole += time_us(step);
    if (slowest == nullptr || time_us(step) > time_us(*slowest)) slowest = &step;
  }
  std::string text = fmt::format("One run takes {:.3f} ms from end to end. It has {} steps. ",
                                 profile.plain_ms, profile.steps.size());
  if (slowest != nullptr && whole > 0.0) {
    text +=
        fmt::format("The longest is {}, which kernel {} computes: {:.1f} us {}, {:.0f} % of all.",
                    slowest->info.name, slowest->info.kernel, time_us(*slowest),
                    clock_text(profile), 100.0 * time_us(*slowest) / whole);
  }
  pages::Section section{"Summary", {pages::Paragraph{text}}};
  section.blocks.push_back(pages::PageTable{fmt::format("Whole runs, medians of {}", profile.runs),
                                            sums_table(profile)});
  const std::string sum = accounted_text(profile, peaks);
  if (!sum.empty()) section.blocks.push_back(pages::Paragraph{sum});
  return section;
}

/// Steps with arithmetic that the device's clock measured, as points.
std::vector<pages::LineChart::Series> kernel_points(const Profile& profile) {
  using pages::LineChart;
  LineChart::Series f32{"steps in f32", {}, LineChart::Style::points};
  LineChart::Series other{"steps in other types", {}, LineChart::Style::points};
  for (std::size_t s = 0; s < profile.steps.size(); ++s) {
    const ProfiledStep& step = profile.steps[s];
    const auto flop = static_cast<double>(step.info.flop);
    const auto bytes = static_cast<double>(step.info.logical_bytes);
    if (!step.device_us || !(*step.device_us > 0.0) || flop <= 0.0 || bytes <= 0.0) continue;
    const double gflops = flop / (*step.device_us * 1e3);
    (step.arithmetic ? f32 : other)
        .points.push_back(
            {flop / bytes, gflops,
             fmt::format("{}: {}, {:.4g} GFLOP/s, {:.3g} operations a byte, {}", step.info.name,
                         step.info.kernel, gflops, flop / bytes, step.bound_by),
             profile.steps.size() <= kMostBars ? std::to_string(s) : ""});
  }
  std::vector<LineChart::Series> series;
  if (!f32.points.empty()) series.push_back(f32);
  if (!other.points.empty()) series.push_back(other);
  return series;
}

pages::Section roofline_section(const Profile& profile, const RooflinePeaks& peaks) {
  pages::Section section{"Roofline"};
  pages::Roofline roofline = pages::roofline_of(peaks);
  roofline.kernels = kernel_points(profile);
  std::size_t points = 0;
  for (const auto& series : roofline.kernels) points += series.points.size();
  section.blocks.push_back(pages::Paragraph{
      "A step does arithmetic on bytes. Left of the bend memory limits it, right of it arithmetic "
      "does. The closer a point is to the roof above it, the less is left to gain."});
  const std::string others =
      points == profile.steps.size()
          ? ""
          : " The others do no arithmetic, or the device gives no time for them.";
  section.blocks.push_back(
      pages::Figure{"Every kernel beside the device's peaks", draw(roofline),
                    fmt::format("Points are steps; {} of {} are drawn.{} Peaks: {}.", points,
                                profile.steps.size(), others, peaks.source),
                    fmt::format("{} steps below roofs of {:.4g} GFLOP/s and {:.4g} GB/s.", points,
                                peaks.gflops_f32, peaks.gigabytes_per_second)});
  return section;
}

/// The steps that take longest, in the plan's order.
std::vector<std::size_t> longest_steps(const Profile& profile) {
  std::vector<std::size_t> order(profile.steps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(),
                           [&](std::size_t s) { return time_us(profile.steps[s]); });
  if (order.size() > kMostBars) order.resize(kMostBars);
  std::ranges::sort(order);
  return order;
}

pages::Section layers_section(const Profile& profile) {
  pages::BarChart chart;
  chart.mode = pages::BarChart::Mode::grouped;
  chart.axis = {"time, us"};
  chart.series = {has_device_time(profile) ? "measured, device's clock" : "measured, host's clock",
                  "estimated by the plan"};
  for (const std::size_t s : longest_steps(profile)) {
    const ProfiledStep& step = profile.steps[s];
    const double estimate = step.info.estimated_us > 0.0 ? step.info.estimated_us : kNoValue;
    chart.bars.push_back({fmt::format("{} {}", s, step.info.name),
                          {time_us(step), estimate},
                          fmt::format("{:.4g} us, {}", time_us(step), step.bound_by)});
  }
  const std::string cut =
      profile.steps.size() > kMostBars
          ? fmt::format(" The {} longest of {} steps are shown.", kMostBars, profile.steps.size())
          : "";
  return {"Time by layer",
          {pages::Figure{"Where the time goes", draw(chart),
                         "Each step's median time beside what the plan estimated, and what limits "
                         "it." +
                             cut,
                         fmt::format("Bars for {} steps.", chart.bars.size())}}};
}

/// What the host, the driver and the device did in the fastest run.
pages::Timeline timeline_of(const Profile& profile) {
  pages::Timeline timeline;
  timeline.axis = {"microseconds since the run began, host's clock"};
  timeline.lanes = {{"host: enqueuing", {}}, {"driver: launching", {}}, {"device: kernels", {}}};
  const ClockPair clocks(profile.fastest_run);
  double free_us = 0.0;  ///< when the device has ended the step before
  double enqueued_us = 0.0;
  for (const StepTime& time : profile.fastest_run) {
    const bool on_host = time.place == StepInfo::Place::host;
    enqueued_us = time.enqueued_at_us + time.enqueue_us;
    timeline.lanes[0].spans.push_back(
        {time.name, time.enqueued_at_us, enqueued_us, on_host ? 3 : 0, {}});
    if (!time.device_span) continue;
    const double start = clocks.host_us(time.device_span->start_ns);
    const double end = clocks.host_us(time.device_span->end_ns);
    const double ready = std::max(free_us, time.enqueued_at_us);
    if (start > ready) timeline.lanes[1].spans.push_back({time.name, ready, start, 1, {}});
    timeline.lanes[2].spans.push_back({time.name, start, end, 2, {}});
    free_us = std::max(free_us, end);
  }
  timeline.lanes[0].spans.push_back(
      {"wait", enqueued_us, std::max(enqueued_us, profile.fastest_run_us), 7, {}});
  if (!clocks.is_known()) timeline.lanes.resize(1);
  return timeline;
}

pages::Section timeline_section(const Profile& profile) {
  const pages::Timeline timeline = timeline_of(profile);
  return {
      "Timeline",
      {pages::Paragraph{
           "Three clocks are never mixed: the host's while it enqueues, the driver's queue, and "
           "the device's own. The moment at which the first step was enqueued aligns them."},
       pages::Figure{"The fastest run", draw(timeline),
                     timeline.lanes.size() == 1
                         ? "The device gives no times, so only the host's part is known."
                         : "Above, the host puts steps into the queue, then waits. In the "
                           "middle, a step waits for its launch. Below, the device computes it.",
                     fmt::format("{} steps in {:.1f} us.", profile.fastest_run.size(),
                                 profile.fastest_run_us)}}};
}

}  // namespace

std::string page_of(const Profile& profile, const ProfileSetting& setting,
                    const std::string& plan_text) {
  const Json plan = Json::parse(plan_text);
  std::vector<double> times;
  for (const ProfiledStep& step : profile.steps) times.push_back(time_us(step));
  pages::Page page{"Profile of " + setting.model, pages::command_line(), {}, {}};
  page.facts = {
      {"model", setting.model}, {"inputs", setting.inputs}, {"precision", setting.precision}};
  pages::add_device_facts(page, setting.device_facts);
  pages::add_peaks(page, setting.peaks);
  page.sections = {summary_section(profile, setting.peaks), layers_section(profile),
                   roofline_section(profile, setting.peaks), timeline_section(profile)};
  page.sections.push_back(pages::graph_section(plan, times, clock_text(profile)));
  page.sections.push_back(pages::memory_section(plan));
  page.sections.push_back(pages::layouts_section(plan));
  page.sections.push_back(
      {"All steps",
       {pages::Paragraph{"A click on a heading sorts. Times are medians in microseconds."},
        pages::PageTable{"Steps", steps_table(profile)},
        pages::PageTable{"Formats of the operands", formats_table(profile)}}});
  const Table routines = routines_table(profile);
  if (!routines.rows.empty()) {
    page.sections.back().blocks.push_back(pages::PageTable{"Routines of libraries", routines});
  }
  return html(page);
}

}  // namespace morton::cli
