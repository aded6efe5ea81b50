// SPDX-License-Identifier: Apache-2.0
#include "bench/field.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/kernel_contender.hpp"
#include "bench/peers/peer_contender.hpp"
#include "common/option_names.hpp"
#include "common/options.hpp"
#include "common/terminal.hpp"
#include "morton/error.hpp"
#include "morton/tools/near_names.hpp"

namespace morton::cli {
namespace {

/// How a family of batches and its kernels begin.
const std::string kBatched = "batched_";

/// Options under which nothing but `kernel` computes the family.
CompileOptions only(const KernelInfo& kernel, const std::vector<KernelInfo>& family,
                    CompileOptions options) {
  options.use[kernel.family] = kernel.name;
  options.precision = {kernel.precision, kernel.sums};
  for (const KernelInfo& other : family) {
    // A recipe is free in its choice of entries.
    const bool free =
        kernel.kind == KernelInfo::Kind::recipe && other.kind == KernelInfo::Kind::entry;
    if (other.name != kernel.name && !free) options.exclude.push_back(other.name);
  }
  return options;
}

/// Why the kernel is rejected; the error's message where it lists kernels without this one.
std::string reason_in(const Error& error, const std::string& kernel) {
  const auto found = std::ranges::find(error.rejected(), kernel, &RejectedKernel::kernel);
  return found == error.rejected().end() ? message_of(error) : with_options(found->why);
}

/// What is wrong with the contender's results; empty when nothing is.
std::string complaint_of(Contender& contender,
                         const std::vector<const Expectation*>& expectations) {
  for (const Expectation* expectation : expectations) {
    const auto result = contender.check(*expectation);
    if (!result.complaint.empty()) return "wrong result: " + result.complaint;
  }
  return "";
}

/// Lets the contender take part if its results are right.
void admit(std::unique_ptr<Contender> contender,
           const std::vector<const Expectation*>& expectations, Field& field) {
  std::string complaint;
  try {
    complaint = complaint_of(*contender, expectations);
  } catch (const DeviceError& error) {
    complaint = message_of(error);
  }
  if (complaint.empty()) {
    field.contenders.push_back(std::move(contender));
  } else {
    field.failed.push_back({contender->name(), complaint});
  }
}

/// Adds the kernel to the field, or the reason why it does not take part.
void add_kernel(const KernelInfo& kernel, const CompileOptions& options,
                const SingleProblem& problem, const Device& device, std::size_t sets,
                const std::vector<const Expectation*>& expectations, Field& field) {
  std::unique_ptr<KernelContender> contender;
  try {
    contender = std::make_unique<KernelContender>(
        kernel.name, compile_model(problem.model, device, options), options.precision.sums, sets);
  } catch (const UnsupportedError& error) {
    field.rejected.push_back({kernel.name, reason_in(error, kernel.name)});
    return;
  } catch (const UsageError& error) {
    // What is wrong with an option concerns all kernels, and the message says what there is.
    if (error.setting() == "local") throw;
    field.rejected.push_back({kernel.name, reason_in(error, kernel.name)});
    return;
  } catch (const DeviceError& error) {
    field.failed.push_back({kernel.name, message_of(error)});
    return;
  }
  if (kernel.kind == KernelInfo::Kind::entry && !contender->runs(kernel.name)) {
    field.rejected.push_back({kernel.name, "the plan found no way to it from this problem"});
    return;
  }
  admit(std::move(contender), expectations, field);
}

std::string names_of(const std::vector<KernelInfo>& kernels) {
  std::string names;
  for (const KernelInfo& kernel : kernels) names += "\n" + kernel.name;
  return names;
}

/// The kernel of that name in full: "naive" is short for "gemm.naive", and in a batch both mean
/// "batched_gemm.naive". Throws UsageError, which quotes `option`, where the family has none of
/// that name.
std::string full_name(const std::string& given, const std::string& option,
                      const std::string& family, const std::vector<KernelInfo>& kernels) {
  std::vector<std::string> names{given, family + "." + given};
  if (family.starts_with(kBatched)) names.push_back(kBatched + given);
  for (const std::string& name : names) {
    if (std::ranges::find(kernels, name, &KernelInfo::name) != kernels.end()) return name;
  }
  std::vector<std::string> known;
  for (const KernelInfo& kernel : kernels) known.push_back(kernel.name);
  const bool is_short = given.find('.') == std::string::npos;
  const std::string meant = did_you_mean(is_short ? family + "." + given : given, known);
  throw UsageError(fmt::format("{}: the catalogue has no such kernel or recipe of family {}{}",
                               option, family,
                               meant.empty() ? "; it has:" + names_of(kernels) : meant));
}

/// The kernels that --kernels and --use name, in this order; none where neither names any.
std::vector<std::string> wanted_kernels(const std::string& family, const Entrants& entrants,
                                        const std::vector<KernelInfo>& kernels) {
  std::vector<std::string> wanted;
  const auto add = [&](const std::string& given, const std::string& option) {
    const std::string name = full_name(given, option, family, kernels);
    if (std::ranges::find(wanted, name) == wanted.end()) wanted.push_back(name);
  };
  for (const std::string& name : entrants.names) add(name, "--kernels " + name);
  const auto use = entrants.compile.use.find(family);
  if (use != entrants.compile.use.end()) {
    add(use->second, fmt::format("--use {}={}", family, use->second));
  }
  return wanted;
}

/// `kernels` in the order of `wanted`; all of them where none is wanted.
std::vector<KernelInfo> chosen(const std::vector<KernelInfo>& kernels,
                               const std::vector<std::string>& wanted) {
  if (wanted.empty()) return kernels;
  std::vector<KernelInfo> result;
  for (const std::string& name : wanted) {
    result.push_back(*std::ranges::find(kernels, name, &KernelInfo::name));
  }
  return result;
}

std::string refusal_of(const std::string& kernel, const SingleProblem& problem,
                       const Entrants& entrants) {
  return entrants.budget == nullptr ? "" : entrants.budget->refusal(kernel, problem.work());
}

/// Adds what the plan chooses.
void add_choice(const Entrants& entrants, const SingleProblem& problem, const Device& device,
                const std::vector<const Expectation*>& expectations, Field& field) {
  const CompiledModel model = compile_model(problem.model, device, entrants.compile);
  const std::string name = computing_kernels(model.steps());
  const std::string why = refusal_of(name, problem, entrants);
  if (!why.empty()) {
    field.cut.push_back({name, why});
    return;
  }
  admit(std::make_unique<KernelContender>(name, model, entrants.compile.precision.sums,
                                          entrants.sets),
        expectations, field);
}

}  // namespace

void require_any(const Field& field, const SingleProblem& problem,
                 const std::vector<KernelInfo>& kernels) {
  if (!field.contenders.empty() || !field.failed.empty()) return;
  if (field.rejected.empty()) {
    throw UsageError(fmt::format(
        "no kernel of family {} is left to measure{}{}", problem.family,
        kernels.empty() ? "; the catalogue has none" : "; the catalogue has:", names_of(kernels)));
  }
  std::string reasons;
  for (const auto& [name, why] : field.rejected) reasons += "\n" + name + ": " + why;
  throw UsageError(
      fmt::format("{}: no kernel that was asked for can compute it:{}", problem.title, reasons));
}

bool asks_the_plan(const Entrants& entrants, const std::string& family) {
  return entrants.kernels == Entrants::Kernels::as_asked && entrants.names.empty() &&
         !entrants.compile.use.contains(family);
}

Field make_field(const SingleProblem& problem, const Device& device, const Entrants& entrants,
                 const std::vector<const Expectation*>& expectations) {
  Field field;
  const std::vector<KernelInfo> kernels =
      kernels_of(problem.family, entrants.compile.catalogue_files, entrants.compile.use);
  if (asks_the_plan(entrants, problem.family)) {
    add_choice(entrants, problem, device, expectations, field);
    return field;
  }
  Progress progress(entrants.label + "building and checking");
  const std::vector<KernelInfo> asked =
      chosen(kernels, wanted_kernels(problem.family, entrants, kernels));
  std::size_t done = 0;
  for (const KernelInfo& kernel : asked) {
    progress.update(static_cast<double>(done++) / static_cast<double>(asked.size()));
    const auto& excluded = entrants.compile.exclude;
    if (std::ranges::find(excluded, kernel.name) != excluded.end()) continue;
    const std::string why = refusal_of(kernel.name, problem, entrants);
    if (!why.empty()) {
      field.cut.push_back({kernel.name, why});
      continue;
    }
    add_kernel(kernel, only(kernel, kernels, entrants.compile), problem, device, entrants.sets,
               expectations, field);
  }
  return field;
}

void add_peers(const std::vector<std::string>& names, const PeerRequest& request,
               const std::vector<const Expectation*>& expectations, Field& field) {
  for (const std::string& name : names) {
    admit(std::make_unique<PeerContender>(name, request), expectations, field);
  }
}

}  // namespace morton::cli
