// SPDX-License-Identifier: Apache-2.0
#include "tools/tuning/trial.hpp"

#include <nlohmann/json.hpp>

#include "plan/measured/tuned_file.hpp"

namespace morton::tools {
namespace {

std::vector<double> reals_from(const JsonReader& reader) {
  std::vector<double> values;
  for (const auto& element : reader.elements()) values.push_back(element.real());
  return values;
}

}  // namespace

Json to_json(const TrialRequest& request) {
  Json json = {
      {"problem", to_json(request.problem)}, {"kernel", request.kernel},
      {"tunables", Json(request.tunables)},  {"samples", request.samples},
      {"sample_ms", request.sample_ms},      {"peak", request.peak == TrialRequest::Peak::sampled}};
  if (request.against) json["against"] = Json(*request.against);
  return json;
}

TrialRequest trial_request_from(const JsonReader& reader) {
  reader.allow_keys({"problem", "kernel", "tunables", "samples", "sample_ms", "peak", "against"});
  TrialRequest request;
  request.problem = tuned_problem_from(reader.at("problem"));
  request.kernel = reader.at("kernel").text();
  request.tunables = environment_from(reader.at("tunables"));
  request.samples = static_cast<int>(reader.at("samples").integer());
  request.sample_ms = reader.at("sample_ms").real();
  if (reader.at("peak").boolean()) request.peak = TrialRequest::Peak::sampled;
  if (reader.has("against")) request.against = environment_from(reader.at("against"));
  return request;
}

Json to_json(const TrialOutcome& outcome) {
  switch (outcome.kind) {
    case TrialOutcome::Kind::impossible:
      return {{"impossible", outcome.why}};
    case TrialOutcome::Kind::refused:
      return {{"refused", outcome.why}};
    case TrialOutcome::Kind::measured:
      break;
  }
  return {
      {"ms", outcome.ms}, {"against_ms", outcome.against_ms}, {"peak_gflops", outcome.peak_gflops}};
}

TrialOutcome trial_outcome_from(const JsonReader& reader) {
  TrialOutcome outcome;
  for (const auto& [key, kind] : {std::pair{"impossible", TrialOutcome::Kind::impossible},
                                  std::pair{"refused", TrialOutcome::Kind::refused}}) {
    if (!reader.has(key)) continue;
    outcome.kind = kind;
    outcome.why = reader.at(key).text();
    return outcome;
  }
  outcome.ms = reals_from(reader.at("ms"));
  outcome.against_ms = reals_from(reader.at("against_ms"));
  outcome.peak_gflops = reals_from(reader.at("peak_gflops"));
  if (outcome.ms.empty()) reader.at("ms").fail("expected at least one sample");
  return outcome;
}

}  // namespace morton::tools
