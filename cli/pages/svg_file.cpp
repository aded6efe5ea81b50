// SPDX-License-Identifier: Apache-2.0
#include "pages/svg_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pages/assets.hpp"
#include "pages/text.hpp"

namespace morton::cli::pages {
namespace {

constexpr double kMargin = 16.0, kTitleLine = 24.0, kCaptionLine = 20.0, kBetween = 16.0;

}  // namespace

std::string svg_file(const std::vector<Figure>& figures) {
  double width = 0.0, y = kMargin;
  std::string body, titles;
  for (const Figure& figure : figures) {
    width = std::max(width, figure.drawing.width);
    body += fmt::format("<text x=\"{}\" y=\"{:.0f}\" font-weight=\"bold\">{}</text>\n", kMargin,
                        y + kTitleLine / 2.0, escaped(figure.title));
    y += kTitleLine;
    body += fmt::format("<g transform=\"translate({}, {:.0f})\"><title>{}</title>\n{}</g>\n",
                        kMargin, y, escaped(figure.alternative), figure.drawing.elements);
    y += figure.drawing.height + kCaptionLine;
    body += fmt::format("<text class=\"label\" x=\"{}\" y=\"{:.0f}\">{}</text>\n", kMargin, y,
                        escaped(figure.caption));
    y += kBetween;
    titles += (titles.empty() ? "" : "; ") + escaped(figure.title);
  }
  width += 2.0 * kMargin;
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" role=\"img\" style=\"font: 12px sans-serif\">\n<title>{2}</title>\n"
      "<style>{3}</style>\n<rect class=\"solid\" width=\"100%\" height=\"100%\"/>\n{4}</svg>\n",
      width, y, titles, style_sheet(), body);
}

}  // namespace morton::cli::pages
