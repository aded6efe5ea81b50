// SPDX-License-Identifier: Apache-2.0
#include "run/run_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "morton/error.hpp"

namespace morton::cli {
namespace {

struct Summary {
  double min = 0.0, max = 0.0, mean = 0.0;
};

Summary summary_of(const Tensor& tensor) {
  Summary summary;
  double sum = 0.0;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const double value = tensor.at(i);
    // NaN, once seen, stays.
    summary.min = i == 0 || !(value >= summary.min) ? value : summary.min;
    summary.max = i == 0 || !(value <= summary.max) ? value : summary.max;
    sum += value;
  }
  if (tensor.size() > 0) summary.mean = sum / static_cast<double>(tensor.size());
  return summary;
}

/// Whether each row of a two-dimensional tensor is a distribution; then its values are called
/// probabilities.
bool holds_probabilities(const Tensor& tensor) {
  const std::int64_t columns = tensor.shape()[1];
  for (std::int64_t row = 0; row < tensor.shape()[0]; ++row) {
    double sum = 0.0;
    for (std::int64_t column = 0; column < columns; ++column) {
      const double value = tensor.at(row * columns + column);
      if (!(value >= 0.0)) return false;
      sum += value;
    }
    if (!(std::abs(sum - 1.0) < 1e-2)) return false;
  }
  return true;
}

/// Columns of the `k` greatest values of a row, greatest first.
std::vector<std::int64_t> top_columns(const Tensor& tensor, std::int64_t row, std::int64_t k) {
  const std::int64_t columns = tensor.shape()[1];
  std::vector<std::int64_t> order(static_cast<std::size_t>(columns));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, std::ranges::greater(), [&](std::int64_t column) {
    const double value = tensor.at(row * columns + column);
    return std::isnan(value) ? -std::numeric_limits<double>::infinity() : value;
  });
  order.resize(static_cast<std::size_t>(std::min(k, columns)));
  return order;
}

/// An output of two dimensions as [batch, classes].
Tensor by_rows(const NamedTensor& output, const Ranking& ranking) {
  const Tensor& tensor = output.tensor;
  if (!ranking.by_columns.contains(output.name)) return tensor;
  const std::int64_t rows = tensor.shape()[0];
  const std::int64_t columns = tensor.shape()[1];
  Tensor turned = Tensor::allocate(tensor.dtype(), {columns, rows});
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    turned.set(i % columns * rows + i / columns, tensor.at(i));
  }
  return turned;
}

/// The names of an output's classes; empty: their numbers.
std::vector<std::string> labels_of(const NamedTensor& output, const Ranking& ranking) {
  const auto own = ranking.of_model.find(output.name);
  if (!ranking.labels.empty() || own == ranking.of_model.end()) return ranking.labels;
  return own->second;
}

std::string label_of(const std::vector<std::string>& labels, std::int64_t column) {
  const auto place = static_cast<std::size_t>(column);
  return place < labels.size() ? labels[place] : std::to_string(column);
}

Table top_table(const NamedTensor& output, const Ranking& ranking) {
  const Tensor tensor = by_rows(output, ranking);
  const std::vector<std::string> labels = labels_of(output, ranking);
  Table table;
  table.columns = {{"row", Table::Align::right},
                   {"rank", Table::Align::right},
                   {"class"},
                   {holds_probabilities(tensor) ? "probability" : "value", Table::Align::right}};
  for (std::int64_t row = 0; row < tensor.shape()[0]; ++row) {
    int rank = 0;
    for (const std::int64_t column : top_columns(tensor, row, ranking.top_k)) {
      const double value = tensor.at(row * tensor.shape()[1] + column);
      table.rows.push_back({std::to_string(row), std::to_string(++rank), label_of(labels, column),
                            fmt::format("{:.6f}", value)});
    }
  }
  return table;
}

Json top_json(const NamedTensor& output, const Ranking& ranking) {
  const Tensor tensor = by_rows(output, ranking);
  const std::vector<std::string> labels = labels_of(output, ranking);
  const std::string key = holds_probabilities(tensor) ? "probability" : "value";
  Json rows = Json::array();
  for (std::int64_t row = 0; row < tensor.shape()[0]; ++row) {
    Json list = Json::array();
    for (const std::int64_t column : top_columns(tensor, row, ranking.top_k)) {
      list.push_back({{"index", column},
                      {"label", label_of(labels, column)},
                      {key, tensor.at(row * tensor.shape()[1] + column)}});
    }
    rows.push_back(list);
  }
  return rows;
}

}  // namespace

bool is_ranked(const Ranking& ranking, const Shape& shape) {
  return ranking.top_k > 0 && shape.size() == 2 && shape[1] > 0;
}

void check_ranking(const std::string& labels_file, const Ranking& ranking,
                   const std::vector<PortInfo>& outputs) {
  if (ranking.top_k == 0) return;
  bool any = false;
  for (const PortInfo& output : outputs) {
    if (!is_ranked(ranking, output.shape)) continue;
    any = true;
    const std::int64_t classes = output.shape[ranking.by_columns.contains(output.name) ? 0 : 1];
    const auto labels = static_cast<std::int64_t>(ranking.labels.size());
    if (labels > 0 && labels != classes) {
      throw ModelError(fmt::format("{}: has {} labels, but output '{}' has {} classes", labels_file,
                                   labels, output.name, classes));
    }
  }
  if (!any) {
    throw UsageError(
        "--top-k and --labels need an output of two dimensions (batch and classes); this model has "
        "none");
  }
}

std::string outputs_text(const std::vector<NamedTensor>& outputs, const Ranking& ranking,
                         Format format) {
  std::string text;
  for (const NamedTensor& output : outputs) {
    const Summary summary = summary_of(output.tensor);
    text += fmt::format("{}  {}  {}  min {:.6g}  max {:.6g}  mean {:.6g}\n", output.name,
                        name_of(output.tensor.dtype()), shape_text(output.tensor.shape()),
                        summary.min, summary.max, summary.mean);
    const auto own = ranking.of_model.find(output.name);
    if (own != ranking.of_model.end()) text += fmt::format("  {}\n", labels_text(own->second));
    if (!is_ranked(ranking, output.tensor.shape())) continue;
    text += to_text(top_table(output, ranking), format);
  }
  return text;
}

Json outputs_json(const std::vector<NamedTensor>& outputs, const Ranking& ranking) {
  Json list = Json::array();
  for (const NamedTensor& output : outputs) {
    const Summary summary = summary_of(output.tensor);
    Json item = {{"name", output.name},
                 {"dtype", name_of(output.tensor.dtype())},
                 {"shape", output.tensor.shape()},
                 {"min", summary.min},
                 {"max", summary.max},
                 {"mean", summary.mean}};
    const auto own = ranking.of_model.find(output.name);
    if (own != ranking.of_model.end()) item["labels"] = own->second;
    if (is_ranked(ranking, output.tensor.shape())) {
      item["top"] = top_json(output, ranking);
    }
    list.push_back(item);
  }
  return list;
}

}  // namespace morton::cli
