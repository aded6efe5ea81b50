// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <utility>

#include "base/files/json_reader.hpp"

namespace morton {

/// JSON whose end takes no memory. The destructor of nlohmann's JSON 3.11 takes some for what is
/// nested, and ends the process where there is none.
class EmptiedJson {
 public:
  explicit EmptiedJson(Json json) : json_(std::move(json)) {}
  ~EmptiedJson() { empty(json_); }
  EmptiedJson(const EmptiedJson&) = delete;
  EmptiedJson& operator=(const EmptiedJson&) = delete;

  [[nodiscard]] const Json& operator*() const { return json_; }

 private:
  static void empty(Json& json) {
    for (Json& inside : json) {
      if (inside.is_structured()) empty(inside);
    }
    json.clear();
  }

  Json json_;
};

}  // namespace morton
