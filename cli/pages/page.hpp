// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/output.hpp"
#include "pages/drawing.hpp"

namespace morton::cli::pages {

/// Sentences in plain English. What stands between backticks is shown as code.
struct Paragraph {
  std::string text{};
  std::string lead{};  ///< a word in bold before it: "Question"
};

/// Lines below each other, under a word in bold.
struct LineList {
  std::string lead{};
  std::vector<std::string> lines{};
};

/// A table; a click on a heading sorts by its column. Columns that align right sort as numbers,
/// with their units: "1.5 MiB" comes after "900 B".
struct PageTable {
  std::string caption{};
  Table table;
};

/// A picture with what people read of it: the caption says what to look for, the alternative what
/// it shows to those who do not see it.
struct Figure {
  std::string title{};
  Drawing drawing{};
  std::string caption{}, alternative{};
};

/// Long text as it is, folded away under its heading.
struct FoldedText {
  std::string heading{}, text{};
};

using Block = std::variant<Paragraph, LineList, PageTable, Figure, FoldedText>;

struct Section {
  std::string heading{};
  std::vector<Block> blocks{};
};

/// A report for a browser.
struct Page {
  std::string title{};
  std::string command{};                                     ///< the line that made it
  std::vector<std::pair<std::string, std::string>> facts{};  ///< of the device, the model, the run
  std::vector<Section> sections{};
};

/// One file that needs no other: styles, script and pictures are in it, and it may load nothing. It
/// is light or dark as the reader's system is. All texts are shown as texts, whoever wrote them.
[[nodiscard]] std::string html(const Page& page);

}  // namespace morton::cli::pages
