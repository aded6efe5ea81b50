// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "morton/device.hpp"
#include "morton/tensor.hpp"
#include "morton/tools/problems.hpp"

namespace morton::cli {

/// What another library is asked for: one product of matrices or a batch of them, and where.
struct PeerRequest {
  GemmShape shape;
  Device device;
  std::size_t sets = 1;            ///< of operands, for calls that take turns among them
  std::string folder;              ///< of its library; empty: the loader's path
  std::string clblast_parameters;  ///< file; empty: CLBlast as shipped
};

/// Matrix products by another library, loaded at run time. Operands lie row-major where the library
/// works: in the host's memory or the device's.
class Peer {
 public:
  virtual ~Peer() = default;
  /// Library, version, and what decides its speed: "OpenBLAS 0.3.21, 2 threads".
  [[nodiscard]] virtual std::string version() const = 0;
  /// Whether its arithmetic is that of the OpenCL device, whose peak is measured.
  enum class Place : std::uint8_t { same_processor, elsewhere };
  [[nodiscard]] virtual Place place() const = 0;
  /// Whether its threads go on spinning after a call, and so slow down who comes next: for a few
  /// milliseconds, or longer.
  enum class AfterCall : std::uint8_t { idle, spins_briefly, spins };
  [[nodiscard]] virtual AfterCall after_call() const = 0;

  /// Puts the operands, held as the request's shape says, into every set.
  virtual void set_inputs(const Tensor& lhs, const Tensor& rhs) = 0;
  /// One product of this set; may return before it is done. Throws DeviceError.
  virtual void enqueue(std::size_t set) = 0;
  /// Returns when all products are done. Throws DeviceError.
  virtual void wait() = 0;
  /// dst of this set, [M, N]; of a batch [B, M, N].
  [[nodiscard]] virtual Tensor result(std::size_t set) = 0;
};

/// "clblast", "cublas", "gemmlowp", "onednn", "openblas".
[[nodiscard]] std::vector<std::string> peer_names();

/// Loads the library. Throws UsageError for a name that there is not (it lists those there are),
/// for a library that is not installed (it says which package to install), for a device that it
/// cannot compute on, for operands of a type that it does not multiply, and for a batch unless it
/// is CLBlast.
[[nodiscard]] std::unique_ptr<Peer> open_peer(const std::string& name, const PeerRequest& request);

// One for each library, in a file of its own.
[[nodiscard]] std::unique_ptr<Peer> open_clblast(const PeerRequest& request);
[[nodiscard]] std::unique_ptr<Peer> open_cublas(const PeerRequest& request);
[[nodiscard]] std::unique_ptr<Peer> open_gemmlowp(const PeerRequest& request);
[[nodiscard]] std::unique_ptr<Peer> open_onednn(const PeerRequest& request);
[[nodiscard]] std::unique_ptr<Peer> open_openblas(const PeerRequest& request);

}  // namespace morton::cli
