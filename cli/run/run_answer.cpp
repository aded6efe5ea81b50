// SPDX-License-Identifier: Apache-2.0
#include "run/run_answer.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/log.hpp"
#include "morton/error.hpp"
#include "morton/files.hpp"

namespace morton::cli {
namespace {

Json legend_json(const Table& legend) {
  Json rows = Json::array();
  for (const std::vector<std::string>& row : legend.rows) {
    Json& object = rows.emplace_back(Json::object());
    for (std::size_t i = 0; i < row.size(); ++i) object[legend.columns[i].name] = row[i];
  }
  return rows;
}

}  // namespace

void check_output(const RunArguments& options) {
  const std::string& path = options.output;
  if (options.picture.is_given && !path.ends_with(".png")) {
    throw UsageError(
        "--picture, --picture-of, --picture-range, --box-order, --min-score and --overlay are for "
        "-o FILE.png");
  }
  const std::vector<double>& range = options.picture.range;
  if (!range.empty() && !(range[0] < range[1]) && !(range[0] > range[1])) {
    throw UsageError("--picture-range: black and white must differ");
  }
  if (path.empty() || path.ends_with(".npy") || path.ends_with(".npz") || path.ends_with(".png")) {
    return;
  }
  throw UsageError(fmt::format(
      "--output {}: tensors are written to .npy and .npz files, pictures to .png", path));
}

void emit_answer(const RunArguments& options, const Ranking& ranking, const Device& device,
                 const Json& facts, const std::vector<NamedTensor>& outputs,
                 const std::optional<Photograph>& photograph) {
  DrawnPicture drawn;
  const bool draws = options.output.ends_with(".png");
  if (draws) {
    drawn = draw(options.picture, outputs, photograph, ranking.labels);
    log::info("{}", drawn.reading);
    write_picture(options.output, drawn.picture);
  } else if (!options.output.empty()) {
    write_tensors(options.output, outputs);
  }
  if (!options.output.empty()) log::info("wrote {}", options.output);
  if (for_people(options.format)) {
    std::string text = outputs_text(outputs, ranking, options.format);
    if (!drawn.legend.rows.empty()) text += "\n" + to_text(drawn.legend, options.format);
    return emit(text, "");
  }
  Json value = {{"device", Json::parse(device.json())}};
  value.update(facts);
  value["outputs"] = outputs_json(outputs, ranking);
  if (draws) {
    value["picture"] = {{"file", options.output},
                        {"reading", drawn.reading},
                        {"legend", legend_json(drawn.legend)}};
  }
  emit(to_text(value, options.format), "");
}

}  // namespace morton::cli
