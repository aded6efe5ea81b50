// SPDX-License-Identifier: Apache-2.0
//
// 8-bit products, bit for bit those of gemmlowp: random shapes, zero points and output stages.
// Under ./dev check --long 10,000 of them.
#include <gtest/gtest.h>

#include "support/devices.hpp"
#include "support/long_run.hpp"
#include "support/rooms.hpp"

#if __has_include(<gemmlowp/public/gemmlowp.h>)
#include <gemmlowp/public/gemmlowp.h>

#include <limits>
#include <random>
#include <tuple>

#include "api/inside.hpp"
#include "morton/morton.hpp"
#include "ops/core/graph_writer.hpp"
#endif

namespace morton::test {
namespace {

class Gemmlowp : public test::DeviceTest {};
MORTON_ON_EVERY_DEVICE(Gemmlowp);

#if __has_include(<gemmlowp/public/gemmlowp.h>)

constexpr std::uint64_t kGemmlowpSeed = 1603;
constexpr int kGemmlowpCases = 10000;
/// Kernels are what takes long, so a share has few forms.
constexpr int kFormsOfShare = 8;
constexpr int kCasesOfForm = 10;

/// What tells the kernels of one case from those of another.
struct Form {
  DType a = DType::u8, b = DType::u8;
  enum class ZeroPoints { one, lines } zero_points = ZeroPoints::one;
  /// Nothing; a bias, a fixed-point multiplier and an exponent for all; the same with one for each
  /// column; gemmlowp's older whole multiplier.
  enum class Stage { none, fixed_point, fixed_point_columns, whole } stage = Stage::none;
  enum class Bias { rows, columns } bias = Bias::rows;
};

/// The forms in turn: 4 of types, 2 of zero points, 4 of stages, 2 of biases.
Form form_of(int number) {
  const int types = number % 4;
  return {types % 2 == 0 ? DType::u8 : DType::i8, types < 2 ? DType::u8 : DType::i8,
          static_cast<Form::ZeroPoints>(number / 4 % 2), static_cast<Form::Stage>(number / 8 % 4),
          static_cast<Form::Bias>(number / 32 % 2)};
}

/// The numbers of the cases to run.
std::vector<int> case_numbers() {
  std::vector<int> numbers;
  if (is_long_run()) {
    for (int number = 0; number < kGemmlowpCases; ++number) numbers.push_back(number);
    return numbers;
  }
  // Every ninth of the 64 forms has all types, zero points, stages and biases.
  for (int i = 0; i < kFormsOfShare * kCasesOfForm; ++i) {
    numbers.push_back(i % kFormsOfShare * 9 + i / kFormsOfShare * 640);
  }
  return numbers;
}

/// One case: everything in i32, bytes from 0 to 255.
struct Numbers {
  int m = 1, n = 1, k = 1;
  std::vector<std::int32_t> a, b, zero_a, zero_b, bias, multiplier, exponent;
  std::int32_t offset = 0, least = 0, most = 255;
};

class Draw {
 public:
  explicit Draw(int number) : generator_(kGemmlowpSeed + static_cast<std::uint64_t>(number)) {}

  Numbers of(const Form& form) {
    Numbers drawn;
    drawn.m = extent();
    drawn.n = extent();
    drawn.k = extent();
    const bool lines = form.zero_points == Form::ZeroPoints::lines;
    const bool whole = form.stage == Form::Stage::whole;
    const bool columns = form.stage == Form::Stage::fixed_point_columns;
    drawn.a = many(drawn.m * drawn.k, 0, 255);
    drawn.b = many(drawn.k * drawn.n, 0, 255);
    drawn.zero_a = many(lines ? drawn.m : 1, 0, 255);
    drawn.zero_b = many(lines ? drawn.n : 1, 0, 255);
    drawn.bias = many(form.bias == Form::Bias::rows ? drawn.m : drawn.n, -100000, 100000);
    for (int i = 0; i < (columns ? drawn.n : 1); ++i) {
      drawn.multiplier.push_back(whole ? one(-255, 255) : multiplier());
      drawn.exponent.push_back(whole ? one(-20, 0) : one(-14, 3));
    }
    drawn.offset = one(-20, 275);
    drawn.least = one(-10, 100);
    drawn.most = one(101, 265);
    return drawn;
  }

