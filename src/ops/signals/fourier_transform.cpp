// SPDX-License-Identifier: Apache-2.0
#include "ops/signals/fourier_transform.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

namespace morton::ops {
namespace {

/// Transforms of more numbers are split where they have factors.
constexpr std::int64_t kLongestProduct = 256;
/// Without factors a product still pays up to here.
constexpr std::int64_t kLongestPrime = 512;

using Complex = std::complex<double>;
using Direction = Fourier::Direction;

/// exp(-2 pi i k / n), or of +: exact where it is.
Complex root_of_unity(std::int64_t k, std::int64_t n, Direction direction) {
  const double part = static_cast<double>(k % n) / static_cast<double>(n);
  const double angle = (direction == Direction::forward ? -2.0 : 2.0) * std::numbers::pi * part;
  return {std::cos(angle), std::sin(angle)};
}

std::int64_t product_modulo(std::int64_t a, std::int64_t b, std::int64_t n) {
  return (a % n) * (b % n) % n;
}

/// rows x numbers x parts, of whatever was given.
struct Rows {
  TensorId value;
  std::int64_t rows, numbers, parts;
};

Rows rows_of(const GraphWriter& writer, TensorId value) {
  const Shape& shape = writer.shape_of(value);
  return {value, shape[0], shape[1], shape[2]};
}

TensorId cut_or_filled(GraphWriter& writer, TensorId value, std::int64_t length) {
  const Rows given = rows_of(writer, value);
  if (given.numbers == length) return value;
  return writer.padded(value, {0, 0, 0}, {0, length - given.numbers, 0});
}

/// The transform, times `scale`, as a product: each row, parts side by side, times a matrix.
TensorId by_product(GraphWriter& writer, TensorId value, const Fourier& fourier, double scale) {
  const std::int64_t n = fourier.length;
  const bool half = fourier.part == Fourier::Part::half;
  const bool to_real = half && fourier.direction == Direction::inverse;
  const std::int64_t most = to_real ? n / 2 + 1 : n;
  if (rows_of(writer, value).numbers > most) value = cut_or_filled(writer, value, most);
  const Rows given = rows_of(writer, value);
  const std::int64_t results = half && !to_real ? n / 2 + 1 : n;
  const std::int64_t parts = to_real ? 1 : 2;
  Tensor matrix =
      Tensor::allocate(writer.type_of(value), {given.numbers * given.parts, results * parts});
  for (std::int64_t i = 0; i < given.numbers; ++i) {
    // Of a half each number but the first, and the middle one, stands for its mirror image too.
    const double weight = to_real && i > 0 && 2 * i != n ? 2.0 * scale : scale;
    for (std::int64_t k = 0; k < results; ++k) {
      const Complex root = weight * root_of_unity(product_modulo(i, k, n), n, fourier.direction);
      for (std::int64_t part = 0; part < given.parts; ++part) {
        const Complex term = part == 0 ? root : Complex(-root.imag(), root.real());
        const std::int64_t row = (i * given.parts + part) * results * parts + k * parts;
        matrix.set(row, term.real());
        if (parts == 2) matrix.set(row + 1, term.imag());
      }
    }
  }
  const TensorId flat = writer.reshaped(value, {given.rows, given.numbers * given.parts});
  const TensorId product = writer.add("MatMul", {flat, writer.constant(std::move(matrix))});
  return writer.reshaped(product, {given.rows, results, parts});
}

/// `value`, (others) x 2, times complex constants, which broadcast to it.
TensorId times(GraphWriter& writer, TensorId value, const Shape& shape,
               const std::vector<Complex>& factors) {
  Shape with_parts = shape;
  with_parts.push_back(2);
  Shape single = shape;
  single.push_back(1);
  Tensor real = Tensor::allocate(writer.type_of(value), single);
  Tensor imaginary = Tensor::allocate(writer.type_of(value), with_parts);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    real.set(at, factors[i].real());
    imaginary.set(2 * at, -factors[i].imag());
    imaginary.set(2 * at + 1, factors[i].imag());
  }
  const auto last = static_cast<std::int64_t>(writer.shape_of(value).size()) - 1;
  const TensorId swapped = writer.add("Gather", {value, writer.list({1, 0})}, {{"axis", last}});
  Chain chain;
  chain.input_count = 4;
  const ScalarRef direct = chain.append(ScalarOp::mul, {ScalarRef::input(0), ScalarRef::input(1)});
  const ScalarRef crossed = chain.append(ScalarOp::mul, {ScalarRef::input(2), ScalarRef::input(3)});
  chain.append(ScalarOp::add, {direct, crossed});
  return writer.chain(chain, {value, writer.constant(std::move(real)), swapped,
                              writer.constant(std::move(imaginary))});
}

TensorId complex_transform(GraphWriter& writer, TensorId value, std::int64_t n,
                           Direction direction);

/// n = first * second. Element n2 + second * n1 of a row goes into transform n2 of `first` numbers.
TensorId by_factors(GraphWriter& writer, TensorId value, std::int64_t first, std::int64_t second,
                    Direction direction) {
  const Rows given = rows_of(writer, value);
  const std::int64_t n = first * second;
  TensorId part = writer.reshaped(value, {given.rows, first, second, given.parts});
  part = writer.transposed(part, {0, 2, 1, 3});
  part = writer.reshaped(part, {given.rows * second, first, given.parts});
  part = complex_transform(writer, part, first, direction);
  part = writer.reshaped(part, {given.rows, second, first, 2});
  std::vector<Complex> turns;
  for (std::int64_t n2 = 0; n2 < second; ++n2) {
    for (std::int64_t k1 = 0; k1 < first; ++k1) {
      turns.push_back(root_of_unity(n2 * k1, n, direction));
    }
  }
  part = times(writer, part, {second, first}, turns);
  part = writer.reshaped(writer.transposed(part, {0, 2, 1, 3}), {given.rows * first, second, 2});
  part = complex_transform(writer, part, second, direction);
  part = writer.reshaped(part, {given.rows, first, second, 2});
  return writer.reshaped(writer.transposed(part, {0, 2, 1, 3}), {given.rows, n, 2});
}

/// The forward transform of 2^i numbers, on the host: radix 2, in place after the order of reversed
/// bits.
void transform_on_host(std::vector<Complex>& values) {
  for (std::size_t i = 1, j = 0; i < values.size(); ++i) {
    std::size_t bit = values.size() / 2;
    for (; (j & bit) != 0; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(values[i], values[j]);
  }
  for (std::size_t size = 2; size <= values.size(); size *= 2) {
    for (std::size_t start = 0; start < values.size(); start += size) {
      for (std::size_t k = 0; k < size / 2; ++k) {
        const Complex turned = values[start + k + size / 2] *
                               root_of_unity(static_cast<std::int64_t>(k),
                                             static_cast<std::int64_t>(size), Direction::forward);
        values[start + k + size / 2] = values[start + k] - turned;
        values[start + k] += turned;
      }
    }
  }
}

/// n k = (n^2 + k^2 - (k - n)^2) / 2: a convolution with a chirp, which longer transforms compute.
TensorId by_chirp(GraphWriter& writer, TensorId value, std::int64_t n, Direction direction) {
  std::int64_t length = 1;
  while (length < 2 * n - 1) length *= 2;
  std::vector<Complex> chirp;
  for (std::int64_t k = 0; k < n; ++k) {
    chirp.push_back(root_of_unity(product_modulo(k, k, 2 * n), 2 * n, direction));
  }
  if (rows_of(writer, value).parts == 1) {
    value = writer.padded(value, {0, 0, 0}, {0, 0, 1});
  }
  TensorId part = times(writer, value, {n}, chirp);
  part = complex_transform(writer, cut_or_filled(writer, part, length), length, Direction::forward);
  // The transform of the conjugate chirp, which lies on both sides of 0.
  std::vector<Complex> around(static_cast<std::size_t>(length));
  for (std::size_t k = 0; k < chirp.size(); ++k) {
    around[k] = std::conj(chirp[k]);
    if (k > 0) around[around.size() - k] = std::conj(chirp[k]);
  }
  transform_on_host(around);
  for (Complex& factor : around) factor /= static_cast<double>(length);
  part = times(writer, part, {length}, around);
  part = complex_transform(writer, part, length, Direction::inverse);
  return times(writer, cut_or_filled(writer, part, n), {n}, chirp);
}

/// The factor nearest to the root, from below; 1 where there is none.
std::int64_t factor_of(std::int64_t n) {
  auto factor = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
  while (factor > 1 && n % factor != 0) --factor;
  return std::max<std::int64_t>(factor, 1);
}

/// Without the division by n of an inverse transform.
TensorId complex_transform(GraphWriter& writer, TensorId value, std::int64_t n,
                           Direction direction) {
  const std::int64_t factor = n <= kLongestProduct ? 1 : factor_of(n);
  if (factor > 1) return by_factors(writer, value, factor, n / factor, direction);
  if (n > kLongestPrime) return by_chirp(writer, value, n, direction);
  return by_product(writer, value, {n, direction}, 1.0);
}

/// The numbers behind the middle are the conjugates of those before it.
TensorId from_half(GraphWriter& writer, TensorId value, std::int64_t n) {
  value = cut_or_filled(writer, value, n / 2 + 1);
  std::vector<std::int64_t> places;
  std::vector<double> signs;
  for (std::int64_t k = 0; k < n; ++k) {
    const bool mirrored = k > n / 2;
    places.push_back(mirrored ? n - k : k);
    signs.push_back(1.0);
    signs.push_back(mirrored ? -1.0 : 1.0);
  }
  const TensorId whole =
      writer.add("Gather", {value, writer.list(places)}, {{"axis", std::int64_t{1}}});
  Tensor factors = Tensor::allocate(writer.type_of(value), {n, 2});
  for (std::size_t i = 0; i < signs.size(); ++i) {
    factors.set(static_cast<std::int64_t>(i), signs[i]);
  }
  return writer.apply(ScalarOp::mul, {whole, writer.constant(std::move(factors))});
}

}  // namespace

TensorId transformed(GraphWriter& writer, TensorId value, const Fourier& fourier) {
  const std::int64_t n = fourier.length;
  const bool half = fourier.part == Fourier::Part::half;
  const bool inverse = fourier.direction == Direction::inverse;
  const bool is_prime = n > kLongestProduct && factor_of(n) == 1;
  if (n <= (half ? 2 : 1) * kLongestProduct || (is_prime && n <= kLongestPrime)) {
    return by_product(writer, value, fourier, inverse ? 1.0 / static_cast<double>(n) : 1.0);
  }
  if (half && inverse) {
    if (rows_of(writer, value).parts == 1) value = writer.padded(value, {0, 0, 0}, {0, 0, 1});
    value = from_half(writer, value, n);
  } else {
    value = cut_or_filled(writer, value, n);
  }
  value = complex_transform(writer, value, n, fourier.direction);
  if (inverse) value = writer.scaled(value, 1.0 / static_cast<double>(n));
  const std::int64_t rows = writer.shape_of(value)[0];
  if (!half) return value;
  if (inverse) return writer.sliced(value, {0, 0, 0}, {rows, n, 1}, {1, 1, 1});
  return writer.sliced(value, {0, 0, 0}, {rows, n / 2 + 1, 2}, {1, 1, 1});
}

}  // namespace morton::ops
