// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "morton/tensor.hpp"
#include "support/rooms.hpp"

namespace morton::test {

/// An input of a case.
struct CaseInput {
  enum class Kind : std::uint8_t {
    given,     ///< passed at each run
    constant,  ///< part of the graph, random like the given ones
    list,      ///< a constant of i64, `values`
    number,    ///< a constant scalar, `value`
    absent,
  } kind = Kind::given;
  Shape shape;
  std::vector<std::int64_t> values;
  double value = 0.0;
  /// Random integers are the 256 values of a byte, with or without a sign, whatever the kind of
  /// data.
  DType dtype = DType::f32;
};

/// An operator behind the first one: its first input is the result so far.
struct CaseStep {
  std::string op;
  std::vector<CaseInput> more_inputs;
  std::map<std::string, Attribute> attributes;
};

/// One line of tests/cases/<operator>.cases; README.md there explains the format.
struct OperatorCase {
  std::string op;     ///< ONNX's name
  std::string name;   ///< unique in its file: letters, digits, _
  std::string where;  ///< "gemm.cases:12"
  std::vector<CaseInput> inputs;
  std::map<std::string, Attribute> attributes;
  std::vector<CaseStep> then;
  std::int64_t output = 0;  ///< of the operator: the one that `then` and the test look at
  std::int64_t opset = 13;
  bool small = false;  ///< at most 20,000 multiplications: fit for Oclgrind
};

/// Test data.
enum class DataKind : std::uint8_t {
  integers,   ///< whole numbers from -8 to 8
  zero_mean,  ///< from -1 to 1
  same_sign,  ///< from 0 to 1, as pixels are
};

/// One line. Throws ModelError that starts with `where`.
[[nodiscard]] OperatorCase parse_case(const std::string& op, const std::string& line,
                                      const std::string& where);

/// The cases of one file. Throws ModelError that names file and line.
[[nodiscard]] std::vector<OperatorCase> read_cases(const std::filesystem::path& file);

/// The cases of every operator in ops.def, from `folder`.
[[nodiscard]] std::vector<OperatorCase> all_cases(const std::filesystem::path& folder);

/// The case as a graph with inferred shapes, each operator a node of its own (run the passes to
/// fuse them). Given inputs are x0, x1, ...; the output is y. Constants depend on `seed` and
/// `kind`.
[[nodiscard]] Graph make_graph(const OperatorCase& test, std::uint64_t seed, DataKind kind);

/// Values for all inputs of that graph.
[[nodiscard]] std::vector<NamedTensor> make_inputs(const OperatorCase& test, std::uint64_t seed,
                                                   DataKind kind);

/// Whether f32 computes the case without rounding when the data are `integers`, in any order of
/// summation: a device's result must then equal the reference.
[[nodiscard]] bool is_exact_on_integers(const OperatorCase& test);

/// Multiplications of the case's products and windows; elements of the result for other operators.
[[nodiscard]] std::int64_t work_of(const OperatorCase& test);

/// "gemm.cases:12 Gemm odd_1_3_17".
[[nodiscard]] std::string describe(const OperatorCase& test);

}  // namespace morton::test
