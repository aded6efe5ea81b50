// SPDX-License-Identifier: Apache-2.0
#include "reproduce/readers.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace morton::cli {
namespace {

bool has_member(const Json& element, const std::string& key, const std::string& value) {
  const Json* member = find_at(element, key);
  if (member == nullptr) return false;
  return member->is_string() ? *member == value : member->dump() == value;
}

/// The first element for which all of "key=value&key=value" holds.
const Json* element_where(const Json& list, const std::string& conditions) {
  if (!list.is_array()) return nullptr;
  for (const Json& element : list) {
    bool all = true;
    for (std::size_t begin = 0; all && begin < conditions.size();) {
      const std::size_t end = std::min(conditions.find('&', begin), conditions.size());
      const std::string one = conditions.substr(begin, end - begin);
      const std::size_t equals = one.find('=');
      all = equals != std::string::npos &&
            has_member(element, one.substr(0, equals), one.substr(equals + 1));
      begin = end + 1;
    }
    if (all) return &element;
  }
  return nullptr;
}

const Json* step_down(const Json& json, const std::string& part) {
  if (part.find('=') != std::string::npos) return element_where(json, part);
  if (json.is_array()) {
    if (part.empty() || part.find_first_not_of("0123456789") != std::string::npos) return nullptr;
    const std::size_t index = std::stoul(part);
    return index < json.size() ? &json[index] : nullptr;
  }
  if (!json.is_object() || !json.contains(part)) return nullptr;
  return &json[part];
}

/// One of a contender's clocks: "" for the call, or "alone"; the call where there is no other.
const Json* clock_of(const Json& report, const std::string& contender, bool alone) {
  const Json* found = find_at(report, "contenders/name=" + contender);
  if (found == nullptr || !alone) return found;
  const Json* kernel = find_at(*found, "alone");
  return kernel != nullptr && kernel->is_object() ? kernel : found;
}

std::int64_t samples_of(const Json& report, const std::string& contender) {
  const Json* samples = find_at(report, "contenders/name=" + contender + "/samples");
  return samples != nullptr && samples->is_number() ? samples->get<std::int64_t>() : 0;
}

enum class Clock : std::uint8_t { call, alone };

/// Whether one of the nodes of a step's name ("C1+C1/tanh:pack") is `node`.
bool has_node(const std::string& step, const std::string& node) {
  for (std::size_t begin = 0; begin <= step.size();) {
    const std::size_t end = std::min(step.find('+', begin), step.size());
    std::string part = step.substr(begin, end - begin);
    part.resize(std::min(part.find_first_of(":/"), part.size()));
    if (part == node) return true;
    begin = end + 1;
  }
  return false;
}

/// The steps of a layer, with those that repack for it.
std::vector<const Json*> steps_of_layer(const Json& report, const std::string& node) {
  std::vector<const Json*> found, packs;
  const Json* steps = find_at(report, "steps");
  if (steps == nullptr) return found;
  for (const Json& step : *steps) {
    if (step.value("role", "") == "repack" && !has_node(step.value("name", ""), node)) {
      packs.push_back(&step);
      continue;
    }
    if (has_node(step.value("name", ""), node)) {
      found.insert(found.end(), packs.begin(), packs.end());
      found.push_back(&step);
    }
    packs.clear();
  }
  return found;
}

std::optional<Reading> sum_of_steps(const Json& report, const std::vector<const Json*>& steps,
                                    const std::string& clock, double scale) {
  if (steps.empty()) return std::nullopt;
  double sum = 0.0;
  for (const Json* step : steps) {
    if (!step->contains(clock) || !step->at(clock).is_number()) return std::nullopt;
    sum += step->at(clock).get<double>() / 1e3;
  }
  return Reading{sum * scale, 0.0, report.value("runs", std::int64_t{0})};
}

Reader contender_rate(const std::string& contender, Clock clock) {
  return [=](const Json& report) -> std::optional<Reading> {
    const Json* times = clock_of(report, contender, clock == Clock::alone);
    if (times == nullptr || !times->contains("gflops")) return std::nullopt;
    const double rate = times->at("gflops").get<double>();
    const double relative =
        times->at("iqr_ms").get<double>() / times->at("median_ms").get<double>();
    return Reading{rate, rate * relative, samples_of(report, contender)};
  };
}

Reader contender_time(const std::string& contender, double scale, Clock clock) {
  return [=](const Json& report) -> std::optional<Reading> {
    const Json* times = clock_of(report, contender, clock == Clock::alone);
    if (times == nullptr || !times->contains("median_ms")) return std::nullopt;
    return Reading{times->at("median_ms").get<double>() * scale,
                   times->at("iqr_ms").get<double>() * scale, samples_of(report, contender)};
  };
}

}  // namespace

