// SPDX-License-Identifier: Apache-2.0
#include "source/own_functions.hpp"

#include <algorithm>
#include <array>

namespace morton::source {
namespace {

/// %q of a body: (exp(r) - 1 - r) / r^2 for r within half of ln 2, to a relative error of 5e-9.
constexpr std::string_view kExpSeries = R"(  %f q = 0.00138144672f;
  q = q * r + 0.00836878084f;
  q = q * r + 0.0416683927f;
  q = q * r + 0.166665196f;
  q = q * r + 0.49999994f;
)";

/// Up to 0.625 an odd polynomial, beyond 1 - 2 / (exp(2a) + 1), where exp is 2^n * (1 + r + r^2
/// q(r)); at 9.1 the result has become 1. Both polynomials are fitted for the least largest
/// relative error, 5e-9. The result is within 1.4 units of the last place, and within 3.4 where a
/// division has the 2.5 that OpenCL allows it. A NaN stays one, and a zero keeps its sign.
constexpr std::string_view kTanh = R"(  const %f most = 9.1f;
  const %f a = fabs(x) > most ? most : fabs(x);
  const %f z = a * a;
  %f p = -0.00570498640f;
  p = p * z + 0.0206390861f;
  p = p * z - 0.0537397154f;
  p = p * z + 0.133314416f;
  p = p * z - 0.333332807f;
  const %f small = a + a * z * p;
  const %f k = a * 2.88539008f + 12582912.0f;
  const %f n = k - 12582912.0f;
  const %f r = 2.0f * a - n * 0.693359375f + n * 2.12194440e-4f;
%q  const %f e = (q * r * r + r + 1.0f) * as_float%n((as_int%n(k) << 23) + 0x3f800000);
  const %f large = 1.0f - 2.0f / (e + 1.0f);
  return copysign(a < 0.625f ? small : large, x);
)";

/// 2^n * (1 + r + r^2 q(r)), as above. The power is two factors, so that results overflow where
/// they should. What would be subnormal is zero: such numbers take a processor 100 cycles.
/// Within 1.1 units of the last place; a NaN stays one.
constexpr std::string_view kExp = R"(  const %f most = 89.0f;
  const %f least = -87.33654f;
  const %f none = 0.0f;
  const %f b = x > most ? most : x;
  const %f a = b < least ? least : b;
  const %f k = a * 1.44269504f + 12582912.0f;
  const %f n = k - 12582912.0f;
  const %f r = a - n * 0.693359375f + n * 2.12194440e-4f;
%q  const %i power = as_int%n(k) - 0x4b400000;
  const %i low = power >> 1;
  const %i high = power - low;
  const %f value =
      (q * r * r + r + 1.0f) * as_float%n((low + 127) << 23) * as_float%n((high + 127) << 23);
  return x < least ? none : value;
)";

/// Up to 0.92 an odd polynomial, beyond 1 - exp(-d), where d is a polynomial too; at 4 the result
/// has become 1. Both are fitted for the least largest relative error of the result, 2e-8. Within
/// 1.5 units of the last place; a NaN stays one.
constexpr std::string_view kErf = R"(  const %f most = 4.0f;
  const %f size = fabs(x);
  const %f t = size > most ? most : size;
  const %f s = t * t;
  %f p = -0.00059079187f;
  p = p * s + 0.00497682393f;
  p = p * s - 0.0267554317f;
  p = p * s + 0.112815075f;
  p = p * s - 0.37612465f;
  p = p * s + 0.128379151f;
  const %f small = x + x * p;
  %f d = -0.000198221271f;
  d = d * t + 0.003065506f;
  d = d * t - 0.0223152749f;
  d = d * t + 0.104113802f;
  d = d * t + 0.636975944f;
  d = d * t + 1.12779737f;
  d = d * t + 0.000166427722f;
  const %f k = 12582912.0f - d * 1.44269504f;
  const %f n = k - 12582912.0f;
  const %f r = n * 2.12194440e-4f - n * 0.693359375f - d;
%q  const %f e = (q * r * r + r + 1.0f) * as_float%n((as_int%n(k) << 23) + 0x3f800000);
  return t < 0.92f ? small : copysign(1.0f - e, x);
)";

constexpr std::array<OwnFunction, 3> kOwnFunctions{{
    {ScalarOp::tanh, "tanh", kTanh},
    {ScalarOp::exp, "exp", kExp},
    {ScalarOp::erf, "erf", kErf},
}};

std::string filled(std::string_view body, const OwnFunctionTypes& types) {
  std::string text;
  for (std::size_t c = 0; c < body.size(); ++c) {
    if (body[c] != '%') {
      text += body[c];
      continue;
    }
    switch (body[++c]) {
      case 'f':
        text += types.real;
        break;
      case 'i':
        text += types.whole;
        break;
      case 'n':
        text += types.suffix;
        break;
      default:
        text += filled(kExpSeries, types);
    }
  }
  return text;
}

}  // namespace

const OwnFunction* own_function(ScalarOp op) {
  const auto* found = std::ranges::find(kOwnFunctions, op, &OwnFunction::op);
  return found == kOwnFunctions.end() ? nullptr : found;
}

std::string own_function_text(const OwnFunction& function, const std::string& as,
                              const OwnFunctionTypes& types) {
  return types.real + " " + as + "(" + types.real + " x) {\n" + filled(function.body, types) +
         "}\n";
}

}  // namespace morton::source
