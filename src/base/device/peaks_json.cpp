// SPDX-License-Identifier: Apache-2.0
#include "base/device/peaks_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace morton {

double positive_or_zero(const JsonReader& reader) {
  const double value = reader.real();
  if (!std::isfinite(value) || value < 0) {
    reader.fail("expected a finite number that is not negative, got " + std::to_string(value));
  }
  return value;
}

std::vector<FootprintBandwidth> bandwidth_from(const JsonReader& reader) {
  std::vector<FootprintBandwidth> list;
  for (const JsonReader& point : reader.elements()) {
    point.allow_keys({"footprint_bytes", "gigabytes_per_second"});
    const std::int64_t footprint = point.at("footprint_bytes").integer();
    const std::int64_t before = list.empty() ? 0 : list.back().footprint_bytes;
    if (footprint <= before) {
      point.fail("expected a footprint of more than " + std::to_string(before) + " bytes, got " +
                 std::to_string(footprint));
    }
    list.push_back({footprint, positive_or_zero(point.at("gigabytes_per_second"))});
  }
  return list;
}

HostPeaks host_from(const JsonReader& reader) {
  reader.allow_keys({"launch_and_step_us", "products"});
  HostPeaks host;
  host.launch_and_step_us = positive_or_zero(reader.at("launch_and_step_us"));
  for (const JsonReader& product : reader.at("products").elements()) {
    product.allow_keys({"flop", "us"});
    const std::int64_t flop = product.at("flop").integer();
    const std::int64_t before = host.products.empty() ? 0 : host.products.back().flop;
    if (flop <= before) {
      product.fail("expected a product of more than " + std::to_string(before) +
                   " operations, got " + std::to_string(flop));
    }
    const double us = positive_or_zero(product.at("us"));
    if (us == 0.0) product.at("us").fail("expected a measured time, more than 0");
    host.products.push_back({flop, us});
  }
  return host;
}

Json to_json(const std::vector<FootprintBandwidth>& list) {
  Json array = Json::array();
  for (const FootprintBandwidth& point : list) {
    Json& one = array.emplace_back(Json::object());
    one["footprint_bytes"] = point.footprint_bytes;
    one["gigabytes_per_second"] = point.gigabytes_per_second;
  }
  return array;
}

Json to_json(const HostPeaks& host) {
  Json json = Json::object();
  json["launch_and_step_us"] = host.launch_and_step_us;
  Json& products = json["products"] = Json::array();
  for (const HostProduct& product : host.products) {
    Json& one = products.emplace_back(Json::object());
    one["flop"] = product.flop;
    one["us"] = product.us;
  }
  return json;
}

}  // namespace morton