const Json* find_at(const Json& json, const std::string& path) {
  const Json* here = &json;
  std::size_t begin = 0;
  while (here != nullptr && begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    here = step_down(*here, path.substr(begin, end - begin));
    begin = end + 1;
  }
  return here;
}

Reader number_at(const std::string& path, double scale) {
  return [=](const Json& report) -> std::optional<Reading> {
    const Json* found = find_at(report, path);
    if (found == nullptr || !found->is_number()) return std::nullopt;
    return Reading{found->get<double>() * scale};
  };
}

Reader rate_of(const std::string& contender) { return contender_rate(contender, Clock::alone); }

Reader call_rate_of(const std::string& contender) { return contender_rate(contender, Clock::call); }

Reader time_of(const std::string& contender, double scale) {
  return contender_time(contender, scale, Clock::alone);
}

Reader call_time_of(const std::string& contender, double scale) {
  return contender_time(contender, scale, Clock::call);
}

Reader host_mean() {
  return [](const Json& report) -> std::optional<Reading> {
    const Json* host = find_at(report, "clocks/host");
    if (host == nullptr || !host->contains("p50_ms")) return std::nullopt;
    return Reading{host->at("mean_ms").get<double>(), host->at("stddev_ms").get<double>(),
                   host->at("n").get<std::int64_t>()};
  };
}

Reader peak_at(const std::string& roofs) {
  return [=](const Json& report) -> std::optional<Reading> {
    std::optional<Reading> peak = number_at(roofs + "/gflops_f32")(report);
    const Json* source = find_at(report, roofs + "/source");
    const bool measured = source != nullptr && source->is_string() &&
                          source->get<std::string>().starts_with("measured");
    if (peak && !measured) peak->mark = "guess";
    return peak;
  };
}

Reader sum_at(const std::string& list, const std::string& kind, double scale) {
  return [=](const Json& report) -> std::optional<Reading> {
    std::optional<double> sum;
    const Json* all = find_at(report, list);
    if (all == nullptr) return std::nullopt;
    for (const Json& one : *all) {
      if (one.value("kind", "") == kind) sum = sum.value_or(0.0) + one.at("bytes").get<double>();
    }
    if (!sum) return std::nullopt;
    return Reading{*sum * scale};
  };
}

Reader nth_step_time(const std::string& prefix, std::size_t n) {
  return [=](const Json& report) -> std::optional<Reading> {
    std::vector<const Json*> chosen;
    if (const Json* steps = find_at(report, "steps")) {
      for (const Json& step : *steps) {
        if (step.value("kernel", "").starts_with(prefix)) chosen.push_back(&step);
      }
    }
    if (n >= chosen.size()) return std::nullopt;
    return sum_of_steps(report, {chosen[n]}, "device_us", 1.0);
  };
}

Reader profiled_layer(const std::string& node, const std::string& clock, double scale) {
  return [=](const Json& report) {
    return sum_of_steps(report, steps_of_layer(report, node), clock, scale);
  };
}

Reader profiled_layer_part(const std::string& node, const std::vector<std::string>& prefixes) {
  return [=](const Json& report) {
    std::vector<const Json*> chosen;
    for (const Json* step : steps_of_layer(report, node)) {
      const std::string kernel = step->value("kernel", "");
      if (std::ranges::any_of(
              prefixes, [&](const std::string& prefix) { return kernel.starts_with(prefix); })) {
        chosen.push_back(step);
      }
    }
    return sum_of_steps(report, chosen, "device_us", 1.0);
  };
}

Reader profiled_layer_routines(const std::string& node, const std::vector<std::string>& routines) {
  return [=](const Json& report) -> std::optional<Reading> {
    std::optional<double> sum;
    for (const Json* step : steps_of_layer(report, node)) {
      for (const std::string& routine : routines) {
        const Json* time = find_at(*step, "routines_us/" + routine);
        if (time != nullptr && time->is_number()) sum = sum.value_or(0.0) + time->get<double>();
      }
    }
    if (!sum) return std::nullopt;
    return Reading{*sum / 1e3, 0.0, report.value("runs", std::int64_t{0})};
  };
}

Reader accuracy_after(std::int64_t step) {
  return [=](const Json& report) -> std::optional<Reading> {
    const Json* line = find_at(report, "log/step=" + std::to_string(step));
    if (line == nullptr) return std::nullopt;
    const auto accuracy = number_at("validation_accuracy", 100.0);
    return accuracy(*line);
  };
}

}  // namespace morton::cli
