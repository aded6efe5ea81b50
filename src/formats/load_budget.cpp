// SPDX-License-Identifier: Apache-2.0
#include "formats/load_budget.hpp"

namespace morton::formats {

void LoadBudget::require_file(std::int64_t bytes, const std::string& where) const {
  if (bytes > limits_.file_bytes) refuse_beyond("file", limits_.file_bytes, "bytes", where);
}

void LoadBudget::take_external(std::int64_t bytes, const std::string& where) {
  if (bytes > limits_.external_bytes - external_bytes_) {
    refuse_beyond("external", limits_.external_bytes, "bytes in the files that the model names",
                  where);
  }
  external_bytes_ += bytes;
}

void LoadBudget::take_node(const std::string& where) {
  if (++nodes_ > limits_.nodes) refuse_beyond("nodes", limits_.nodes, "nodes", where);
}

void LoadBudget::take_constant(const std::string& where) {
  if (++constants_ > limits_.constants) {
    refuse_beyond("constants", limits_.constants, "constants", where);
  }
}

void LoadBudget::require_depth(std::int64_t depth, const std::string& where) const {
  if (depth > limits_.depth) {
    refuse_beyond("depth", limits_.depth, "bodies inside of each other", where);
  }
}

void LoadBudget::require_time(const std::string& where) const {
  if (limits_.seconds > 0.0) require_seconds(limits_, watch_.seconds(), where);
}

}  // namespace morton::formats
