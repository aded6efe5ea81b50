// SPDX-License-Identifier: Apache-2.0
#include "device/open/instruction_trial.hpp"

#if defined(__x86_64__) && defined(__linux__)

#include <immintrin.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace morton::device {
namespace {

// 3 + 4 * (200 * -2), in each lane: a sum that does not saturate, of unsigned and signed bytes.
constexpr int kBefore = 3, kUnsigned = 200, kSigned = -2, kAfter = -1597;

__attribute__((target("avx512f,avx512vnni"))) bool works_with_16_lanes() {
  const __m512i sums = _mm512_dpbusd_epi32(_mm512_set1_epi32(kBefore),
                                           _mm512_set1_epi8(static_cast<char>(kUnsigned)),
                                           _mm512_set1_epi8(static_cast<char>(kSigned)));
  return _mm512_cmpeq_epi32_mask(sums, _mm512_set1_epi32(kAfter)) == 0xffff;
}

__attribute__((target("avx2,avxvnni"))) bool works_with_8_lanes() {
  const __m256i sums = _mm256_dpbusd_avx_epi32(_mm256_set1_epi32(kBefore),
                                               _mm256_set1_epi8(static_cast<char>(kUnsigned)),
                                               _mm256_set1_epi8(static_cast<char>(kSigned)));
  return _mm256_movemask_epi8(_mm256_cmpeq_epi32(sums, _mm256_set1_epi32(kAfter))) == -1;
}

/// Whether `works` says so in a child process. It calls nothing there that a fork of a process with
/// threads forbids.
bool works_in_child(bool (*works)()) {
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) {
    std::signal(SIGILL, SIG_DFL);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::_exit(works() ? 0 : 1);
  }
  int status = 0;
  pid_t ended = 0;
  do {
    ended = ::waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  return ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

bool dot_products_fail(std::int64_t lanes) {
  if (lanes == 16) {
    static const bool kFails = !works_in_child(works_with_16_lanes);
    return kFails;
  }
  if (lanes == 8) {
    static const bool kFails = !works_in_child(works_with_8_lanes);
    return kFails;
  }
  return false;
}

}  // namespace morton::device

#else

namespace morton::device {

bool dot_products_fail(std::int64_t) { return false; }

}  // namespace morton::device

#endif
