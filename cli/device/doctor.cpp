// SPDX-License-Identifier: Apache-2.0
#include "morton/tools/doctor.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "common/child.hpp"
#include "common/commands.hpp"
#include "common/log.hpp"
#include "common/machine.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "morton/compile.hpp"
#include "morton/error.hpp"
#include "morton/tools/kernel.hpp"
#include "morton/tools/kernel_check.hpp"

namespace morton::cli {
namespace {

constexpr const char* kDoctorFooter =
    R"(Checks the OpenCL loader, its drivers, permissions, the kernel cache, and whether a tiny kernel
computes the right answer on each device. Every failed check prints how to mend it. Where all is
well it builds the generic kernels, with which any model answers at once, and keeps them in the
cache folder.

With --kernels every kernel runs on a small problem, between memory that it must not touch, and its
result is compared with the definition of what it computes. That takes minutes. Plans leave out a
kernel that is wrong.

Exit status: 0 all is well, 1 a check failed, 4 there is no device to use.

Examples:
  morton doctor
  morton doctor --kernels
  morton doctor --kernels gemm.tile pack.runs
  morton doctor --format json)";

constexpr int kNoDeviceStatus = 4;

const char* word_of(DoctorCheck::Outcome outcome) {
  switch (outcome) {
    case DoctorCheck::Outcome::ok:
      return "ok";
    case DoctorCheck::Outcome::failed:
      return "failed";
    case DoctorCheck::Outcome::skipped:
      break;
  }
  return "skipped";
}

std::string text_of(const std::vector<DoctorCheck>& checks, const Terminal& terminal) {
  std::string text;
  for (const DoctorCheck& check : checks) {
    const Colour colour = check.outcome == DoctorCheck::Outcome::ok       ? Colour::green
                          : check.outcome == DoctorCheck::Outcome::failed ? Colour::red
                                                                          : Colour::yellow;
    const std::string word = fmt::format("{:7}", word_of(check.outcome));
    text += fmt::format("{}  {}: {}\n", coloured(terminal, colour, word), check.name, check.detail);
    if (!check.fix.empty()) text += fmt::format("         fix: {}\n", check.fix);
  }
  return text;
}

Json json_of(const std::vector<DoctorCheck>& checks) {
  Json list = Json::array();
  for (const DoctorCheck& check : checks) {
    list.push_back({{"outcome", word_of(check.outcome)},
                    {"name", check.name},
                    {"detail", check.detail},
                    {"fix", check.fix}});
  }
  return list;
}

bool any_device() {
  try {
    return !Device::list_json().empty();
  } catch (const DeviceError&) {
    return false;
  }
}

bool any_failed(const std::vector<DoctorCheck>& checks) {
  return std::ranges::any_of(checks, [](const DoctorCheck& check) {
    return check.outcome == DoctorCheck::Outcome::failed;
  });
}

/// Builds what the first answer of any model needs on each device, where all else is well.
void add_generic_kernels(const DeviceConfig& config, std::vector<DoctorCheck>& checks) {
  if (!any_device()) return;
  if (any_failed(checks)) {
    checks.push_back({"generic kernels", DoctorCheck::Outcome::skipped,
                      "they are built where all checks above are well", ""});
    return;
  }
  for (const std::string& facts : Device::list_json(config)) {
    const std::string id = Json::parse(facts).at("id");
    DoctorCheck check{"generic kernels, device " + id, DoctorCheck::Outcome::ok, "", ""};
    try {
      const CompileReport::Kernels kernels = prepare_interim_kernels(Device::open(id, config));
      const int known = kernels.from_memory + kernels.from_disk + kernels.built;
      if (known == 0) check.outcome = DoctorCheck::Outcome::skipped;
      check.detail = known == 0
                         ? "no cache folder would keep them"
                         : fmt::format("{} from cache, {} built: any model answers at once",
                                       kernels.from_memory + kernels.from_disk, kernels.built);
    } catch (const Error& error) {
      check.outcome = DoctorCheck::Outcome::failed;
      check.detail = with_options(error.message());
      check.fix = "`morton run MODEL --start ready` does without them";
    }
    checks.push_back(std::move(check));
  }
}

/// What of the kernels is checked.
struct CheckedKernels {
  bool wanted = false;
  std::vector<std::string> names;  ///< empty: all
  std::vector<std::string> catalogue_files;
};

std::vector<std::string> names_to_check(const CheckedKernels& options) {
  std::vector<std::string> names;
  for (const auto& [family, kernels] : kernel_names(options.catalogue_files)) {
    names.insert(names.end(), kernels.begin(), kernels.end());
  }
  for (const std::string& name : options.names) {
    if (std::ranges::find(names, name) != names.end()) continue;
    throw UsageError(fmt::format(
        "--kernels {}: there is no kernel of this name; `morton kernel` lists them", name));
  }
  return options.names.empty() ? names : options.names;
}

/// Checks kernels on a device, each in a process that it may end.
void add_kernel_checks(const std::string& id, const DeviceConfig& config,
                       const CheckedKernels& options, std::vector<DoctorCheck>& checks) {
  const std::vector<std::string> names = names_to_check(options);
  KernelChecker checker({id, worker_command(), options.catalogue_files});
  std::map<std::string, KernelCheck> wrong;
  std::map<std::string, int> lacking;  // why, how many
  int done = 0, right = 0;
  Progress progress("kernels of device " + id);
  for (const std::string& kernel : names) {
    KernelCheck check = checker.check(kernel);
    progress.update(static_cast<double>(++done) / static_cast<double>(names.size()));
    log::debug("{}: {:.0f} ms {}", kernel, check.milliseconds, check.why);
    if (check.outcome == KernelCheck::Outcome::right) ++right;
    if (check.outcome == KernelCheck::Outcome::impossible) ++lacking[check.why];
    if (check.outcome == KernelCheck::Outcome::wrong) wrong.emplace(kernel, std::move(check));
  }
  const std::string place = ", device " + id;
  checks.push_back({"kernels" + place, DoctorCheck::Outcome::ok,
                    fmt::format("{} right, {} wrong, {} not for this device", right, wrong.size(),
                                done - right - static_cast<int>(wrong.size())),
                    ""});
  for (const auto& [why, count] : lacking) {
    checks.push_back({"kernels" + place, DoctorCheck::Outcome::skipped,
                      fmt::format("{} for this reason: {}", count, why), ""});
  }
  for (const auto& [kernel, check] : wrong) {
    checks.push_back({kernel + place, DoctorCheck::Outcome::failed, check.why,
                      "nothing: plans leave it out from now on; `morton cache clear self-test` "
                      "takes that back"});
  }
  refuse_kernels(wrong, Device::open(id, config), options.catalogue_files);
}

int examine(const DeviceOptions& device, const CheckedKernels& kernels,
            const ResultOptions& result) {
  prepare_drivers();
  std::vector<DoctorCheck> checks = run_doctor(device_config(device));
  add_generic_kernels(device_config(device), checks);
  if (kernels.wanted && any_device() && !any_failed(checks)) {
    for (const std::string& facts : Device::list_json(device_config(device))) {
      add_kernel_checks(Json::parse(facts).at("id"), device_config(device), kernels, checks);
    }
  }
  const Terminal terminal = result.path.empty() ? terminal_of(STDOUT_FILENO) : Terminal{};
  emit(for_people(result.format) ? text_of(checks, terminal)
                                 : to_text(json_of(checks), result.format),
       result.path);
  if (!any_device()) return kNoDeviceStatus;
  return any_failed(checks) ? kCheckFailed : 0;
}

}  // namespace

