// SPDX-License-Identifier: Apache-2.0
#include "formats/arrays/npy.hpp"

#include "fuzz/fuzz_target.hpp"
#include "fuzz/memory_file.hpp"

namespace morton::test {

void fuzz_npy(std::string_view bytes) {
  const MemoryFile file(bytes);
  (void)read_npy(file.path());
}

}  // namespace morton::test
