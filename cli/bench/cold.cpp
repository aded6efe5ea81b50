// SPDX-License-Identifier: Apache-2.0
#include "bench/cold.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/child.hpp"
#include "common/conv_path.hpp"
#include "common/inputs.hpp"
#include "common/log.hpp"
#include "common/output.hpp"
#include "common/statistics.hpp"
#include "common/stopwatch.hpp"
#include "common/terminal.hpp"
#include "morton/compiled_file.hpp"
#include "morton/error.hpp"
#include "morton/session.hpp"

namespace morton::cli {
namespace {

namespace fs = std::filesystem;

/// Starts of each kind unless --iterations says how many: building takes seconds.
constexpr std::int64_t kColdStarts = 3;
constexpr std::int64_t kQuickStarts = 7;

/// A folder that is removed with what is in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (fs::temp_directory_path() / "morton-cold-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw UsageError(fmt::format("{}: cannot be made: {}", name, std::strerror(errno)));
    }
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Where the drivers that keep something of kernels are told to keep it.
std::map<std::string, std::string> driver_caches(const fs::path& folder) {
  std::map<std::string, std::string> variables;
  for (const char* name : {"POCL_CACHE_DIR", "CUDA_CACHE_PATH", "MESA_SHADER_CACHE_DIR"}) {
    const fs::path own = folder / name;
    fs::create_directories(own);
    variables[name] = own.string();
  }
  return variables;
}

/// One way to start, measured.
struct Starts {
  std::string state, caches;
  std::vector<double> ms;
  Json last;  ///< what the last child said of itself
};

/// What is still open where the kernels are chosen.
std::vector<std::string> run_arguments_of(const ModelOptions& options) {
  std::vector<std::string> words;
  if (options.batch > 0) words.insert(words.end(), {"--batch", std::to_string(options.batch)});
  for (const std::string& shape : options.shapes) words.insert(words.end(), {"--shape", shape});
  if (options.strict) words.emplace_back("--strict");
  return words;
}

std::vector<std::string> arguments_of(const ModelOptions& options) {
  std::vector<std::string> words = run_arguments_of(options);
  const auto add = [&](const char* name, const std::string& value) {
    words.insert(words.end(), {name, value});
  };
  if (!options.workspace_limit.empty()) add("--workspace-limit", options.workspace_limit);
  if (!options.weight_limit.empty()) add("--weight-limit", options.weight_limit);
  if (options.max_kernel_ms) add("--max-kernel-ms", fmt::format("{}", *options.max_kernel_ms));
  if (!options.conv.empty()) add("--conv", options.conv);
  const KernelOptions& kernels = options.kernels;
  for (const std::string& one : kernels.use) add("--use", one);
  for (const std::string& one : kernels.exclude) add("--exclude", one);
  for (const std::string& one : kernels.catalogue_files) add("--catalogue", one);
  for (const std::string& one : kernels.set) add("--set", one);
  for (const std::string& one : kernels.tuning) add("--tuning", one);
  if (!kernels.local.empty()) add("--local", kernels.local);
  add("--precision", kernels.precision);
  add("--sums", kernels.sums);
  add("--self-test", options.self_test);
  return words;
}

std::vector<std::string> child_words(const char* command, const ColdOptions& options,
                                     const std::string& model, const fs::path& cache) {
  std::vector<std::string> words{command, model, "--cache-dir", cache.string()};
  if (!options.device.selector.empty()) {
    words.insert(words.end(), {"--device", options.device.selector});
  }
  return words;
}

/// Starts a child that runs the model once, with the caches in `folder`.
void start_once(const ColdOptions& options, const std::string& model, const fs::path& folder,
                Starts& starts) {
  std::vector<std::string> words = child_words("first-result", options, model, folder / "morton");
  // The file that was compiled here has its kernels; the one that was given is told everything, and
  // refuses what it cannot obey.
  const bool is_given = model == options.model.path;
  const auto more = is_given ? arguments_of(options.model) : run_arguments_of(options.model);
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"--seed", std::to_string(options.measure.seed)});
  const ChildAnswer answer = run_child(words, driver_caches(folder));
  starts.ms.push_back(answer.ms);
  try {
    starts.last = Json::parse(answer.line);
  } catch (const Json::exception& error) {
    throw DeviceError(fmt::format("first-result: its answer is no JSON: {}", error.what()));
  }
}

Json json_of(const Starts& starts) {
  const Statistics statistics = statistics_of(starts.ms);
  return {{"state", starts.state},      {"driver_caches", starts.caches},
          {"starts", starts.ms.size()}, {"median_ms", statistics.p50},
          {"min_ms", statistics.min},   {"max_ms", statistics.max},
          {"last_start", starts.last}};
}

std::string text_of(const std::vector<Starts>& all, const ColdOptions& options) {
  using enum Table::Align;
  Table table;
  table.columns = {{"start"},          {"n", right},     {"median ms", right},  {"min", right},
                   {"max", right},     {"built", right}, {"from cache", right}, {"ahead", right},
                   {"open ms", right}, {"load", right},  {"compile", right},    {"run", right},
                   {"drivers' caches"}};
  for (const Starts& starts : all) {
    const Statistics statistics = statistics_of(starts.ms);
    const auto count = [&](const char* key) {
      return std::to_string(starts.last.value(key, std::int64_t{0}));
    };
    const auto time = [&](const char* key) { return number_text(starts.last.value(key, 0.0), 1); };
    table.rows.push_back(
        {starts.state, std::to_string(starts.ms.size()), number_text(statistics.p50, 1),
         number_text(statistics.min, 1), number_text(statistics.max, 1), count("kernels_built"),
         count("kernels_from_cache"), count("kernels_compiled_ahead"), time("open_device_ms"),
         time("load_ms"), time("compile_ms"), time("first_inference_ms"), starts.caches});
  }
  return fmt::format(
             "{}: from the process's start to its first result; kernels and phases are "
             "those of the last start\n",
             options.model.path) +
         to_text(table, options.result.format);
}

