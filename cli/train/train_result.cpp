// SPDX-License-Identifier: Apache-2.0
#include "train/train_result.hpp"

#include <fmt/format.h>

#include "common/data_options.hpp"
#include "common/json_values.hpp"
#include "train/train_text.hpp"

namespace morton::cli {
namespace {

std::string end_text(TrainingReport::End end) {
  switch (end) {
    case TrainingReport::End::finished:
      return "finished";
    case TrainingReport::End::patience:
      return "out of patience";
    case TrainingReport::End::stopped:
      break;
  }
  return "stopped";
}

Json json_of(const TrainResult& result) {
  const TrainingReport& report = result.report;
  return {{"end", end_text(report.end)},
          {"steps", report.steps},
          {"resumed_from", report.resumed_from},
          {"left_over", report.left_over},
          {"overflows", report.overflows},
          {"loss", or_null(report.loss)},
          {"accuracy", or_null(report.accuracy)},
          {"validation_loss", or_null(report.validation_loss)},
          {"validation_accuracy", or_null(report.validation_accuracy)},
          {"best_step", report.best_step},
          {"best_validation_loss", or_null(report.best_validation_loss)},
          {"best_validation_accuracy", or_null(report.best_validation_accuracy)},
          {"seconds", report.seconds},
          {"images_per_second", report.images_per_second},
          {"builds_after_first_step", report.builds_after_first_step},
          {"test_loss", result.test ? Json(result.test->loss) : Json(nullptr)},
          {"test_accuracy", or_null(result.test_accuracy())},
          {"model", result.model_path},
          {"labels", result.labels_path.empty() ? Json(nullptr) : Json(result.labels_path)}};
}

}  // namespace

std::optional<double> TrainResult::test_accuracy() const {
  if (!test || test->right < 0) return std::nullopt;
  return static_cast<double>(test->right) / static_cast<double>(test->rows);
}

std::string write_labels(const Dataset& data, const Model& model, const std::string& path) {
  const Shape shape = model.outputs().front().shape;
  const std::int64_t classes = shape.size() == 2 ? shape[1] : data.classes;
  if (data.class_names.empty() || classes < data.classes || classes < 2) return {};
  std::string text;
  for (std::int64_t c = 0; c < classes; ++c) text += class_name(data, c) + "\n";
  emit(text, path);
  return path;
}

Table table_of(const TrainResult& result) {
  const TrainingReport& report = result.report;
  Table table;
  table.columns = {{"training"}, {end_text(report.end), Table::Align::right}};
  const auto add = [&](const char* name, std::string value) {
    table.rows.push_back({name, std::move(value)});
  };
  add("steps", std::to_string(report.steps));
  if (report.overflows > 0) add("updates left out", std::to_string(report.overflows));
  if (report.loss) add("loss, last epoch", loss_text(*report.loss));
  if (report.accuracy) add("accuracy, last epoch", percent_text(report.accuracy));
  if (report.validation_loss) add("validation loss", loss_text(*report.validation_loss));
  if (report.validation_accuracy) {
    add("validation accuracy", percent_text(report.validation_accuracy));
  }
  if (result.test) add("test loss", loss_text(result.test->loss));
  if (result.test_accuracy()) add("test accuracy", percent_text(result.test_accuracy()));
  add("time", duration_text(report.seconds));
  if (report.images_per_second > 0.0)
    add("images a second", fmt::format("{:.0f}", report.images_per_second));
  add("program builds after the first step", std::to_string(report.builds_after_first_step));
  add("model", result.model_path);
  if (!result.labels_path.empty()) add("names of its classes", result.labels_path);
  return table;
}

std::string text_of(const TrainResult& result, Format format) {
  return for_people(format) ? to_text(table_of(result), format) : to_text(json_of(result), format);
}

}  // namespace morton::cli
