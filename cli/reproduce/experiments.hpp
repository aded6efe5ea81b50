// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reproduce/experiment.hpp"

namespace morton::cli {

/// What experiments depend on.
struct Conditions {
  Scale scale = Scale::full;
  std::string data;       ///< a data set of digits
  std::string device_id;  ///< "0:0"; empty where none is needed
  bool has_peak = true;   ///< the device's peak is measured and kept; else experiments measure it
};

/// All experiments, in the order of the sources and their chapters.
[[nodiscard]] std::vector<Experiment> all_experiments(const Conditions& conditions);

/// Those that are asked for, in any case: sources ("r17"), tables of the source before them
/// ("table-8.2"), and tables of any source where none stands before them; all where there is no
/// name. Throws UsageError for a name that is none.
[[nodiscard]] std::vector<Experiment> experiments_of(const std::vector<Experiment>& all,
                                                     const std::vector<std::string>& names);

/// Measures the device's peak for all commands that follow, and reads it into a place.
[[nodiscard]] Cell peak_cell(std::size_t row, std::size_t column);

/// Parts of the list, by subject.
[[nodiscard]] std::vector<Experiment> r17_products(const Conditions& conditions);
[[nodiscard]] std::vector<Experiment> r17_ladder(Scale scale);
[[nodiscard]] std::vector<Experiment> r17_layouts(Scale scale);
[[nodiscard]] std::vector<Experiment> r17_layers(Scale scale);
[[nodiscard]] std::vector<Experiment> r17_networks(const Conditions& conditions);
[[nodiscard]] std::vector<Experiment> r18_clblast(Scale scale);
[[nodiscard]] std::vector<Experiment> r18_routines(Scale scale);
[[nodiscard]] std::vector<Experiment> r18_lenet(Scale scale);
[[nodiscard]] std::vector<Experiment> r18_vgg(Scale scale);
[[nodiscard]] std::vector<Experiment> g16_and_a16(Scale scale);
[[nodiscard]] std::vector<Experiment> c18_device(Scale scale);
[[nodiscard]] std::vector<Experiment> r17_order(Scale scale);
[[nodiscard]] std::vector<Experiment> a16_memory(Scale scale);
[[nodiscard]] std::vector<Experiment> c18_ladder(Scale scale);
[[nodiscard]] std::vector<Experiment> c18_products(Scale scale);
[[nodiscard]] std::vector<Experiment> c18_training(const Conditions& conditions);

}  // namespace morton::cli
