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

namespace morton::cli {
namespace {

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

/// The kernel that --use names, in full ("naive" is short for "gemm.naive"), or nothing. Throws
/// UsageError where the family has none of that name.
std::string wanted_kernel(const std::string& family, const CompileOptions& options,
                          const std::vector<KernelInfo>& kernels) {
  const auto use = options.use.find(family);
  if (use == options.use.end()) return "";
  for (const std::string& name : {use->second, family + "." + use->second}) {
    if (std::ranges::find(kernels, name, &KernelInfo::name) != kernels.end()) return name;
  }
  throw UsageError(fmt::format(
      "--use {}={}: the catalogue has no such kernel or recipe of this family; it has:{}", family,
      use->second, names_of(kernels)));
}

/// Throws UsageError that says why there is nothing to measure.
[[noreturn]] void complain_of_nothing(const SingleProblem& problem,
                                      const std::vector<KernelInfo>& kernels, const Field& field) {
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

}  // namespace

Field make_field(const SingleProblem& problem, const Device& device, const Entrants& entrants,
                 const std::vector<const Expectation*>& expectations) {
  Field field;
  const std::vector<KernelInfo> kernels =
      kernels_of(problem.family, entrants.compile.catalogue_files);
  const std::string wanted = wanted_kernel(problem.family, entrants.compile, kernels);
  if (entrants.kernels == Entrants::Kernels::as_asked && wanted.empty()) {
    const CompiledModel model = compile_model(problem.model, device, entrants.compile);
    const std::string name = computing_kernels(model.steps());
    admit(std::make_unique<KernelContender>(name, model, entrants.compile.precision.sums,
                                            entrants.sets),
          expectations, field);
    return field;
  }
  Progress progress("building and checking");
  std::size_t done = 0;
  for (const KernelInfo& kernel : kernels) {
    progress.update(static_cast<double>(done++) / static_cast<double>(kernels.size()));
    const auto& excluded = entrants.compile.exclude;
    if (std::ranges::find(excluded, kernel.name) != excluded.end()) continue;
    if (!wanted.empty() && wanted != kernel.name) continue;
    add_kernel(kernel, only(kernel, kernels, entrants.compile), problem, device, entrants.sets,
               expectations, field);
  }
  if (field.contenders.empty() && field.failed.empty())
    complain_of_nothing(problem, kernels, field);
  return field;
}

void add_peers(const std::vector<std::string>& names, const PeerRequest& request,
               const std::vector<const Expectation*>& expectations, Field& field) {
  for (const std::string& name : names) {
    admit(std::make_unique<PeerContender>(name, request), expectations, field);
  }
}

}  // namespace morton::cli
