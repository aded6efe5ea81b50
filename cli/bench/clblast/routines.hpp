// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/peers/shared_library.hpp"
#include "common/device_buffers.hpp"
#include "morton/device.hpp"

namespace morton::cli {

/// One call of a routine of CLBlast on operands of its own, which hold small integers.
struct ClblastCall {
  enum class Routine : std::uint8_t { copy, im2col, gemv, gemm, gemm_batched };
  Routine routine = Routine::copy;
  std::int64_t m = 1, n = 1, k = 1;  ///< of a product; of a copy m elements
  std::int64_t batch = 1;
  std::int64_t channels = 1, square = 1, window = 5;  ///< of im2col, without padding

  [[nodiscard]] double flop() const;
  [[nodiscard]] double bytes() const;
  /// Of each operand, in the order in which the routine takes them; the last is written. For calls
  /// that have `largest_bytes`.
  [[nodiscard]] std::vector<std::int64_t> elements() const;
  /// Of the largest operand; nothing beyond 64 bits.
  [[nodiscard]] std::optional<std::int64_t> largest_bytes() const;
  /// Element `at` of what is written, by exact arithmetic.
  [[nodiscard]] double expected(std::int64_t at) const;

 private:
  /// Numbers whose product is the number of elements, of each operand.
  [[nodiscard]] std::vector<std::vector<std::int64_t>> extents() const;
};

/// CLBlast's routines on one device, loaded at run time.
class ClblastRoutines {
 public:
  /// `folder` and `parameters` are those of PeerRequest. Throws UsageError where the library is not
  /// installed: it says which package to install.
  ClblastRoutines(const Device& device, const std::string& folder, const std::string& parameters);

  [[nodiscard]] const std::string& path() const { return library_.path(); }
  /// Makes operands of the call, and fills them. Throws DeviceError.
  void prepare(const ClblastCall& call);
  /// Enqueues the call that is prepared.
  void enqueue();
  void finish();
  /// What is wrong with the result, of which a few hundred elements are compared; empty: nothing.
  [[nodiscard]] std::string complaint();

  /// Whether xGEMM of this shape multiplies without copies of its operands: it asks for no memory.
  /// Meant for odd extents, which CLBlast's other kernel cannot take as they are.
  [[nodiscard]] bool is_direct(std::int64_t m, std::int64_t n, std::int64_t k);
  /// The least size of squares that it multiplies with copies.
  [[nodiscard]] std::int64_t least_indirect();
  /// From now on, squares of `size` and more are multiplied with copies.
  void set_least_indirect(std::int64_t size);

 private:
  SharedLibrary library_;
  DeviceMemory memory_;
  DeviceQueue queue_;
  ClblastCall call_;
  std::vector<DeviceBuffer> operands_;
};

}  // namespace morton::cli
