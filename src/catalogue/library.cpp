// SPDX-License-Identifier: Apache-2.0
#include "catalogue/library.hpp"

#include <algorithm>

namespace morton::catalogue {
namespace {

constexpr std::string_view kClblastRoutines[] = {"gemm", "gemv", "filter_gemm", "im2col",
                                                 "convgemm"};
constexpr std::string_view kEigenRoutines[] = {"gemm"};
// CLBlast is chosen by name alone: plans do not depend on what happens to be installed, and it
// builds its kernels anew in each process.
constexpr Library kLibraries[] = {{"clblast", "CLBlast", "libclblast-dev", Library::Place::device,
                                   Library::Choice::where_named, kClblastRoutines},
                                  {"eigen", "Eigen", "libeigen3-dev", Library::Place::host,
                                   Library::Choice::where_it_pays, kEigenRoutines}};

}  // namespace

std::span<const Library> libraries() { return kLibraries; }

const Library* find_library(std::string_view name) {
  const auto found = std::ranges::find(kLibraries, name, &Library::name);
  return found == std::end(kLibraries) ? nullptr : found;
}

}  // namespace morton::catalogue
