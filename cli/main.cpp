// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cold.hpp"
#include "common/commands.hpp"
#include "common/error_status.hpp"
#include "common/log.hpp"
#include "common/option_names.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "model/compile.hpp"
#include "morton/error.hpp"
#include "morton/version.hpp"
#include "reproduce/reproduce.hpp"
#include "shell/complete.hpp"
#include "shell/meant.hpp"
#include "train/train.hpp"

namespace morton::cli {
namespace {

constexpr const char* kMortonFooter = R"(Examples:
  morton demo
  morton devices
  morton run models/lenet5.onnx -i input:digit.png --top-k 3
  morton bench models/lenet5.onnx --batch 32 --device cpu
  morton COMMAND --help

Environment: MORTON_DEVICE names the device, MORTON_CACHE_DIR the folder of built kernels;
NO_COLOR turns colours off.
Exit status: 0 ok, 1 a check failed, 2 usage, 3 bad model or data file, 4 device or driver,
70 a defect of Morton.)";

std::string hint_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::device:
      return "`morton doctor` looks for the cause.";
    case ErrorClass::internal:
      return "This is a defect of Morton; please report it.";
    default:
      return "";
  }
}

/// Where an option has taken the next one for its value: `--cache-dir --all`. Empty where none has.
std::string swallowed_option(const CLI::App& app) {
  std::string complaint;
  for (const CLI::App* part = &app; part != nullptr && complaint.empty();) {
    for (const CLI::Option* option : part->get_options()) {
      for (const std::string& value : option->results()) {
        if (!value.starts_with("--") || part->get_option_no_throw(value) == nullptr) continue;
        complaint =
            fmt::format("{}: its value is missing; {} is an option", option->get_name(), value);
      }
    }
    const auto chosen = part->get_subcommands();
    part = chosen.empty() ? nullptr : chosen.front();
  }
  return complaint;
}

/// Where an option of a list has commas alone: the parser takes them for an argument of its own.
std::string empty_list(int argc, char** argv) {
  for (int i = 2; i < argc; ++i) {
    const std::string_view option = argv[i - 1], value = argv[i];
    const bool is_empty = !value.empty() && value.find_first_not_of(',') == std::string_view::npos;
    if (is_empty && option.starts_with("--")) {
      return fmt::format("{}: expected names, got '{}'", option, value);
    }
  }
  return "";
}

int execute(const Action& action) {
  try {
    const int status = action();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      print_error("standard output could not be written: is the disk full?", "");
      return kUsageStatus;
    }
    return status;
  } catch (const NeedsSegments& error) {
    print_error(message_of(error),
                "The model has no plan as a whole. `morton run` without --prepare answers it, and "
                "waits there.");
    return status_of(error.error_class());
  } catch (const Error& error) {
    print_error(message_of(error), hint_of(error.error_class()));
    return status_of(error.error_class());
  } catch (const std::bad_alloc&) {
    print_error("out of memory", "A smaller problem or --batch needs less.");
    return kInternalStatus;
  } catch (const std::exception& error) {
    print_error(error.what(), hint_of(ErrorClass::internal));
    return kInternalStatus;
  }
}

/// For shells: nothing but what may stand there, and no message of Morton's own.
int print_completions(const CLI::App& app, const std::vector<std::string>& words) {
  start_log(Verbosity::quiet);
  return execute([&] {
    emit(completions(app, words), "");
    return 0;
  });
}

int run_program(int argc, char** argv) {
  CLI::App app{"Morton runs neural networks on OpenCL devices.", "morton"};
  app.footer(kMortonFooter);
  app.get_formatter()->column_width(34);
  app.set_version_flag("--version", "morton " MORTON_VERSION, "Print the version");
  int verbosity = 0;
  int quiet = 0;
  app.add_flag("-v,--verbose", verbosity, "Report what happens (on standard error)");
  app.add_flag("-q,--quiet", quiet, "Warnings and errors only, no progress");
  app.require_subcommand(1);
  app.fallthrough();  // -v and -q may follow the subcommand

  Action action;
  add_demo(app, action);
  add_devices(app, action);
  add_doctor(app, action);
  add_probe(app, action);
  add_inspect(app, action);
  add_plan(app, action);
  add_kernel(app, action);
  add_layout(app, action);
  add_compile(app, action);
  add_keys(app, action);
  add_run(app, action);
  add_serve(app);
  add_bench(app, action);
  add_profile(app, action);
  add_compare(app, action);
  add_conformance(app, action);
  add_tune(app, action);
  add_new(app, action);
  add_train(app, action);
  add_eval(app, action);
  add_quantize(app, action);
  add_convert(app, action);
  add_reproduce(app, action);
  add_cache(app, action);
  add_first_result(app, action);  // hidden: bench --cold starts it

  if (const std::string empty = empty_list(argc, argv); !empty.empty()) {
    start_log(Verbosity::normal);
    print_error(empty, "");
    return kUsageStatus;
  }
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "serve") {
    start_log(Verbosity::normal);
    return execute([&] { return run_serve({words.begin() + 1, words.end()}); });
  }
  if (!words.empty() && words.front() == kCompleteCommand) {
    return print_completions(app, {words.begin() + 1, words.end()});
  }
  if (const std::string dash = single_dash(app, words); !dash.empty()) {
    start_log(Verbosity::normal);
    print_error(dash, "");
    return kUsageStatus;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    return app.exit(request);  // --help, --version
  } catch (const CLI::ParseError& error) {
    start_log(Verbosity::normal);
    print_error(complaint(app, error), help_hint(app));
    return kUsageStatus;
  }
  if (const std::string missing = swallowed_option(app); !missing.empty()) {
    start_log(Verbosity::normal);
    print_error(missing, help_hint(app));
    return kUsageStatus;
  }
  start_log(quiet > 0 ? Verbosity::quiet : verbosity > 0 ? Verbosity::verbose : Verbosity::normal);
  return execute(action);
}

}  // namespace
}  // namespace morton::cli

int main(int argc, char** argv) {
  // A file that grows beyond the user's limit (ulimit -f) is an error that is told, as a full disk
  // is.
  std::signal(SIGXFSZ, SIG_IGN);
  return morton::cli::run_program(argc, argv);
}
