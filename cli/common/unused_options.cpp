// SPDX-License-Identifier: Apache-2.0
#include "common/unused_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "morton/error.hpp"
#include "morton/tools/problems.hpp"

namespace morton::cli {
namespace {

/// "gemm" of "gemm.tile".
std::string family_in(const std::string& kernel) { return kernel.substr(0, kernel.find('.')); }

/// The kernel or recipe of this name; none of what the host does.
std::optional<KernelInfo> kernel_named(const std::string& family, const std::string& kernel,
                                       const std::vector<std::string>& catalogue_files) {
  try {
    const std::vector<KernelInfo> known = kernels_of(family, catalogue_files);
    const auto found = std::ranges::find(known, kernel, &KernelInfo::name);
    return found == known.end() ? std::nullopt : std::optional(*found);
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

/// Whether a kernel of the catalogue adds up in f16.
bool adds_up_in_f16(const std::string& kernel, const std::vector<std::string>& catalogue_files) {
  const std::optional<KernelInfo> found = kernel_named(family_in(kernel), kernel, catalogue_files);
  return found && found->sums == DType::f16;
}

bool any_adds_up_in_f16(const std::vector<std::string>& kernels,
                        const std::vector<std::string>& catalogue_files) {
  const std::set<std::string> each(kernels.begin(), kernels.end());
  return std::ranges::any_of(
      each, [&](const std::string& kernel) { return adds_up_in_f16(kernel, catalogue_files); });
}

/// A line for each --use of a kernel that no step runs. Steps of a recipe have the names of its
/// kernels, so that recipes cannot be told.
std::vector<std::string> unused_uses(const KernelOptions& options,
                                     const std::vector<std::string>& kernels) {
  std::vector<std::string> lines;
  for (const std::string& text : options.use) {
    const std::size_t equals = text.find('=');
    const std::string family = text.substr(0, equals);
    std::string kernel = text.substr(equals + 1);
    if (kernel.find('.') == std::string::npos) kernel = family + "." + kernel;
    const std::optional<KernelInfo> found = kernel_named(family, kernel, options.catalogue_files);
    if (!found || found->kind == KernelInfo::Kind::recipe) continue;
    // A batch's kernel has the name of one product's in it.
    const auto is_it = [&](const std::string& name) {
      return name.find(kernel) != std::string::npos;
    };
    if (std::ranges::none_of(kernels, is_it)) {
      lines.push_back(fmt::format("--use {}: no step runs that kernel", text));
    }
  }
  return lines;
}

constexpr const char* kUnusedSums =
    "--sums f16: no kernel that runs adds up so on this device; it changes nothing";

}  // namespace

void refuse_unread(const CLI::App& command, const std::vector<std::string>& read,
                   const std::string& reader) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || std::ranges::find(read, name) != read.end()) continue;
    const std::string advice = read.empty() ? "its own options stand behind it"
                                            : fmt::format("it reads {}", fmt::join(read, ", "));
    throw CLI::ValidationError(
        name, fmt::format("`morton {}` does not read it there; {}", reader, advice));
  }
}

void refuse_foreign(const KernelOptions& options, const std::string& family,
                    const std::vector<std::string>& kernels) {
  std::set<std::string> families{family};
  for (const std::string& kernel : kernels) families.insert(family_in(kernel));
  // A batch's kernels are named by those of one product too.
  const auto is_measured = [&](const std::string& name) {
    return families.contains(name) || families.contains("batched_" + name);
  };
  const auto refuse = [&](const std::string& option, const std::string& name) {
    throw UsageError(fmt::format("{}: nothing that runs is of family {}, but of {}", option, name,
                                 fmt::join(families, ", ")));
  };
  for (const std::string& text : options.use) {
    const std::string name = text.substr(0, text.find('='));
    if (!is_measured(name)) refuse("--use " + text, name);
  }
  for (const std::string& text : options.set) {
    const std::string kernel = text.substr(0, text.find(':'));
    // Kernels of a file may have any name.
    const bool may_be_of_a_file = !options.catalogue_files.empty();
    if (!is_measured(family_in(kernel)) && !may_be_of_a_file) {
      refuse("--set " + text, family_in(kernel));
    }
  }
}

std::string unused_sums(const CompileOptions& options, const std::vector<StepInfo>& steps) {
  std::vector<std::string> kernels;
  for (const StepInfo& step : steps) kernels.push_back(step.kernel);
  const bool is_used =
      options.precision.sums != DType::f16 || any_adds_up_in_f16(kernels, options.catalogue_files);
  return is_used ? "" : kUnusedSums;
}

std::vector<std::string> unused_of(const KernelOptions& options, const UsedChoices& used) {
  std::vector<std::string> lines;
  // Steps show "64" for 64x1.
  std::string local = options.local;
  while (local.ends_with("x1")) local.resize(local.size() - 2);
  const auto takes_local = [&](const std::string& work_groups) {
    return (" " + work_groups + ",").find(" " + local + ",") != std::string::npos;
  };
  if (!options.local.empty() && std::ranges::none_of(used.work_groups, takes_local)) {
    lines.push_back(
        fmt::format("--local {}: the work-groups of what is measured are fixed; it changes nothing",
                    options.local));
  }
  std::ranges::copy(unused_uses(options, used.kernels), std::back_inserter(lines));
  const DType precision = parse_dtype(options.precision);
  if (precision != DType::f32 && std::ranges::find(used.stored, precision) == used.stored.end()) {
    lines.push_back(fmt::format(
        "--precision {}: nothing that is measured holds operands so; it changes nothing",
        options.precision));
  }
  if (options.sums == "f16" && !any_adds_up_in_f16(used.kernels, options.catalogue_files)) {
    lines.emplace_back(kUnusedSums);
  }
  return lines;
}

}  // namespace morton::cli
