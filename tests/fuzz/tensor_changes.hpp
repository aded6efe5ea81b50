// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "fuzz/random_values.hpp"

namespace onnx {
class TensorProto;
}

namespace morton::test {

/// Adds, removes or changes an extent. The bytes of a small tensor mostly follow.
void change_extent(onnx::TensorProto& tensor, RandomValues& random);
/// Changes an element in each of its fields that has any.
void change_numbers(onnx::TensorProto& tensor, RandomValues& random);
/// Says that its data lie in another file, or changes where they lie there.
void change_place(onnx::TensorProto& tensor, RandomValues& random);

}  // namespace morton::test
