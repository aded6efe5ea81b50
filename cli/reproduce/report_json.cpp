// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "bench/published.hpp"
#include "common/json_values.hpp"
#include "reproduce/report.hpp"

namespace morton::cli {
namespace {

const char* origin_name(Origin origin) {
  switch (origin) {
    case Origin::published:
      return "published";
    case Origin::derived:
      return "derived";
    case Origin::not_available:
      return "not available";
    case Origin::none:
      break;
  }
  return "none";
}

Json figure_record(const Finding& finding, std::size_t row, std::size_t index) {
  const Column& column = finding.experiment->columns[index];
  const Figure& figure = finding.figures[row][index];
  Json json{{"row", finding.experiment->rows[row]},
            {"column", column.name},
            {"unit", column.unit},
            {"ours", nullptr},
            {"spread", nullptr},
            {"mark", ""},
            {"repetitions", nullptr},
            {"published", or_null(finding.published(row, index))},
            {"published_spread", nullptr},
            {"origin", origin_name(column.origin)},
            {"command", figure.command},
            {"why", figure.why}};
  if (figure.ours) {
    json["ours"] = figure.ours->value;
    if (figure.ours->spread > 0.0) json["spread"] = figure.ours->spread;
    json["mark"] = figure.ours->mark;
    if (figure.ours->repetitions > 0) json["repetitions"] = figure.ours->repetitions;
  }
  if (row < column.spreads.size() && column.spreads[row] != kNotPublished) {
    json["published_spread"] = column.spreads[row];
  }
  return json;
}

Json experiment_record(const Experiment& experiment) {
  return {{"source", experiment.source},     {"id", experiment.id},
          {"where", experiment.where},       {"title", experiment.title},
          {"question", experiment.question}, {"method", experiment.method}};
}

Json finding_record(const Finding& finding) {
  const Experiment& experiment = *finding.experiment;
  Json json = experiment_record(experiment);
  json["published"] = experiment.published;
  json["row_heading"] = experiment.row_heading;
  Json figures = Json::array();
  for (std::size_t row = 0; row < experiment.rows.size(); ++row) {
    for (std::size_t column = 0; column < experiment.columns.size(); ++column) {
      figures.push_back(figure_record(finding, row, column));
    }
  }
  json["figures"] = figures;
  json["answer"] = answer_of(finding);
  json["commands"] = finding.commands;
  json["cut"] = finding.cuts;
  json["left_out"] = finding.left_out;
  json["failed"] = finding.failures;
  json["notes"] = experiment.notes;
  json["seconds"] = finding.seconds;
  return json;
}

}  // namespace

Json to_json(const ReportHead& head, const std::vector<Finding>& findings) {
  Json experiments = Json::array();
  for (const Finding& finding : findings) experiments.push_back(finding_record(finding));
  return {{"version", head.version},
          {"device", head.device},
          {"date", head.date},
          {"quick", head.scale == Scale::quick},
          {"budget_seconds", head.budget_s},
          {"seconds", head.seconds},
          {"shortage", head.shortage},
          {"experiments", experiments}};
}

std::string program_text_of(const ReportHead& head, const std::vector<Finding>& findings,
                            Format format) {
  const Json all = to_json(head, findings);
  if (format == Format::json) return to_text(all, format);
  if (format == Format::jsonl) return to_text(all["experiments"], format);
  Json figures = Json::array();
  for (const Json& experiment : all["experiments"]) {
    for (const Json& figure : experiment["figures"]) {
      Json record{{"source", experiment["source"]}, {"id", experiment["id"]}};
      record.update(figure);
      figures.push_back(std::move(record));
    }
  }
  return to_text(figures, format);
}

std::string list_of(const std::vector<Experiment>& experiments, Format format) {
  if (!for_people(format)) {
    Json list = Json::array();
    for (const Experiment& experiment : experiments) list.push_back(experiment_record(experiment));
    return to_text(list, format);
  }
  Table table;
  table.columns = {{"source"}, {"table"}, {"question"}};
  for (const Experiment& experiment : experiments) {
    table.rows.push_back({experiment.source, experiment.id, experiment.question});
  }
  return to_text(table, format);
}

}  // namespace morton::cli
