// SPDX-License-Identifier: Apache-2.0
#include "training/files/checkpoint.hpp"

#include "formats/arrays/safetensors.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/memory_file.hpp"
#include "morton/error.hpp"

namespace morton::test {
namespace {

template <typename Read>
void expect_error_or_value(const Read& read) {
  try {
    (void)read();
  } catch (const ModelError&) {
    // It is no such number, or no list.
  }
}

}  // namespace

/// As a file; and the facts of one whose digest is right, each as whatever it may be.
void fuzz_checkpoint(std::string_view bytes) {
  const MemoryFile file(bytes);
  SafeTensors content = read_safetensors(file.path());
  const training::Checkpoint checkpoint{"checkpoint", std::move(content.tensors),
                                        std::move(content.texts)};
  for (const auto& fact : checkpoint.facts) {
    const std::string& name = fact.first;
    expect_error_or_value([&] { return checkpoint.integer(name); });
    expect_error_or_value([&] { return checkpoint.natural(name); });
    expect_error_or_value([&] { return checkpoint.real(name); });
    expect_error_or_value([&] { return checkpoint.names(name); });
  }
  (void)training::read_checkpoint(file.path());
}

}  // namespace morton::test
