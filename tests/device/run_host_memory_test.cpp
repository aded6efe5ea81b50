// SPDX-License-Identifier: Apache-2.0
//
// What the process gives back before it takes memory for weights: pages that lie in libraries'
// files, and none that it has changed.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstddef>
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

/// Whether the mapping with this address has the flag "hg": large pages were asked for.
bool has_asked_for_large_pages(std::uintptr_t address) {
  std::ifstream maps("/proc/self/smaps");
  bool is_here = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = ' ';
    if (words >> std::hex >> begin >> dash >> end && dash == '-') {
      is_here = begin <= address && address < end;
    } else if (is_here && line.starts_with("VmFlags:")) {
      return line.find(" hg") != std::string::npos;
    }
  }
  return false;
}

TEST(RunHostMemory, LargePagesAreAskedForInsideOfTheMemoryAlone) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) {
    GTEST_SKIP() << "the system has no large pages";
  }
  constexpr std::size_t kLarge = std::size_t{2} << 20;
  void* const memory =
      ::mmap(nullptr, 4 * kLarge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto start = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (start + kLarge - 1) / kLarge * kLarge;
  auto* const bytes = static_cast<std::byte*>(memory);
  run::ask_for_large_pages({bytes + (first - start) + kPage, kLarge});  // no large page fits
  EXPECT_FALSE(has_asked_for_large_pages(first));
  run::ask_for_large_pages({bytes + (first - start), 2 * kLarge + kPage});
  EXPECT_TRUE(has_asked_for_large_pages(first));
  EXPECT_TRUE(has_asked_for_large_pages(first + kLarge));
  EXPECT_FALSE(has_asked_for_large_pages(first + 2 * kLarge));
  ASSERT_EQ(::munmap(memory, 4 * kLarge), 0);
}

}  // namespace
}  // namespace morton::test
