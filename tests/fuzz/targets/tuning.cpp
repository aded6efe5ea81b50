// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_target.hpp"
#include "fuzz/memory_file.hpp"
#include "plan/measured/tuned.hpp"
#include "plan/measured/tuned_file.hpp"

namespace morton::test {

/// A file of tuning data. What was read is printed and read again.
void fuzz_tuning(std::string_view bytes) {
  const MemoryFile file(bytes);
  TunedData given;
  read_given_tuning(file.path(), given);
  TunedData data;
  const TunedDevice device = read_tuning_file(file.path(), data);
  const MemoryFile printed(print_tuning(device, data));
  TunedData again;
  (void)read_tuning_file(printed.path(), again);
}

}  // namespace morton::test
