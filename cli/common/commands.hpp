// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "words/cli11_names.hpp"

namespace morton::cli {

/// What the chosen subcommand does; returns the exit status and throws morton::Error.
using Action = std::function<int()>;

/// Exit status of a check that failed or of results that differ; errors have that of their class.
inline constexpr int kCheckFailed = 1;

/// Each adds its subcommand to `app`. Parsing it leaves the action in `chosen`; nothing runs before
/// the whole command line has been understood.
void add_devices(CLI::App& app, Action& chosen);
void add_doctor(CLI::App& app, Action& chosen);
void add_probe(CLI::App& app, Action& chosen);
void add_inspect(CLI::App& app, Action& chosen);
void add_plan(CLI::App& app, Action& chosen);
void add_kernel(CLI::App& app, Action& chosen);
void add_keys(CLI::App& app, Action& chosen);
void add_layout(CLI::App& app, Action& chosen);
void add_run(CLI::App& app, Action& chosen);
void add_bench(CLI::App& app, Action& chosen);
/// `bench gemm`: below the bench command.
void add_bench_gemm(CLI::App& bench_command, Action& chosen);
/// `bench bias` and its like (`matrix_families`): below the bench command.
void add_bench_matrix(CLI::App& bench_command, const std::string& family, Action& chosen);
/// `bench clblast`: below the bench command.
void add_bench_clblast(CLI::App& bench_command, Action& chosen);
void add_profile(CLI::App& app, Action& chosen);
void add_compare(CLI::App& app, Action& chosen);
void add_conformance(CLI::App& app, Action& chosen);
void add_new(CLI::App& app, Action& chosen);
/// `tune`, and the hidden `tune-worker` that it starts.
void add_tune(CLI::App& app, Action& chosen);
void add_eval(CLI::App& app, Action& chosen);
void add_quantize(CLI::App& app, Action& chosen);
void add_convert(CLI::App& app, Action& chosen);
void add_cache(CLI::App& app, Action& chosen);
void add_demo(CLI::App& app, Action& chosen);
/// `serve`, whose arguments the program does not look at.
void add_serve(CLI::App& app);
/// Becomes morton-serve, a program of its own because of the libraries that it needs. Throws
/// UnsupportedError where it is not installed.
int run_serve(std::vector<std::string> words);

}  // namespace morton::cli
