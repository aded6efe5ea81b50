// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/bench_shapes.hpp"
#include "bench/layer_times.hpp"
#include "bench/loading_memory.hpp"
#include "common/output.hpp"
#include "common/statistics.hpp"
#include "morton/session.hpp"

namespace morton::cli {

/// Everything that is reported, once all of it has been measured.
struct BenchMeasurement {
  double open_device_ms = 0.0, load_ms = 0.0, compile_ms = 0.0, first_inference_ms = 0.0;
  Statistics host, enqueue;
  std::optional<Statistics> device;
  double items_per_second = 0.0;
  std::string cache, kernels;  ///< where kernels came from, in a word and as a line
  std::vector<OtherShape> other_shapes;
  LoadingMemory loading;
  std::optional<LayerTimes> layers;  ///< where a path is named (--conv)
};

/// What was asked for, as far as a report says it.
struct BenchSetting {
  std::string model;  ///< as it was named
  std::string precision;
  std::uint64_t seed = 1;
  Format format = Format::table;
};

/// The report of `bench MODEL`, in the setting's format.
[[nodiscard]] std::string report_of(const BenchSetting& setting, const CompiledModel& model,
                                    const BenchMeasurement& measured);

}  // namespace morton::cli
