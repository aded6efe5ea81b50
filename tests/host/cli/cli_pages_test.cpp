// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "pages/charts.hpp"
#include "pages/page.hpp"
#include "pages/text.hpp"

namespace morton::cli::pages {
namespace {

using testing::HasSubstr;
using testing::Not;

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

/// Every tag that opens closes, in order; returns the first that does not.
std::string unbalanced(const std::string& markup) {
  static const std::regex tag("<(/?)([a-zA-Z0-9]+)([^>]*?)(/?)>");
  std::vector<std::string> open;
  for (std::sregex_iterator it(markup.begin(), markup.end(), tag), end; it != end; ++it) {
    const std::string name = (*it)[2];
    if (name == "meta" || !(*it)[4].str().empty()) continue;
    if ((*it)[1].str().empty()) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return name;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

TEST(CliPages, TextsAreNeverMarkup) {
  EXPECT_EQ(escaped("a<b>&\"c'"), "a&lt;b&gt;&amp;&quot;c&#39;");
  EXPECT_EQ(escaped("größe\n\t"), "größe\n\t");
  EXPECT_EQ(escaped(std::string("a\x00z", 3)), "a\uFFFDz");
  EXPECT_EQ(escaped("\x1b[1m"), "\uFFFD[1m");
  EXPECT_EQ(escaped("\xff|\xc3|\xc0\xaf|\xed\xa0\x80|"),
            "\uFFFD|\uFFFD|\uFFFD\uFFFD|\uFFFD\uFFFD\uFFFD|");
  EXPECT_EQ(escaped("\xf0\x9f\x98\x80"), "\U0001F600");
}

TEST(CliPages, LongNamesAreShortened) {
  EXPECT_EQ(shortened("conv1", 5), "conv1");
  EXPECT_EQ(shortened("conv1+bias", 5), "conv…");
  EXPECT_EQ(shortened("äöüäöü", 3), "äö…");
}

TEST(CliPages, NumbersAtAxesAreShort) {
  EXPECT_EQ(tick_text(0.0), "0");
  EXPECT_EQ(tick_text(0.001), "0.001");
  EXPECT_EQ(tick_text(12.5), "12.5");
  EXPECT_EQ(tick_text(1500.0), "1500");
  EXPECT_EQ(tick_text(20000.0), "20k");
  EXPECT_EQ(tick_text(3.5e6), "3.5M");
  EXPECT_EQ(tick_text(1e-7), "1e-07");
  EXPECT_EQ(tick_text(std::nan("")), "n/a");
}

TEST(CliPages, TicksAreRoundAndInside) {
  for (const double high : {0.003, 1.0, 17.0, 63.0, 1234.5, 9.9e8}) {
    for (const auto scale : {Axis::Scale::linear, Axis::Scale::log}) {
      const AxisMap map({"x", scale}, {high / 700.0, high}, 100.0, 500.0);
      const auto ticks = map.ticks(6);
      EXPECT_GE(ticks.size(), 2u) << high;
      EXPECT_LE(ticks.size(), 9u) << high;
      for (const AxisMap::Tick& tick : ticks) {
        EXPECT_GE(tick.place, 100.0 - 1e-6);
        EXPECT_LE(tick.place, 500.0 + 1e-6);
      }
    }
  }
}

TEST(CliPages, OneValueHasAnAxisOfItsSize) {
  EXPECT_DOUBLE_EQ(AxisMap({"rate"}, {0.001, 0.001}, 0.0, 1.0).low(), 0.0);
  EXPECT_LT(AxisMap({"rate"}, {0.001, 0.001}, 0.0, 1.0).high(), 0.002);
  EXPECT_DOUBLE_EQ(AxisMap({"zero"}, {0.0}, 0.0, 1.0).low(), 0.0);
  EXPECT_GT(AxisMap({"zero"}, {0.0}, 0.0, 1.0).high(), 0.5);
  EXPECT_LT(AxisMap({"below"}, {-3.0}, 0.0, 1.0).low(), -2.9);
}

TEST(CliPages, BytesHavePowersOfTwo) {
  Axis axis{"memory", Axis::Scale::log, Axis::Unit::bytes};
  const AxisMap map(axis, {1024.0, 1048576.0}, 0.0, 1.0);
  std::vector<std::string> texts;
  for (const AxisMap::Tick& tick : map.ticks(12)) texts.push_back(tick.text);
  EXPECT_THAT(texts, testing::Contains("1.0 KiB"));
  EXPECT_THAT(texts, testing::Contains("1.0 MiB"));
}

TEST(CliPages, BarsAreMarks) {
  BarChart chart;
  chart.axis = {"time, us"};
  chart.series = {"device", "host"};
  chart.bars = {{"<conv>", {3.0, 1.0}, "4 us"}, {"pool", {0.5, std::nan("")}, ""}};
  const std::string svg = draw(chart).elements;
  EXPECT_EQ(count_of(svg, "class=\"mark"), 3);
  EXPECT_THAT(svg, HasSubstr("&lt;conv&gt;, device: 3 (time, us)"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  chart.mode = BarChart::Mode::grouped;
  EXPECT_THAT(draw(chart).elements, HasSubstr(">n/a<"));
}

TEST(CliPages, PointsWithoutAPlaceAreCounted) {
  LineChart chart;
  chart.x = {"size", Axis::Scale::log};
  chart.y = {"GFLOP/s"};
  chart.series = {
      {"tile", {{1.0, 2.0}, {4.0, std::nan("")}, {0.0, 3.0}, {16.0, 8.0}, {64.0, 9.0}}}};
  const std::string svg = draw(chart).elements;
  EXPECT_THAT(svg, HasSubstr("2 points have no place here"));
  EXPECT_EQ(count_of(svg, "<polyline"), 1);  // of the last two; the first is a point alone
  EXPECT_EQ(count_of(svg, "class=\"mark f"), 3);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(CliPages, RoofsMeetAtTheRidge) {
  Roofline roofline;
  roofline.arithmetic = {{"f32", 100.0}};
  roofline.memory = {{"memory", 10.0}};
  roofline.kernels = {{"kernels", {{2.0, 15.0, "gemm", "0"}}, LineChart::Style::points}};
  const std::string svg = draw(roofline).elements;
  static const std::regex points("points=\"([^ ]+) ([^ ]+) \"");
  std::vector<std::string> ends;
  for (std::sregex_iterator it(svg.begin(), svg.end(), points), end; it != end; ++it) {
    ends.push_back((*it)[1]);
    ends.push_back((*it)[2]);
  }
  ASSERT_EQ(ends.size(), 4u);
  EXPECT_EQ(ends[0], ends[3]);  // the roof begins where the slope ends
}

TEST(CliPages, EveryChartDrawsWhatItIsGiven) {
  EXPECT_EQ(
      count_of(draw(Timeline{{"us"}, {{"host", {{"a", 0.0, 1.0}, {"b", 1.0, 5.0}}}}}).elements,
               "class=\"mark"),
      2);
  EXPECT_EQ(
      count_of(draw(HeatMap{"class", "answer", {"0", "1"}, {"0", "1"}, {{9, 1}, {0, 7}}}).elements,
               "class=\"mark"),
      3);
  EXPECT_EQ(
      count_of(
          draw(MemoryMap{3, 4096, {}, {{"x", 0, 1, 0, 1024}, {"y", 1, 2, 1024, 512}}}).elements,
          "class=\"mark"),
      2);
  const StepGraph graph{{{"a", "gemm", 0.5, "1 us"}, {"b", "", 1.0, ""}, {"c", "", 0.0, ""}},
                        {{0, 1, "t"}, {0, 2, "t"}, {1, 2, "u"}}};
  EXPECT_EQ(count_of(draw(graph).elements, "class=\"mark"), 3);
  EXPECT_EQ(count_of(draw(graph).elements, "class=\"edge\""), 3);
}

TEST(CliPages, EmptyChartsAreDrawnToo) {
  for (const Drawing& drawing :
       {draw(BarChart{}), draw(LineChart{}), draw(Roofline{}), draw(Timeline{}), draw(HeatMap{}),
        draw(MemoryMap{}), draw(StepGraph{})}) {
    EXPECT_EQ(unbalanced(drawing.elements), "");
    EXPECT_THAT(drawing.elements, Not(HasSubstr("nan")));
  }
}

TEST(CliPages, APageNeedsNothingElse) {
  Page page{
      "Profile of <script>alert(1)</script>", "morton profile 'a&b'", {{"device", "\"gpu\""}}, {}};
  Table table;
  table.columns = {{"step"}, {"time, us", Table::Align::right}};
  table.rows = {{"</td>", "1.5"}, {"b", "n/a"}};
  BarChart chart;
  chart.bars = {{"one", {1.0}, ""}};
  page.sections = {
      {"A & B",
       {Paragraph{"1 < 2"}, PageTable{"steps", table},
        Figure{"Bars", draw(chart), "See.", "One bar of 1."}, FoldedText{"more", "a\n  b"}}},
      {"C", {}},
      {"D", {}}};
  const std::string text = html(page);
  const std::size_t begin = text.find("<header>");
  const std::string body = text.substr(begin, text.find("<script>\n") - begin);
  EXPECT_EQ(unbalanced(body), "");
  EXPECT_EQ(count_of(text, "<script"), 1);
  EXPECT_THAT(text, HasSubstr("<th scope=\"col\" class=\"n\">time, us</th>"));
  EXPECT_THAT(text, HasSubstr("<th scope=\"row\">&lt;/td&gt;</th>"));
  EXPECT_THAT(text, HasSubstr("aria-label=\"Bars. One bar of 1.\""));
  EXPECT_THAT(text, HasSubstr("<desc>One bar of 1.</desc>"));
  EXPECT_THAT(text, HasSubstr("<a href=\"#s0\">A &amp; B</a>"));
  EXPECT_THAT(text, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_EQ(count_of(text, "://"), count_of(text, "xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_THAT(text, Not(HasSubstr("src=")));
}

}  // namespace
}  // namespace morton::cli::pages