 private:
  std::int32_t one(std::int32_t least, std::int32_t most) {
    return std::uniform_int_distribution<std::int32_t>(least, most)(generator_);
  }
  int extent() {
    constexpr int kExtents[] = {1, 2, 3, 4, 5, 7, 8, 12, 13, 16, 17, 31, 33, 40};
    return kExtents[one(0, 13)];
  }
  /// Often a number of which products lie halfway between two results.
  std::int32_t multiplier() {
    constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
    const int kind = one(0, 9);
    if (kind == 0) return 1 << 30;
    if (kind == 1) return one(1, 7) << 28;
    return kind == 2 ? one(-kMost - 1, kMost) : one(1 << 30, kMost);
  }
  std::vector<std::int32_t> many(int count, std::int32_t least, std::int32_t most) {
    std::vector<std::int32_t> drawn;
    for (int i = 0; i < count; ++i) drawn.push_back(one(least, most));
    return drawn;
  }

  std::mt19937_64 generator_;
};

using Bytes = gemmlowp::MatrixMap<const std::uint8_t, gemmlowp::MapOrder::RowMajor>;
template <gemmlowp::VectorShape kShape>
using Words = gemmlowp::VectorMap<const std::int32_t, kShape>;
constexpr auto kColumn = gemmlowp::VectorShape::Col;  // a number for each row
constexpr auto kRow = gemmlowp::VectorShape::Row;

template <gemmlowp::VectorShape kShape>
Words<kShape> words(const std::vector<std::int32_t>& values) {
  return {values.data(), static_cast<int>(values.size())};
}

/// One number for each line, negative: gemmlowp adds its offsets.
std::vector<std::int32_t> offsets(const std::vector<std::int32_t>& zeros, int lines) {
  std::vector<std::int32_t> negative;
  for (int i = 0; i < lines; ++i) negative.push_back(-zeros[zeros.size() == 1 ? 0 : i]);
  return negative;
}

template <typename Result, typename Stages>
std::vector<std::int32_t> by_gemmlowp(const Numbers& of, const Stages& stages) {
  const std::vector<std::uint8_t> a(of.a.begin(), of.a.end());
  const std::vector<std::uint8_t> b(of.b.begin(), of.b.end());
  const auto of_rows = offsets(of.zero_a, of.m);
  const auto of_columns = offsets(of.zero_b, of.n);
  std::vector<Result> result(static_cast<std::size_t>(of.m * of.n));
  gemmlowp::MatrixMap<Result, gemmlowp::MapOrder::RowMajor> map(result.data(), of.m, of.n);
  gemmlowp::GemmContext context;
  context.set_max_num_threads(1);
  gemmlowp::GemmWithOutputPipelinePC<std::uint8_t, Result, gemmlowp::DefaultL8R8BitDepthParams>(
      &context, Bytes(a.data(), of.m, of.k), Bytes(b.data(), of.k, of.n), &map,
      words<kColumn>(of_rows), words<kRow>(of_columns), stages);
  return {result.begin(), result.end()};
}

/// The stages behind `bias`.
template <typename Bias>
std::vector<std::int32_t> with_stages(const Form& form, const Numbers& of, const Bias& bias) {
  const gemmlowp::OutputStageClamp clamp{of.least, of.most};
  const gemmlowp::OutputStageSaturatingCastToUint8 cast;
  if (form.stage == Form::Stage::fixed_point_columns) {
    const gemmlowp::OutputStageScaleInt32ByFixedPointAndExponentPC<kRow> scale{
        words<kRow>(of.multiplier), words<kRow>(of.exponent), of.offset};
    return by_gemmlowp<std::uint8_t>(of, std::make_tuple(bias, scale, clamp, cast));
  }
  if (form.stage == Form::Stage::fixed_point) {
    gemmlowp::OutputStageScaleInt32ByFixedPointAndExponent scale{};
    scale.result_fixedpoint_multiplier = of.multiplier[0];
    scale.result_exponent = of.exponent[0];
    scale.result_offset_after_shift = of.offset;
    return by_gemmlowp<std::uint8_t>(of, std::make_tuple(bias, scale, clamp, cast));
  }
  gemmlowp::OutputStageQuantizeDownInt32ToUint8Scale scale{};
  scale.result_offset = of.offset;
  scale.result_mult_int = of.multiplier[0];
  scale.result_shift = -of.exponent[0];
  return by_gemmlowp<std::uint8_t>(of, std::make_tuple(bias, scale, clamp, cast));
}

std::vector<std::int32_t> expected_of(const Form& form, const Numbers& of) {
  if (form.stage == Form::Stage::none) return by_gemmlowp<std::int32_t>(of, std::make_tuple());
  if (form.bias == Form::Bias::rows) {
    return with_stages(form, of,
                       gemmlowp::OutputStageBiasAddition<Words<kColumn>>{words<kColumn>(of.bias)});
  }
  return with_stages(form, of,
                     gemmlowp::OutputStageBiasAddition<Words<kRow>>{words<kRow>(of.bias)});
}

/// The same as a graph of Morton's, whose numbers are all given at each run.
class StagesGraph {
 public:
  StagesGraph(const Form& form, const Numbers& of) : form_(form), of_(of), to_(graph, "g") {
    graph.name = "gemmlowp";
    const TensorId a = bytes("a", form.a, {of.m, of.k}, of.a);
    const TensorId b = bytes("b", form.b, {of.k, of.n}, of.b);
    const TensorId zero_a = bytes("zero_a", form.a, line(of.zero_a), of.zero_a);
    const TensorId zero_b = bytes("zero_b", form.b, line(of.zero_b), of.zero_b);
    TensorId y = to_.add("MatMulInteger", {a, b, zero_a, zero_b});
    if (form.stage != Form::Stage::none) y = stages(y);
    graph.outputs = {y};
  }

