// SPDX-License-Identifier: Apache-2.0
#include "run/host_memory.hpp"

#include <cstdint>
#include <istream>

#if defined(__GLIBC__)
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#endif

namespace morton::run {
namespace {

#if defined(__GLIBC__)

/// As much as a linked driver holds. Before fewer weights the pages stay: the process will hold
/// little more than linking took, and to read them again takes milliseconds.
constexpr std::int64_t kManyWeightsBytes = std::int64_t{64} << 20;

/// A line of /proc/self/smaps that begins a mapping: "begin-end rw-p ...".
struct Mapping {
  AddressRange range;
  bool is_writable = false;
};

std::optional<Mapping> mapping_of(std::string_view line) {
  Mapping mapping;
  const char* const end = line.data() + line.size();
  const auto begin = std::from_chars(line.data(), end, mapping.range.begin, 16);
  if (begin.ec != std::errc() || begin.ptr == end || *begin.ptr != '-') return std::nullopt;
  const auto last = std::from_chars(begin.ptr + 1, end, mapping.range.end, 16);
  if (last.ec != std::errc() || end - last.ptr < 5 || *last.ptr != ' ') return std::nullopt;
  mapping.is_writable = last.ptr[2] == 'w';
  return mapping;
}

/// Whether a line of a mapping says that there is nothing of a kind: "Swap:   0 kB".
bool says_none(std::string_view line, std::string_view kind) {
  return line.starts_with(kind) && line.find_first_not_of(" 0kB", kind.size()) == std::string::npos;
}

/// What dropping pages needs while the loader's lock is held.
struct Dropping {
  std::vector<AddressRange> unchanged;
  bool has_looked = false;
};

/// For each loaded object: drops the pages of its unchanged mappings. While this runs no thread can
/// unload an object, so its addresses are its own.
int drop_pages_of(dl_phdr_info* info, std::size_t /*size*/, void* context) {
  auto& dropping = *static_cast<Dropping*>(context);
  if (!dropping.has_looked) {
    std::ifstream maps("/proc/self/smaps");
    dropping.unchanged = unchanged_mappings(maps);
    dropping.has_looked = true;
  }
  AddressRange object{UINTPTR_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    object.begin = std::min<std::uintptr_t>(object.begin, begin);
    object.end = std::max<std::uintptr_t>(object.end, begin + segment.p_memsz);
  }
  for (const AddressRange& range : dropping.unchanged) {
    if (range.begin >= object.end || object.begin >= range.end) continue;
    // Should it fail, the pages stay.
    static_cast<void>(
        ::madvise(reinterpret_cast<void*>(range.begin), range.end - range.begin, MADV_DONTNEED));
  }
  return 0;
}

#endif

}  // namespace

#if defined(__GLIBC__)
std::vector<AddressRange> unchanged_mappings(std::istream& maps) {
  std::vector<AddressRange> ranges;
  std::optional<Mapping> mapping;
  bool nothing_changed = false;
  for (std::string line; std::getline(maps, line);) {
    if (const auto next = mapping_of(line)) {
      mapping = next;
      nothing_changed = false;
    }
    if (says_none(line, "Anonymous:")) nothing_changed = true;
    // A changed page may be swapped out, and it then counts here alone. This line comes later.
    const bool is_whole = mapping && !mapping->is_writable && nothing_changed;
    if (is_whole && says_none(line, "Swap:")) ranges.push_back(mapping->range);
  }
  return ranges;
}
#else
std::vector<AddressRange> unchanged_mappings(std::istream&) { return {}; }
#endif

void return_unneeded_memory([[maybe_unused]] std::int64_t weight_bytes) {
#if defined(__GLIBC__)
  malloc_trim(0);
  if (weight_bytes < kManyWeightsBytes) return;
  Dropping dropping;
  dl_iterate_phdr(drop_pages_of, &dropping);
#endif
}

void ask_for_large_pages([[maybe_unused]] std::span<std::byte> memory) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::uintptr_t kPageBytes = std::uintptr_t{2} << 20;
  const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::uintptr_t begin = (start + kPageBytes - 1) / kPageBytes * kPageBytes;
  const std::uintptr_t end = (start + memory.size()) / kPageBytes * kPageBytes;
  if (begin >= end) return;
  // Should it fail, pages are as small as ever.
  static_cast<void>(::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE));
#endif
}

}  // namespace morton::run
