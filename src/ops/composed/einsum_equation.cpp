// SPDX-License-Identifier: Apache-2.0
#include "ops/composed/einsum_equation.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace morton::ops {
namespace {

/// The first label of an ellipsis's dimensions, of which the last has the greatest.
constexpr char kEllipsisLabels = '0';
constexpr std::string_view kEllipsis = "...";

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// A term as it is written, without blanks: its letters, and an ellipsis as one '.'.
std::string checked_term(const NodeView& node, std::string_view text) {
  std::string labels;
  for (std::size_t c = 0; c < text.size(); ++c) {
    if (text.substr(c, kEllipsis.size()) == kEllipsis && labels.find('.') == std::string::npos) {
      labels += '.';
      c += kEllipsis.size() - 1;
    } else if (is_letter(text[c])) {
      labels += text[c];
    } else {
      node.fail("its equation has the term '" + std::string(text) +
                "'; expected letters and one ellipsis");
    }
  }
  return labels;
}

struct WrittenEquation {
  std::vector<std::string> terms;
  std::string result;
  bool has_result = false;
};

WrittenEquation written_equation(const NodeView& node) {
  std::string text = node.text("equation", "");
  std::erase(text, ' ');
  if (text.empty()) node.fail("the attribute 'equation' is missing");
  WrittenEquation written;
  const std::size_t arrow = text.find("->");
  written.has_result = arrow != std::string::npos;
  if (written.has_result)
    written.result = checked_term(node, std::string_view(text).substr(arrow + 2));
  const std::string terms = text.substr(0, arrow);
  for (std::size_t start = 0; start <= terms.size();) {
    const std::size_t end = std::min(terms.find(',', start), terms.size());
    written.terms.push_back(checked_term(node, std::string_view(terms).substr(start, end - start)));
    start = end + 1;
  }
  if (written.terms.size() != node.input_count()) {
    node.fail("its equation has " + std::to_string(written.terms.size()) + " terms for " +
              std::to_string(node.input_count()) + " inputs");
  }
  return written;
}

/// The dimensions that the ellipsis of term `t` stands for.
std::size_t dimensions_left(const NodeView& node, const std::string& term, std::size_t t) {
  const std::size_t rank = node.input(t).shape.size();
  const bool has_ellipsis = term.find('.') != std::string::npos;
  const std::size_t letters = term.size() - (has_ellipsis ? 1 : 0);
  if (has_ellipsis ? letters > rank : letters != rank) {
    node.fail("input " + std::to_string(t) + " of " + to_string(node.input(t).shape) + " has " +
              std::to_string(rank) + " dimensions, its term " + std::to_string(letters) +
              " letters");
  }
  return rank - letters;
}

/// Labels of the last `count` of `all` dimensions that an ellipsis may stand for.
std::string ellipsis_labels(std::size_t all, std::size_t count) {
  std::string labels;
  for (std::size_t d = all - count; d < all; ++d) {
    labels += static_cast<char>(kEllipsisLabels + static_cast<char>(d));
  }
  return labels;
}

std::string with_ellipsis(std::string term, const std::string& labels) {
  const std::size_t place = term.find('.');
  if (place != std::string::npos) term.replace(place, 1, labels);
  return term;
}

/// Without a result: the ellipsis, then the letters that stand once, in the alphabet's order.
std::string implied_result(const std::vector<std::string>& terms) {
  std::map<char, int> counts;
  for (const std::string& term : terms) {
    for (const char label : term) ++counts[label];
  }
  std::string result = counts.contains('.') ? "." : "";
  for (const auto& [label, count] : counts) {
    if (label != '.' && count == 1) result += label;
  }
  return result;
}

void check_extents(const NodeView& node, const EinsumEquation& equation) {
  std::map<char, std::int64_t> extents;
  for (std::size_t t = 0; t < equation.terms.size(); ++t) {
    std::map<char, std::int64_t> own;
    for (std::size_t d = 0; d < equation.terms[t].size(); ++d) {
      const char label = equation.terms[t][d];
      const std::int64_t extent = node.input(t).shape[d];
      const bool is_new = own.emplace(label, extent).second;
      std::int64_t& known = extents.emplace(label, extent).first->second;
      if ((is_new || own[label] == extent) && (known == extent || known == 1 || extent == 1)) {
        known = std::max(known, extent);
        continue;
      }
      node.fail("its equation gives one label to extents " + std::to_string(known) + " and " +
                std::to_string(extent));
    }
  }
  for (const char label : equation.result) {
    if (extents.contains(label) && std::ranges::count(equation.result, label) == 1) continue;
    node.fail("its equation has the result label '" + std::string(1, label) +
              "', which must stand once there and in a term");
  }
  if (equation.result.size() > kMaxRank) node.unsupported("more than 8 dimensions");
}

}  // namespace

EinsumEquation einsum_equation(const NodeView& node) {
  WrittenEquation written = written_equation(node);
  if (!written.has_result) written.result = implied_result(written.terms);
  std::vector<std::size_t> left;
  for (std::size_t t = 0; t < written.terms.size(); ++t) {
    left.push_back(dimensions_left(node, written.terms[t], t));
    if (node.input(t).dtype != node.input(0).dtype) node.fail("its inputs differ in type");
  }
  const std::size_t most = *std::ranges::max_element(left);
  EinsumEquation equation;
  for (std::size_t t = 0; t < written.terms.size(); ++t) {
    equation.terms.push_back(with_ellipsis(written.terms[t], ellipsis_labels(most, left[t])));
  }
  equation.result = with_ellipsis(written.result, ellipsis_labels(most, most));
  check_extents(node, equation);
  return equation;
}

}  // namespace morton::ops