  Graph graph;
  std::vector<NamedTensor> inputs;

 private:
  static Shape line(const std::vector<std::int32_t>& values) {
    return {static_cast<std::int64_t>(values.size())};
  }

  TensorId given(const std::string& name, DType type, const Shape& shape,
                 const std::vector<std::int32_t>& values, std::int32_t shift) {
    Tensor tensor = Tensor::allocate(type, shape);
    for (std::size_t i = 0; i < values.size(); ++i) {
      tensor.set(static_cast<std::int64_t>(i), values[i] - shift);
    }
    GraphTensor input;
    input.name = name;
    input.dtype = type;
    input.kind = GraphTensor::Kind::input;
    input.shape = shape;
    for (const std::int64_t extent : shape) input.declared.push_back({extent, ""});
    inputs.push_back({name, std::move(tensor)});
    graph.inputs.push_back(graph.add_tensor(std::move(input)));
    return graph.inputs.back();
  }

  /// Of i8 all bytes are 128 less, zero points too: the sums stay the same.
  TensorId bytes(const std::string& name, DType type, const Shape& shape,
                 const std::vector<std::int32_t>& values) {
    return given(name, type, shape, values, type == DType::i8 ? 128 : 0);
  }

  TensorId word(const std::string& name, std::int32_t value) {
    return given(name, DType::i32, {1}, {value}, 0);
  }

  TensorId fixed_point(TensorId y) {
    std::vector<std::int32_t> left, right;
    for (const std::int32_t exponent : of_.exponent) {
      left.push_back(1 << std::max(exponent, 0));
      right.push_back(std::max(-exponent, 0));
    }
    const Shape shape = line(left);
    y = to_.add("Mul", {y, given("left", DType::i32, shape, left, 0)});
    y = to_.add("DoublingHighMul", {y, given("multiplier", DType::i32, shape, of_.multiplier, 0)});
    y = to_.add("RoundingShift", {y, given("right", DType::i32, shape, right, 0)});
    return to_.add("Add", {y, word("offset", of_.offset)});
  }

  TensorId whole(TensorId y) {
    y = to_.add("Add", {y, word("offset", of_.offset)});
    y = to_.add("Mul", {y, word("multiplier", of_.multiplier[0])});
    return to_.add("RoundingShift", {y, word("right", -of_.exponent[0])});
  }

