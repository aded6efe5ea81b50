// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "morton/export.hpp"

namespace morton {

/// Processes that train one model together, each with a number: its rank. All of them call the same
/// functions in the same order; each call returns when the others have done their part of it.
/// Belongs to one thread at a time. Functions throw DeviceError where the others cannot be reached.
class MORTON_API Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  [[nodiscard]] virtual int rank() const = 0;  ///< from 0
  [[nodiscard]] virtual int size() const = 0;

  /// To each rank its part of `sent`, and from each its part into `received`. Parts follow each
  /// other in the order of ranks; their lengths in bytes, multiples of 4, are given for each rank.
  virtual void exchange(std::span<const std::byte> sent, std::span<const std::size_t> sent_bytes,
                        std::span<std::byte> received,
                        std::span<const std::size_t> received_bytes) = 0;
  /// `own` of every rank, in the order of ranks, into `all` of every rank. `bytes` has the length
  /// of each rank's part.
  virtual void gather(std::span<const std::byte> own, std::span<std::byte> all,
                      std::span<const std::size_t> bytes) = 0;
  /// The sums over all ranks in the place of `values`, the same ones on every rank, added in
  /// whatever order is fastest.
  virtual void sum(std::span<float> values) = 0;
  /// Ends all ranks, this one with `status`, without waiting for the others.
  [[noreturn]] virtual void abort(int status) = 0;
};

/// How a training is spread over ranks.
struct RankOptions {
  /// Null: the training has one process.
  std::shared_ptr<Communicator> communicator;
  /// How many of a batch's rows each rank takes, as weights of any scale; empty: all alike. A whole
  /// row more falls to the ranks with the greatest remainders, of those alike to the first.
  std::vector<double> shares;
  /// How gradients are added: in the order of ranks, so that the sum is that of one process which
  /// accumulates them; or as the communicator is fastest, with sums that may differ in their last
  /// bits from run to run.
  enum class Sum : std::uint8_t { ordered, fast } sum = Sum::ordered;
  /// What gradients are on their way: f32, or halves with a common power of two for each 1024 of
  /// them. Sums are f32 and are rounded once more on their way back.
  enum class Wire : std::uint8_t { f32, f16 } wire = Wire::f32;
};

/// The processes that MPI started this one with. The first call loads Morton's module for MPI and
/// initialises MPI; there is one communicator in a process, which finalises MPI at its end. Throws
/// UnsupportedError where the module or its MPI is not installed, DeviceError where MPI fails.
[[nodiscard]] MORTON_API std::shared_ptr<Communicator> mpi_communicator();

/// How many processes mpirun started this one with; nothing where it was not started by Open MPI's
/// mpirun.
[[nodiscard]] MORTON_API std::optional<int> mpirun_size();

}  // namespace morton
