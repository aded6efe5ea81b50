// SPDX-License-Identifier: Apache-2.0
//
// All targets in one program for libFuzzer. By which name it is called says which target runs:
// build-fuzz/fuzz/npy.
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "fuzz/checksums.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/onnx_mutator.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

const morton::test::FuzzTarget* chosen = nullptr;

/// Processor time that an input may take. libFuzzer looks at the clock, which goes on while other
/// work has the processors.
constexpr int kMostSeconds = 10;

extern "C" void took_too_long(int) {
  constexpr std::string_view kText = "ERROR: an input takes more than 10 s of processor time\n";
  static_cast<void>(!::write(STDERR_FILENO, kText.data(), kText.size()));
  std::abort();
}

/// From now on.
void limit_processor_time() {
  static const bool is_set = std::signal(SIGPROF, took_too_long) != SIG_ERR;
  const itimerval limit{{0, 0}, {kMostSeconds, 0}};
  if (is_set) ::setitimer(ITIMER_PROF, &limit, nullptr);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char*** arguments) {
  const std::string_view path = (*arguments)[0];
  chosen = morton::test::find_fuzz_target(path.substr(path.rfind('/') + 1));
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "There is no target of that name. Call one of:\n");
  for (const auto& target : morton::test::fuzz_targets()) {
    std::fprintf(stderr, "  %s\n", std::string(target.name).c_str());
  }
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  limit_processor_time();
  morton::test::run_fuzz_target(*chosen, {reinterpret_cast<const char*>(data), size});
  return 0;
}

/// Models are changed field by field, now and then byte by byte; others byte by byte. Their
/// checksums mostly become right again.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned int seed) {
  if (chosen->reads_models() && seed % 16 != 0) {
    const std::string model =
        morton::test::mutated_model({reinterpret_cast<const char*>(data), size}, seed);
    if (!model.empty() && model.size() <= most) {
      std::memcpy(data, model.data(), model.size());
      return model.size();
    }
  }
  const std::size_t changed = LLVMFuzzerMutate(data, size, most);
  if (chosen->has_checksums() && seed % 8 != 0) {
    const std::string right =
        morton::test::with_right_checksums({reinterpret_cast<const char*>(data), changed});
    std::memcpy(data, right.data(), right.size());
  }
  return changed;
}
