// SPDX-License-Identifier: Apache-2.0
#include "pages/page.hpp"

#include <fmt/format.h>

#include "morton/version.hpp"
#include "pages/assets.hpp"
#include "pages/text.hpp"

namespace morton::cli::pages {
namespace {

/// Nothing comes from outside, and nothing goes there.
constexpr const char* kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'";

/// Escaped, and what stands between backticks as code.
std::string marked(std::string_view text) {
  std::string out;
  bool is_code = false;
  for (std::size_t tick = text.find('`');; tick = text.find('`')) {
    // The last one of an odd number is a backtick.
    const bool is_pair = tick != std::string_view::npos &&
                         (is_code || text.find('`', tick + 1) != std::string_view::npos);
    if (!is_pair) return out + escaped(text);
    out += escaped(text.substr(0, tick)) + (is_code ? "</code>" : "<code>");
    is_code = !is_code;
    text.remove_prefix(tick + 1);
  }
}

std::string lead_of(const std::string& lead) {
  return lead.empty() ? "" : fmt::format("<strong>{}.</strong> ", escaped(lead));
}

std::string html_of(const Paragraph& paragraph) {
  return fmt::format("<p>{}{}</p>\n", lead_of(paragraph.lead), marked(paragraph.text));
}

std::string html_of(const LineList& list) {
  std::string text = fmt::format("<p>{}</p>\n<ul>\n", lead_of(list.lead));
  for (const std::string& line : list.lines) text += fmt::format("<li>{}</li>\n", marked(line));
  return text + "</ul>\n";
}

std::string html_of(const PageTable& table) {
  std::string text = "<div class=\"scroll\" tabindex=\"0\"><table class=\"sort\">\n";
  if (!table.caption.empty())
    text += fmt::format("<caption>{}</caption>\n", escaped(table.caption));
  text += "<thead><tr>";
  const auto& columns = table.table.columns;
  const auto class_of = [&](std::size_t c) {
    return columns[c].align == Table::Align::right ? " class=\"n\"" : "";
  };
  for (std::size_t c = 0; c < columns.size(); ++c) {
    text += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(c), escaped(columns[c].name));
  }
  text += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.table.rows) {
    text += "<tr>";
    for (std::size_t c = 0; c < row.size(); ++c) {
      const bool heads = c == 0;
      text += fmt::format("<{0}{1}{2}>{3}</{0}>", heads ? "th" : "td",
                          heads ? " scope=\"row\"" : "", class_of(c), escaped(row[c]));
    }
    text += "</tr>\n";
  }
  return text + "</tbody></table></div>\n";
}

std::string html_of(const Figure& figure) {
  return fmt::format(
      "<figure><h3>{}</h3>\n<div class=\"scroll chart\" tabindex=\"0\">{}</div>\n"
      "<figcaption>{}</figcaption></figure>\n",
      escaped(figure.title), svg_of(figure.drawing, figure.title, figure.alternative),
      escaped(figure.caption));
}

std::string html_of(const FoldedText& folded) {
  return fmt::format("<details><summary>{}</summary><pre tabindex=\"0\">{}</pre></details>\n",
                     escaped(folded.heading), escaped(folded.text));
}

std::string facts_of(const Page& page) {
  std::string text = "<dl>\n";
  for (const auto& [name, value] : page.facts) {
    text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), escaped(value));
  }
  return text + "</dl>\n";
}

std::string contents_of(const Page& page) {
  if (page.sections.size() < 3) return "";
  std::string text = "<nav aria-label=\"Sections\"><ul>\n";
  for (std::size_t s = 0; s < page.sections.size(); ++s) {
    text += fmt::format("<li><a href=\"#s{}\">{}</a></li>\n", s, escaped(page.sections[s].heading));
  }
  return text + "</ul></nav>\n";
}

}  // namespace

std::string html(const Page& page) {
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<header>\n<h1>{}</h1>\n",
      kPolicy, escaped(page.title), style_sheet(), escaped(page.title));
  if (!page.command.empty()) {
    text += fmt::format("<p class=\"made\">Made by <code>{}</code></p>\n", escaped(page.command));
  }
  if (!page.facts.empty()) text += facts_of(page);
  text += contents_of(page) + "</header>\n<main>\n";
  for (std::size_t s = 0; s < page.sections.size(); ++s) {
    text +=
        fmt::format("<section id=\"s{}\">\n<h2>{}</h2>\n", s, escaped(page.sections[s].heading));
    for (const Block& block : page.sections[s].blocks) {
      text += std::visit([](const auto& of) { return html_of(of); }, block);
    }
    text += "</section>\n";
  }
  return text + fmt::format(
                    "</main>\n<footer>Morton {} wrote this page. It needs no network.</footer>\n"
                    "<script>\n{}</script>\n</body>\n</html>\n",
                    MORTON_VERSION, script());
}

}  // namespace morton::cli::pages