void add_doctor(CLI::App& app, Action& chosen) {
  CLI::App* command = app.add_subcommand("doctor", "Find out why no device is found or usable");
  command->footer(kDoctorFooter);
  struct Options {
    DeviceOptions device;
    ResultOptions result;
    CheckedKernels kernels;
  };
  auto options = std::make_shared<Options>();
  command->add_option("--cache-dir", options->device.cache_dir, "Folder of built kernels to check")
      ->option_text("FOLDER");
  CLI::Option* const kernels =
      command
          ->add_option("--kernels", options->kernels.names,
                       "Check kernels too: these, or all (which takes minutes)")
          ->expected(0, CLI::detail::expected_max_vector_size)
          ->option_text("[KERNEL...]");
  command
      ->add_option("--catalogue", options->kernels.catalogue_files,
                   "With --kernels: files with kernels of your own")
      ->option_text("FILE...")
      ->needs(kernels);
  add_options(*command, options->result, {{"table", Format::table}, {"json", Format::json}});
  command->callback([options, kernels, &chosen] {
    options->kernels.wanted = kernels->count() > 0;
    std::erase(options->kernels.names, "");  // what CLI11 gives an option without values
    chosen = [options] { return examine(options->device, options->kernels, options->result); };
  });
}

}  // namespace morton::cli
