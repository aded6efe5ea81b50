// SPDX-License-Identifier: Apache-2.0
#include <iostream>
#include <morton/morton.hpp>
#include <morton/version.hpp>

int main() {
  std::cout << "built with Morton " << MORTON_VERSION << '\n';
  return 0;
}
