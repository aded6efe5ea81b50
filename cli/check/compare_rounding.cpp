// SPDX-License-Identifier: Apache-2.0
#include "check/compare_rounding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/read_model.hpp"
#include "morton/session.hpp"

namespace morton::cli {

std::vector<RoundedOutput> rounding_of(const CompiledModel& rounded, const Model& model,
                                       CompileOptions options, const Subject& subject) {
  const std::vector<NamedTensor>& inputs = subject.inputs;
  if (!subject.expected.empty() || options.precision.operands == DType::f32) return {};
  options.precision = {};
  const CompiledModel exact = compile_model(model, rounded.device(), options);
  const std::vector<NamedTensor> right = Session(exact).run(inputs);
  const std::vector<NamedTensor> got = Session(rounded).run(inputs);
  std::vector<RoundedOutput> outputs;
  for (std::size_t i = 0; i < right.size(); ++i) {
    const Tensor& wanted = right[i].tensor;
    if (wanted.shape() != got[i].tensor.shape() || wanted.size() == 0) continue;
    RoundedOutput output{right[i].name};
    double sum = 0.0;
    double squares = 0.0;
    for (std::int64_t e = 0; e < wanted.size(); ++e) {
      const double value = wanted.at(e);
      const double difference = std::fabs(value - got[i].tensor.at(e));
      output.largest = std::max(output.largest, difference);
      sum += value;
      squares += value * value;
    }
    const auto count = static_cast<double>(wanted.size());
    output.deviation = std::sqrt(std::max(squares / count - sum / count * (sum / count), 0.0));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

std::string text_of(const std::vector<RoundedOutput>& outputs) {
  std::string text;
  for (const RoundedOutput& output : outputs) {
    text += fmt::format("rounding: '{}' differs from f32 by {:.3g} at most", output.name,
                        output.largest);
    if (output.deviation > 0.0) {
      text += fmt::format(", {:.2g} % of its standard deviation",
                          100.0 * output.largest / output.deviation);
    }
    text += "\n";
  }
  return text;
}

Json json_of(const std::vector<RoundedOutput>& outputs) {
  Json json = Json::array();
  for (const RoundedOutput& output : outputs) {
    json.push_back({{"name", output.name},
                    {"largest_difference", output.largest},
                    {"deviation", output.deviation}});
  }
  return json;
}

}  // namespace morton::cli