  TensorId stages(TensorId y) {
    Shape shape = line(of_.bias);
    if (form_.bias == Form::Bias::rows) shape.push_back(1);
    y = to_.add("Add", {y, given("bias", DType::i32, shape, of_.bias, 0)});
    y = form_.stage == Form::Stage::whole ? whole(y) : fixed_point(y);
    y = to_.add("Clip", {y, word("least", of_.least), word("most", of_.most)});
    y = to_.add("Clip", {y, constant(0), constant(255)});
    return to_.add("Cast", {y}, {{"to", std::int64_t{2}}});
  }

  TensorId constant(std::int32_t value) {
    Tensor tensor = Tensor::allocate(DType::i32, {});
    tensor.set(0, value);
    return to_.constant(std::move(tensor));
  }

  const Form& form_;
  const Numbers& of_;
  GraphWriter to_;
};

TEST_P(Gemmlowp, ResultsAreBitForBitTheSame) {
  const Device device = Inside::make(shared_device());
  int different = 0;
  for (const int number : case_numbers()) {
    if (different == 5) break;
    const Form form = form_of(number);
    const Numbers numbers = Draw(number).of(form);
    StagesGraph made(form, numbers);
    Session session(compile(Inside::make(std::move(made.graph)), device, {}));
    const Tensor got = session.run(made.inputs).front().tensor;
    const auto expected = expected_of(form, numbers);
    for (std::int64_t i = 0; i < got.size(); ++i) {
      if (got.at(i) == expected[static_cast<std::size_t>(i)]) continue;
      ADD_FAILURE() << "case " << number << " (seed " << kGemmlowpSeed << "), " << numbers.m << "x"
                    << numbers.k << "x" << numbers.n << ", element " << i << ": " << got.at(i)
                    << ", of gemmlowp " << expected[static_cast<std::size_t>(i)];
      ++different;
      break;
    }
  }
}

/// Every pair of the ends of i32 and what lies beside them, and exponents from 0 to 31.
TEST_P(Gemmlowp, FixedPointOperatorsAreRightAtTheEnds) {
  constexpr auto kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr auto kMost = std::numeric_limits<std::int32_t>::max();
  const std::vector<std::int32_t> ends{
      kLeast, kLeast + 1, -(1 << 30) - 1, -(1 << 30), -(1 << 30) + 1, -65537,    -3,   -2, -1, 0, 1,
      2,      3,          32768,          65535,      1 << 30,        kMost - 1, kMost};
  const auto count = static_cast<std::int64_t>(ends.size());
  Graph graph;
  graph.name = "ends";
  std::vector<NamedTensor> inputs;
  const auto given = [&](const std::string& name, const Shape& shape, auto value_at) {
    Tensor tensor = Tensor::allocate(DType::i32, shape);
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      tensor.set(i, static_cast<double>(value_at(i)));
    }
    GraphTensor input{name, DType::i32, GraphTensor::Kind::input};
    input.shape = shape;
    for (const std::int64_t extent : shape) input.declared.push_back({extent, ""});
    inputs.push_back({name, tensor});
    graph.inputs.push_back(graph.add_tensor(std::move(input)));
    return graph.inputs.back();
  };
  const auto end = [&](std::int64_t i) { return ends[static_cast<std::size_t>(i)]; };
  const TensorId column = given("x", {count, 1}, end);
  const TensorId row = given("y", {count}, end);
  const TensorId exponents = given("e", {32}, [](std::int64_t i) { return i; });
  GraphWriter to(graph, "g");
  graph.outputs = {to.add("DoublingHighMul", {column, row}),
                   to.add("RoundingShift", {column, exponents})};
  Session session(compile(Inside::make(std::move(graph)), Inside::make(shared_device()), {}));
  const auto got = session.run(inputs);
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::int64_t j = 0; j < count; ++j) {
      EXPECT_EQ(got[0].tensor.at(i * count + j),
                gemmlowp::SaturatingRoundingDoublingHighMul(end(i), end(j)))
          << end(i) << " and " << end(j);
    }
    for (int e = 0; e < 32; ++e) {
      EXPECT_EQ(got[1].tensor.at(i * 32 + e), gemmlowp::RoundingDivideByPOT(end(i), e))
          << end(i) << " by 2^" << e;
    }
  }
}

#else

TEST_P(Gemmlowp, ResultsAreBitForBitTheSame) {
  GTEST_SKIP() << "built without gemmlowp (libgemmlowp-dev)";
}

#endif

}  // namespace
}  // namespace morton::test
