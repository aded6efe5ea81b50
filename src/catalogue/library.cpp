// SPDX-License-Identifier: Apache-2.0
#include "catalogue/library.hpp"

#include <algorithm>

namespace morton {
namespace {

constexpr std::string_view kClblastRoutines[] = {"gemm"};
constexpr Library kLibraries[] = {{"clblast", "CLBlast", "libclblast-dev", kClblastRoutines}};

}  // namespace

std::span<const Library> libraries() { return kLibraries; }

const Library* find_library(std::string_view name) {
  const auto found = std::ranges::find(kLibraries, name, &Library::name);
  return found == std::end(kLibraries) ? nullptr : found;
}

}  // namespace morton
