// SPDX-License-Identifier: Apache-2.0
#include "source/vector_epilogue.hpp"

#include <algorithm>

#include "source/element.hpp"
#include "source/epilogue.hpp"
#include "source/own_functions.hpp"

namespace morton::source {
namespace {

/// Steps whose texts mean the same of vectors, lane by lane.
constexpr ScalarOp kOfVectors[] = {
    ScalarOp::add,         ScalarOp::sub,        ScalarOp::mul,         ScalarOp::div,
    ScalarOp::min,         ScalarOp::max,        ScalarOp::neg,         ScalarOp::abs,
    ScalarOp::floor,       ScalarOp::ceil,       ScalarOp::trunc,       ScalarOp::round,
    ScalarOp::sqrt,        ScalarOp::equal,      ScalarOp::less,        ScalarOp::less_equal,
    ScalarOp::logical_and, ScalarOp::logical_or, ScalarOp::logical_not, ScalarOp::is_nan,
    ScalarOp::is_inf,      ScalarOp::select};

bool is_of_vectors(ScalarOp op) {
  return std::ranges::find(kOfVectors, op) != std::end(kOfVectors) || own_function(op) != nullptr;
}

bool has_vectors(const TypedChain& chain) {
  const auto is_f32 = [](DType type) { return register_type(type) == DType::f32; };
  if (!std::ranges::all_of(chain.inputs(), is_f32) || !is_f32(chain.result_type())) return false;
  const auto& steps = chain.chain().steps;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const DType type = chain.step_type(i);
    if (!is_of_vectors(steps[i].op) || (!is_f32(type) && type != DType::boolean)) return false;
    for (std::size_t a = 0; a < steps[i].arguments.size(); ++a) {
      const DType argument = chain.argument_type(i, a);
      const bool is_truth =
          argument == DType::boolean && steps[i].arguments[a].kind == ScalarRef::Kind::step;
      if (!is_f32(argument) && !is_truth) return false;
    }
  }
  return true;
}

class VectorWriter {
 public:
  VectorWriter(const TypedChain& chain, const std::string& name, int lanes)
      : chain_(chain), name_(name), real_(lane_type(name)), lanes_(std::to_string(lanes)) {}

  std::string head() const {
    const std::string of = " __attribute__((ext_vector_type(" + lanes_ + "), aligned(4)));\n";
    return "typedef float " + real_ + of + "typedef int " + truth() + of;
  }

  std::string signature() const {
    std::string text = real_ + " " + name_ + "(" + real_ + " v";
    for (int i = 1; i < chain_.chain().input_count; ++i) {
      text += ", " + real_ + " s" + std::to_string(i);
    }
    return text + ") {\n";
  }

  /// Lane by lane, each by the function of numbers.
  std::string loop(const std::string& scalar) const {
    std::string call = scalar + "(v[l]";
    for (int i = 1; i < chain_.chain().input_count; ++i) {
      call += ", s" + std::to_string(i) + "[l]";
    }
    return signature() + "  " + real_ + " result = 0.0f;\n#pragma unroll\n  for (int l = 0; l < " +
           lanes_ + "; ++l) result[l] = " + call + ");\n  return result;\n}\n";
  }

  std::string body() {
    std::string text;
    const auto& steps = chain_.chain().steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const bool is_truth = chain_.step_type(i) == DType::boolean;
      text += "  const " + (is_truth ? truth() : real_) + " t" + std::to_string(i) + " = " +
              step(i) + ";\n";
    }
    const std::string result = reference(chain_.chain().result);
    return helpers_ + signature() + text + "  return " + result + ";\n}\n";
  }

 private:
  [[nodiscard]] std::string truth() const { return name_ + "_truths"; }

  std::string reference(const ScalarRef& ref) const {
    if (ref.kind == ScalarRef::Kind::step) return "t" + std::to_string(ref.index);
    if (ref.kind == ScalarRef::Kind::constant) {
      return "((" + real_ + ")" + literal_of(DType::f32, ref.value) + ")";
    }
    return ref.index == 0 ? "v" : "s" + std::to_string(ref.index);
  }

  std::string step(std::size_t i) {
    const ScalarStep& step = chain_.chain().steps[i];
    std::string pattern(facts_of(step.op).opencl);
    if (const OwnFunction* own = own_function(step.op)) {
      const std::string function = name_ + "_" + std::string(own->name);
      if (helpers_.find(" " + function + "(") == std::string::npos) {
        helpers_ += own_function_text(*own, function, {real_, truth(), lanes_});
      }
      pattern = function + "(%0)";
    }
    std::string text;
    for (std::size_t c = 0; c < pattern.size(); ++c) {
      if (pattern[c] != '%') {
        text += pattern[c];
        continue;
      }
      text += reference(step.arguments[static_cast<std::size_t>(pattern[++c] - '0')]);
    }
    return text;
  }

  const TypedChain& chain_;
  const std::string& name_;
  std::string real_;
  std::string lanes_;
  std::string helpers_;
};

}  // namespace

std::string lane_type(const std::string& function) { return function + "_lanes"; }

std::string vector_epilogue_function(const TypedChain& chain, const std::string& name,
                                     const std::string& scalar, int lanes) {
  VectorWriter writer(chain, name, lanes);
  return writer.head() + (has_vectors(chain) ? writer.body() : writer.loop(scalar));
}

}  // namespace morton::source
