// SPDX-License-Identifier: Apache-2.0
#include "device/use/host_product.hpp"

#include <Eigen/Core>
#include <optional>

#include "device/use/transfer.hpp"

namespace morton::device {
namespace {

using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

MappedBuffer::Range range_of(std::int64_t rows, std::int64_t columns) {
  return {0, rows * columns * static_cast<std::int64_t>(sizeof(float))};
}

std::span<float> floats(const MappedBuffer& mapped) {
  const std::span<std::byte> bytes = mapped.bytes();
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

}  // namespace

void multiply_on_host(std::span<const float> lhs, std::span<const float> rhs, std::span<float> dst,
                      const ProductExtents& extents) {
  const Eigen::Map<const RowMajor> left(lhs.data(), extents.m, extents.k);
  const Eigen::Map<const RowMajor> right(rhs.data(), extents.k, extents.n);
  Eigen::Map<RowMajor>(dst.data(), extents.m, extents.n).noalias() = left * right;
}

void multiply_mapped(const cl::CommandQueue& queue, const DeviceInfo& info,
                     const ProductBuffers& buffers, const ProductExtents& extents) {
  using Access = MappedBuffer::Access;
  using Wait = MappedBuffer::Wait;
  const auto& [m, n, k] = extents;
  // OpenCL maps no empty ranges. Sums of no terms are 0.
  if (m == 0 || n == 0) return;
  std::optional<MappedBuffer> lhs;
  std::optional<MappedBuffer> rhs;
  if (k > 0) {
    lhs.emplace(queue, info, buffers.lhs, range_of(m, k), Access::read, Wait::later);
    rhs.emplace(queue, info, buffers.rhs, range_of(k, n), Access::read, Wait::later);
  }
  MappedBuffer dst(queue, info, buffers.dst, range_of(m, n), Access::overwrite, Wait::now);
  multiply_on_host(lhs ? floats(*lhs) : std::span<float>(), rhs ? floats(*rhs) : std::span<float>(),
                   floats(dst), extents);
  dst.unmap();
  if (rhs) rhs->unmap();
  if (lhs) lhs->unmap();
}

}  // namespace morton::device
