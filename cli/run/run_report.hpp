// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/output.hpp"
#include "morton/model.hpp"
#include "morton/tensor.hpp"

namespace morton::cli {

/// How the greatest values of outputs are shown.
struct Ranking {
  std::int64_t top_k = 0;            ///< of each row; 0: none
  std::vector<std::string> labels;   ///< of the classes; empty: their numbers
  std::set<std::string> by_columns;  ///< outputs [classes, batch]
  /// The model's own names of the classes, by output; `labels` come before them.
  std::map<std::string, std::vector<std::string>> of_model{};
};

/// Whether an output of that shape is one of a batch and classes, and ranked.
[[nodiscard]] bool is_ranked(const Ranking& ranking, const Shape& shape);

/// Refuses --top-k and --labels that suit no output before anything runs.
void check_ranking(const std::string& labels_file, const Ranking& ranking,
                   const std::vector<PortInfo>& outputs);

/// What the outputs hold, for people.
[[nodiscard]] std::string outputs_text(const std::vector<NamedTensor>& outputs,
                                       const Ranking& ranking, Format format);
/// The same for programs.
[[nodiscard]] Json outputs_json(const std::vector<NamedTensor>& outputs, const Ranking& ranking);

}  // namespace morton::cli
