// SPDX-License-Identifier: Apache-2.0
#include "support/case_codes.hpp"

#include <algorithm>
#include <random>

#include "base/algebra/typed_chain.hpp"
#include "base/numbers/small_types.hpp"

namespace morton::test {

Tensor random_codes(DType type, const Shape& shape, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  Tensor tensor = Tensor::allocate(type, shape);
  if (is_stored_real(type)) {
    const auto unused = static_cast<unsigned>(64 - bits_of(type));
    for (std::size_t i = 0; i < tensor.bytes(); ++i) {
      tensor.mutable_data()[i] = static_cast<std::byte>(generator() >> unused);
    }
    return tensor;
  }
  const bool is_narrow_positive = type == DType::u4 || type == DType::u2;
  const bool below_zero = !is_unsigned(type) && type != DType::boolean && !is_narrow_positive;
  const std::int64_t count = type == DType::boolean ? 2 : 1 << std::min(bits_of(type), 8);
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const auto drawn = static_cast<std::int64_t>(generator() >> 56U) % count;
    tensor.set(i, static_cast<double>(below_zero ? drawn - count / 2 : drawn));
  }
  return tensor;
}

}  // namespace morton::test
