// SPDX-License-Identifier: Apache-2.0
#include "model/plan_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "pages/charts.hpp"
#include "pages/command_line.hpp"
#include "pages/page.hpp"
#include "pages/plan_figures.hpp"

namespace morton::cli {
namespace {

constexpr std::size_t kMostPlanBars = 40;

std::vector<double> estimates_of(const Json& plan) {
  std::vector<double> times;
  for (const Json& step : plan.at("steps")) times.push_back(step.at("estimated_us"));
  return times;
}

std::string group_text(const Json& local) {
  return fmt::format("{}x{}x{}", local[0].get<std::int64_t>(), local[1].get<std::int64_t>(),
                     local[2].get<std::int64_t>());
}

pages::Section plan_summary(const Json& plan) {
  double sum = 0.0;
  int repacks = 0;
  for (const Json& step : plan.at("steps")) {
    sum += step.at("estimated_us").get<double>();
    repacks += step.at("role") == "repack" ? 1 : 0;
  }
  return {
      "Summary",
      {pages::Paragraph{fmt::format(
          "The plan has {} steps, of which {} only repack. They are estimated to take {:.1f} us "
          "together. Nothing was run for this page.",
          plan.at("steps").size(), repacks, sum)}}};
}

pages::Section estimates_section(const Json& plan) {
  const std::vector<double> times = estimates_of(plan);
  std::vector<double> sorted = times;
  std::ranges::sort(sorted, std::ranges::greater());
  const double least = sorted.size() > kMostPlanBars ? sorted[kMostPlanBars - 1] : 0.0;
  pages::BarChart chart;
  chart.axis = {"estimated time, us"};
  for (std::size_t s = 0; s < times.size(); ++s) {
    if (times[s] < least || chart.bars.size() == kMostPlanBars) continue;
    const Json& step = plan.at("steps")[s];
    chart.bars.push_back({fmt::format("{} {}", s, step.at("name").get<std::string>()),
                          {times[s]},
                          fmt::format("{:.4g} us", times[s])});
  }
  return {"Estimated time by layer",
          {pages::Figure{"Where the time should go", draw(chart),
                         fmt::format("The {} longest of {} steps, in the order in which they run.",
                                     chart.bars.size(), times.size()),
                         fmt::format("Bars for {} steps.", chart.bars.size())}}};
}

pages::Section reasons_section(const Json& plan) {
  using enum Table::Align;
  pages::PageTable table{"Steps", {}};
  table.table.columns = {{"step"},         {"kernel"},    {"group", right}, {"FLOP", right},
                         {"bytes", right}, {"us", right}, {"problem"},      {"why this kernel"}};
  for (const Json& step : plan.at("steps")) {
    table.table.rows.push_back({step.at("name"), step.at("kernel"), group_text(step.at("local")),
                                std::to_string(step.at("flop").get<std::int64_t>()),
                                std::to_string(step.at("logical_bytes").get<std::int64_t>()),
                                fmt::format("{:.2f}", step.at("estimated_us").get<double>()),
                                step.at("problem"), step.at("reason")});
  }
  return {"All steps",
          {pages::Paragraph{"A click on a heading sorts. A problem is what a kernel is asked to "
                            "compute, with its extents."},
           std::move(table)}};
}

pages::Section considered_section(const Json& plan) {
  pages::Section section{
      "What was considered",
      {pages::Paragraph{"For each problem: every way to compute it with its estimated time alone, "
                        "then those that cannot, and why."}}};
  for (const Json& task : plan.at("considered")) {
    std::string text;
    for (std::size_t l = 1; l < task.size(); ++l) text += task[l].get<std::string>() + "\n";
    section.blocks.push_back(pages::FoldedText{task[0], text});
  }
  return section;
}

}  // namespace

std::string page_of(const Json& plan, const PlanPage& about) {
  pages::Page page{"Plan of " + about.model, pages::command_line(), {}, {}};
  page.facts = {{"model", about.model}, {"precision", about.precision}};
  for (auto& fact : pages::plan_facts(plan)) page.facts.push_back(std::move(fact));
  page.sections = {plan_summary(plan),
                   estimates_section(plan),
                   pages::graph_section(plan, estimates_of(plan), "as the plan estimates it"),
                   pages::memory_section(plan),
                   pages::layouts_section(plan),
                   reasons_section(plan)};
  if (about.why) page.sections.push_back(considered_section(plan));
  return html(page);
}

}  // namespace morton::cli
