// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reproduce/experiment.hpp"

namespace morton::cli {

/// The number at a path: "clocks/host/p50_ms", "layers/layer=C1/wall_ms" (of the element whose
/// member `layer` is "C1"; "way=x&bytes=4096" asks for two), "outcomes/0/max_error". It is
/// multiplied by `scale`.
[[nodiscard]] Reader number_at(const std::string& path, double scale = 1.0);

/// Of `bench gemm` and its like: a contender's rate in GFLOP/s, without packing where that is
/// known.
[[nodiscard]] Reader rate_of(const std::string& contender);
/// Likewise its time, in milliseconds times `scale`.
[[nodiscard]] Reader time_of(const std::string& contender, double scale = 1.0);
/// Its rate by its calls, with packing and unpacking, by the host's clock.
[[nodiscard]] Reader call_rate_of(const std::string& contender);
/// Its time with packing and unpacking, by the host's clock.
[[nodiscard]] Reader call_time_of(const std::string& contender, double scale = 1.0);

/// Of `bench MODEL`: the host's clock, the mean of all runs, in milliseconds.
[[nodiscard]] Reader host_mean();
/// Of `devices` and `profile`: the peak of f32, marked where it is a guess.
[[nodiscard]] Reader peak_at(const std::string& roofs);
/// Of `plan`: the bytes of all blocks of a kind, times `scale`.
[[nodiscard]] Reader sum_at(const std::string& list, const std::string& kind, double scale = 1.0);

/// Of `profile`: the device's time of the n-th step, from 0, whose kernel begins with `prefix`, in
/// milliseconds.
[[nodiscard]] Reader nth_step_time(const std::string& prefix, std::size_t n);
/// Of `profile`: a clock of a layer, "host_us" or "device_us", in milliseconds times `scale`. The
/// layer is known by a node's name, as PublishedLayer::step; a step that repacks belongs to the
/// layer behind it.
[[nodiscard]] Reader profiled_layer(const std::string& node, const std::string& clock,
                                    double scale = 1.0);
/// Likewise of those steps alone whose kernels begin with one of `prefixes`.
[[nodiscard]] Reader profiled_layer_part(const std::string& node,
                                         const std::vector<std::string>& prefixes);
/// Likewise of a library's routines, the calls of `routines` alone.
[[nodiscard]] Reader profiled_layer_routines(const std::string& node,
                                             const std::vector<std::string>& routines);

/// Of `train` into kFolder: the accuracy on held-back examples after a step, in per cent.
[[nodiscard]] Reader accuracy_after(std::int64_t step);

/// What a path leads to, or nothing.
[[nodiscard]] const Json* find_at(const Json& json, const std::string& path);

}  // namespace morton::cli
