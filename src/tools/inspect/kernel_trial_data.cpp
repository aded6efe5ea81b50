// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/kernel_trial_data.hpp"

#include <algorithm>
#include <random>
#include <sstream>
#include <string>

#include "base/error.hpp"
#include "problems/family.hpp"

namespace morton::tools {
namespace {

struct CheckedSizes {
  std::string_view family, sizes;
};

constexpr CheckedSizes kCheckedSizes[] = {
    {"gemm", "M=37 N=29"},
    {"batched_gemm", "M=37 N=29 B=3"},
    {"filter_gemm", "M=37 N=29 B=3"},
    {"integer_gemm", "M=37 N=29"},
    {"batched_integer_gemm", "M=37 N=29 B=3"},
    {"coded_gemm", "M=5 N=29"},
    {"conv2d", "H=7 W=9"},
    {"integer_conv2d", "H=7 W=9"},
    {"max_pool2d", "C=5 H=9 W=11"},
    {"average_pool2d", "C=5 H=9 W=11"},
    {"lp_pool2d", "C=5 H=9 W=11"},
    {"max_pool2d_indices", "C=5 H=9 W=11"},
    {"max_pool2d_gradient", "C=5 H=9 W=11"},
    {"conv_transpose2d", "H=5 W=6"},
    {"resize2d", "C=5"},
    {"attention", "H=2 M=21 L=19"},
    {"recurrence", "T=3 N=2 U=32"},
    {"parted_recurrence", "T=3 U=32"},
    {"trees", "N=21 T=20 F=7 P=64"},
    {"coupling", "N=21"},
    {"local_response", "C=9 S=20"},
    {"grid_sample", "C=3 P=29"},
    {"suppression", "C=2 N=64 M=7"},
    {"winograd_input", "C=9 H=13 W=11"},
    {"winograd_output", "O=9 OH=13 OW=11"},
    {"winograd_weights", "O=9 C=7"},
};

std::int64_t extent_of(const Problem& problem, const std::string& name) {
  const auto extent = problem.extents.find(name);
  return extent != problem.extents.end() ? extent->second : problem.structure.at(name);
}

/// How many neighbours of the operand `index` must be alike.
std::int64_t alike_indices(const Problem& problem) {
  const auto shared = problem.structure.find("SHARED");
  return shared != problem.structure.end() && shared->second != 0 ? extent_of(problem, "I") : 1;
}

/// Element `i` of an operand that says where others are, or how many.
std::optional<double> place_at(const Problem& problem, const std::string& role, std::int64_t i) {
  constexpr std::int64_t kStride = 5;  // meets each place once where the extent is no multiple
  const auto spread = [&](std::int64_t place, std::int64_t extent) {
    return static_cast<double>((kStride * place + 3) % extent);
  };
  if (role == "index") return spread(i / alike_indices(problem), extent_of(problem, "I0"));
  if (role == "order") return spread(i, extent_of(problem, "N"));
  if (role == "count" || role == "most") return static_cast<double>(extent_of(problem, "M"));
  if (role == "lengths") return static_cast<double>(extent_of(problem, "T"));
  if (role == "rois" && problem.family == families::roi_max_pool) {
    if (i % extent_of(problem, "Q") == 0) return 0.0;  // which of the images
  }
  for (const char* table : {"batch", "marks", "nodes", "roots", "votes"}) {
    if (role == table) return 0.0;
  }
  return std::nullopt;
}

double value_of(DType type, std::mt19937_64& generator) {
  const std::uint64_t number = generator();
  switch (type) {
    case DType::f32:
    case DType::f64:
    case DType::f16:
    case DType::bf16:
      return (2.0 * static_cast<double>(number % 16) - 15.0) / 16.0;
    case DType::u8:
      return static_cast<double>(number % 256);
    case DType::i8:
      return static_cast<double>(number % 256) - 128.0;
    default:
      return static_cast<double>(number % 2);
  }
}

}  // namespace

Environment sizes_to_check(std::string_view family) {
  Environment sizes;
  const auto* const found = std::ranges::find(kCheckedSizes, family, &CheckedSizes::family);
  if (found == std::end(kCheckedSizes)) return sizes;
  std::istringstream words{std::string(found->sizes)};
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    sizes[word.substr(0, equals)] = std::stoll(word.substr(equals + 1));
  }
  return sizes;
}

std::vector<NamedTensor> operands_to_check(const PosedProblem& posed) {
  constexpr std::uint64_t kSeed = 17;
  std::mt19937_64 generator(kSeed);
  std::vector<NamedTensor> operands;
  for (const auto& [role, binding] : posed.bound.operands) {
    if (role == "dst") continue;
    const TaskTensor& described = posed.tasks.tensors[binding.tensor];
    Tensor tensor = Tensor::allocate(described.dtype, described.shape);
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      const double value = value_of(described.dtype, generator);
      tensor.set(i, place_at(posed.bound.problem, role, i).value_or(value));
    }
    operands.push_back({role, std::move(tensor)});
  }
  return operands;
}

}  // namespace morton::tools
