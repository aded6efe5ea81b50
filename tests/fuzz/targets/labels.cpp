// SPDX-License-Identifier: Apache-2.0
#include "common/pictures/labels.hpp"

#include "formats/datasets/dataset_kinds.hpp"
#include "fuzz/fuzz_target.hpp"
#include "fuzz/memory_file.hpp"

namespace morton::test {

void fuzz_labels(std::string_view bytes) {
  const MemoryFile file(bytes);
  for (const std::string& label : cli::read_labels(file.path().string()))
    (void)printable_name(label);
}

}  // namespace morton::test
