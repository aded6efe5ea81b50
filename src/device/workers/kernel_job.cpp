// SPDX-License-Identifier: Apache-2.0
#include "device/workers/kernel_job.hpp"

#include <nlohmann/json.hpp>

namespace morton::device {
namespace {

std::array<std::int64_t, 3> three_sizes(const JsonReader& reader) {
  const std::vector<std::int64_t> sizes = reader.integers();
  if (sizes.size() != 3) reader.fail("expected three sizes");
  return {sizes[0], sizes[1], sizes[2]};
}

JobArgument job_argument_from(const JsonReader& reader) {
  const std::vector<std::int64_t> parts = reader.integers();
  constexpr auto kLast = static_cast<std::int64_t>(JobArgument::Kind::integer);
  if (parts.size() != 4 || parts[0] < 0 || parts[0] > kLast) {
    reader.fail("expected a kind, a value, a width and a height");
  }
  return {static_cast<JobArgument::Kind>(parts[0]), parts[1], parts[2], parts[3]};
}

}  // namespace

Json to_json(const KernelJob& job) {
  Json arguments = Json::array();
  for (const JobArgument& one : job.arguments) {
    arguments.push_back({static_cast<std::int64_t>(one.kind), one.value, one.width, one.height});
  }
  return {{"device", job.device},
          {"driver_version", job.driver_version},
          {"id", job.id},
          {"source", job.source},
          {"function", job.function},
          {"options", job.options},
          {"global", job.global},
          {"local", job.local},
          {"arguments", arguments},
          {"key", job.key},
          {"owner", job.owner},
          {"path", job.path}};
}

KernelJob kernel_job_from(const JsonReader& reader) {
  KernelJob job;
  job.device = reader.at("device").text();
  job.driver_version = reader.at("driver_version").text();
  job.id = reader.at("id").text();
  job.source = reader.at("source").text();
  job.function = reader.at("function").text();
  job.options = reader.at("options").text();
  job.global = three_sizes(reader.at("global"));
  job.local = three_sizes(reader.at("local"));
  for (const JsonReader& one : reader.at("arguments").elements()) {
    job.arguments.push_back(job_argument_from(one));
  }
  job.key = reader.at("key").text();
  job.owner = reader.at("owner").text();
  job.path = reader.at("path").text();
  return job;
}

}  // namespace morton::device
