// SPDX-License-Identifier: Apache-2.0
//
// tool: asks the installed library of tools for kernels, and catches an error that it throws.
// Includes every header for tools, so that each is installed and stands alone.
#include <exception>
#include <iostream>
#include <morton/tools/cache.hpp>
#include <morton/tools/doctor.hpp>
#include <morton/tools/expectation.hpp>
#include <morton/tools/kernel.hpp>
#include <morton/tools/passes.hpp>
#include <morton/tools/peak.hpp>
#include <morton/tools/probe.hpp>
#include <morton/tools/problems.hpp>
#include <morton/tools/tune.hpp>
#include <stdexcept>
#include <vector>

namespace {

/// An exception of the library of tools must be caught by its class on this side of the boundary.
void expect_errors_to_cross() {
  try {
    static_cast<void>(morton::kernels_of("no such family"));
  } catch (const morton::UsageError&) {
    return;
  }
  throw std::runtime_error("an unknown family is no UsageError here");
}

}  // namespace

int main() {
  try {
    expect_errors_to_cross();
    const std::vector<morton::KernelInfo> kernels = morton::kernels_of("gemm");
    if (kernels.empty()) throw std::runtime_error("there is no kernel for products");
    // A model of libmorton_tools that libmorton reads.
    const morton::Model product = morton::gemm_model({});
    std::cout << kernels.size() << " kernels and recipes compute " << product.summary().name
              << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "tool: " << error.what() << '\n';
    return 1;
  }
}
