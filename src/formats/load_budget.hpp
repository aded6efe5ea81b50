// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/rooms.hpp"
#include "base/stopwatch.hpp"
#include "formats/load_limits.hpp"
#include "morton/load.hpp"

namespace morton::formats {

/// What is left of the limits while one model is read. All functions throw UnsupportedError where a
/// limit is passed, naming it; `where` stands before.
class LoadBudget {
 public:
  explicit LoadBudget(const LoadLimits& limits) : limits_(limits) {}

  [[nodiscard]] const LoadLimits& limits() const { return limits_; }
  void require_file(std::int64_t bytes, const std::string& where) const;
  void take_external(std::int64_t bytes, const std::string& where);
  void take_node(const std::string& where);
  void take_constant(const std::string& where);
  void require_depth(std::int64_t depth, const std::string& where) const;
  void require_time(const std::string& where) const;

 private:
  LoadLimits limits_;
  Stopwatch watch_;
  std::int64_t external_bytes_ = 0;
  std::int64_t nodes_ = 0;
  std::int64_t constants_ = 0;
};

}  // namespace morton::formats
