// SPDX-License-Identifier: Apache-2.0
//
// What the process gives back before it takes memory for weights: pages that lie in libraries'
// files, and none that it has changed.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

#include "run/host_memory.hpp"
#include "support/rooms.hpp"

namespace morton::test {
namespace {

constexpr std::int64_t kMany = std::int64_t{1} << 30;
constexpr std::size_t kPage = 4096;

/// Resident bytes of files that the process has mapped; 0 where the system does not say.
std::int64_t resident_file_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:")) return std::stoll(line.substr(8)) * 1024;
  }
  return 0;
}

TEST(RunHostMemory, LibrariesPagesGoBeforeManyWeights) {
  const std::int64_t before = resident_file_bytes();
  if (before == 0) GTEST_SKIP() << "the system does not tell what is resident";
  run::return_unneeded_memory(0);
  EXPECT_GT(resident_file_bytes(), before / 2) << "few weights, and pages went";
  run::return_unneeded_memory(kMany);
  EXPECT_LT(resident_file_bytes(), before / 2);
}

TEST(RunHostMemory, OnlyReadOnlyMappingsWithoutChangesAreUnchanged) {
  std::istringstream maps(
      "1000-2000 r-xp 0 08:01 1 /lib/a\nAnonymous: 0 kB\nSwap: 0 kB\n"
      "2000-3000 r--p 0 08:01 1 /lib/a\nAnonymous: 4 kB\nSwap: 0 kB\n"
      "3000-4000 r--p 0 08:01 1 /lib/a\nAnonymous: 0 kB\nSwap: 8 kB\n"
      "4000-5000 rw-p 0 08:01 1 /lib/a\nAnonymous: 0 kB\nSwap: 0 kB\n"
      "5000-6000 r--p 0 08:01 1 /lib/a\nAnonymous: 0 kB\n");
  const auto ranges = run::unchanged_mappings(maps);
  ASSERT_EQ(ranges.size(), 1U);
  EXPECT_EQ(ranges[0].begin, 0x1000U);
}

/// A page of the program's read-only data; the compiler does not know what it holds.
alignas(kPage) const volatile char kReadOnlyPage[kPage] = {1};

TEST(RunHostMemory, ChangedPagesStay) {
  char* const page = const_cast<char*>(&kReadOnlyPage[0]);
  ASSERT_EQ(::mprotect(page, kPage, PROT_READ | PROT_WRITE), 0);
  page[0] = 42;
  ASSERT_EQ(::mprotect(page, kPage, PROT_READ), 0);
  run::return_unneeded_memory(kMany);
  EXPECT_EQ(kReadOnlyPage[0], 42);
}

}  // namespace
}  // namespace morton::test