/// What the child does: one result, as soon as can be.
int first_result(const ColdOptions& options) {
  const Stopwatch open;
  const std::vector<Device> devices = open_devices(options.device);
  const double open_ms = open.milliseconds();
  const Stopwatch load;
  const GivenModel model(options.model, options.elsewhere);
  const double load_ms = load.milliseconds();
  const Stopwatch compiling;
  const CompiledModel compiled = model.compile(devices, compile_options(options.model));
  const double compile_ms = compiling.milliseconds();
  const auto inputs = random_inputs(compiled.inputs(), options.measure.seed);
  const Stopwatch running;
  Session session(compiled);
  (void)session.run(inputs);
  const CompileReport& report = compiled.report();
  const Json answer = {
      {"open_device_ms", open_ms},
      {"load_ms", load_ms},
      {"compile_ms", compile_ms},
      {"plan_kept", report.plan == CompileReport::PlanOrigin::kept},
      {"plan_ms", report.times.plan_ms},
      {"kernel_build_ms", report.times.build_ms},
      {"upload_ms", report.times.upload_ms},
      {"warm_up_ms", report.times.warm_up_ms},
      {"first_inference_ms", running.milliseconds()},
      {"kernels_built", report.kernels.built},
      {"kernels_from_cache", model.is_compiled() ? 0 : report.kernels.from_disk},
      {"kernels_compiled_ahead", model.is_compiled() ? report.kernels.from_disk : 0},
      {"device", devices.front().description()}};
  emit(to_text(answer, Format::jsonl), "");
  std::fflush(stdout);
  return 0;
}

/// Compiles the model with the caches in `folder`; returns the file.
std::string compile_ahead(const ColdOptions& options, const fs::path& work,
                          const fs::path& folder) {
  const std::string file = (work / "model.morton").string();
  std::vector<std::string> words =
      child_words("compile", options, options.model.path, folder / "morton");
  const auto more = arguments_of(options.model);
  words.insert(words.end(), more.begin(), more.end());
  words.insert(words.end(), {"--output", file});
  (void)run_child(words, driver_caches(folder));
  return file;
}

/// Starts with the compiled file and no caches.
Starts measure_ahead(const ColdOptions& options, const std::string& file, const fs::path& work) {
  const std::int64_t given = options.measure.iterations;
  Starts ahead{"compiled ahead", "emptied", {}, {}};
  for (std::int64_t i = 0; i < (given > 0 ? given : kQuickStarts); ++i) {
    const fs::path folder = work / fmt::format("ahead{}", i);
    start_once(options, file, folder, ahead);
    fs::remove_all(folder);
  }
  return ahead;
}

}  // namespace

int bench_cold(const ColdOptions& options) {
  const std::int64_t given = options.measure.iterations;
  const std::string& path = options.model.path;
  const std::string_view library = find_conv_path(options.model.conv).library;
  std::vector<Starts> all;
  const ScratchFolder work;
  Progress progress("starting processes");
  std::string file = path;
  if (CompiledFile::is_one(path)) {
    log::info("{}: is compiled, so cold and warm starts of the model are not measured", path);
  } else {
    Starts cold{"cold", "emptied", {}, {}};
    fs::path folder;
    for (std::int64_t i = 0; i < (given > 0 ? given : kColdStarts); ++i) {
      if (!folder.empty()) fs::remove_all(folder);
      folder = work.path() / fmt::format("cold{}", i);
      start_once(options, path, folder, cold);
    }
    Starts warm{"warm", "kept", {}, {}};
    for (std::int64_t i = 0; i < (given > 0 ? given : kQuickStarts); ++i) {
      start_once(options, path, folder, warm);
    }
    all.push_back(std::move(cold));
    all.push_back(std::move(warm));
    if (library.empty()) file = compile_ahead(options, work.path(), folder);
  }
  if (library.empty()) {
    all.push_back(measure_ahead(options, file, work.path()));
  } else {
    log::info("{} builds its kernels in each process, so nothing is compiled ahead", library);
  }
  Json json = {{"model", path}, {"starts", Json::array()}};
  for (const Starts& starts : all) json["starts"].push_back(json_of(starts));
  emit(for_people(options.result.format) ? text_of(all, options)
                                         : to_text(json, options.result.format),
       options.result.path);
  return 0;
}

void add_first_result(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("first-result", "");
  command->group("");
  auto options = std::make_shared<ColdOptions>();
  add_given_model(*command, options->model, options->elsewhere, Need::required);
  add_options(*command, options->device);
  add_options(*command, options->model);
  add_trust_options(*command, options->model);
  add_options(*command, options->measure);
  command->callback([options, &chosen] { chosen = [options] { return first_result(*options); }; });
}

}  // namespace morton::cli
