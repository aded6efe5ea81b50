// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/algebra/slope_writer.hpp"

namespace morton {

/// The derivative of each primitive.
class SlopeRules {
 public:
  explicit SlopeRules(Chain& chain) : to_(chain) {}

  /// The slope of a step whose value is `result`, from its arguments' slopes.
  Slope of(const ScalarStep& step, ScalarRef result, const std::vector<Slope>& slopes);

 private:
  Slope unary(const ScalarStep& step, ScalarRef y, const Slope& slope);
  Slope circular(ScalarOp op, ScalarRef a, ScalarRef y, const Slope& slope);
  Slope other(ScalarOp op, const std::vector<ScalarRef>& v, ScalarRef y,
              const std::vector<Slope>& slopes);
  ScalarRef takes_first(ScalarOp op, const std::vector<ScalarRef>& v);
  Slope power_of_base(const std::vector<ScalarRef>& v, const Slope& slope);
  Slope power_of_exponent(const std::vector<ScalarRef>& v, ScalarRef y, const Slope& slope);

  SlopeWriter to_;
};

}  // namespace morton
