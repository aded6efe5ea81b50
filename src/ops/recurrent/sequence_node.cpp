// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/sequence_node.hpp"

#include "ops/composed/writing.hpp"

namespace morton::ops {
namespace {

SequenceCell cell_named(const NodeView& node, const std::string& name) {
  if (name == "tanh") return SequenceCell::tanh;
  if (name == "relu") return SequenceCell::relu;
  if (name == "gru") return SequenceCell::gru;
  if (name == "gru_behind") return SequenceCell::gru_behind;
  if (name == "lstm") return SequenceCell::lstm;
  node.fail("its cell '" + name + "' is unknown; expected tanh, relu, gru, gru_behind or lstm");
}

}  // namespace

TensorId present_steps(GraphWriter& writer, TensorId lengths, std::int64_t steps, DType type) {
  const std::int64_t sequences = writer.shape_of(lengths)[0];
  Chain chain;
  chain.input_count = 2;
  const ScalarRef is_there =
      chain.append(ScalarOp::less, {ScalarRef::input(1), ScalarRef::input(0)});
  chain.append_conversion(ScalarOp::cast, is_there, type);
  const TensorId spread =
      writer.expanded(writer.reshaped(lengths, {1, sequences, 1}), {steps, sequences, 1});
  return writer.chain(chain, {spread, writer.numbered(0, {steps, 1, 1})});
}

TensorId chosen(GraphWriter& writer, TensorId mask, TensorId value, TensorId otherwise) {
  Chain chain;
  chain.input_count = 3;
  const ScalarRef is_present =
      chain.append(ScalarOp::less, {ScalarRef::constant(0.5), ScalarRef::input(1)});
  const bool has_other = otherwise != kNoTensor;
  chain.append(ScalarOp::select, {is_present, ScalarRef::input(0),
                                  has_other ? ScalarRef::input(2) : ScalarRef::constant(0.0)});
  return writer.chain(chain, {value, mask, has_other ? otherwise : value});
}

RecurrentSequence recurrent_sequence_of(const NodeView& node) {
  RecurrentSequence made;
  made.structure.cell = cell_named(node, node.text("cell", ""));
  made.structure.from = node.flag("reverse", 0) ? problems::RecurrenceStructure::From::back
                                                : problems::RecurrenceStructure::From::front;
  require_rank(node, kSums, 4, "the sums");
  const Shape sums = node.input(kSums).shape;
  made.steps = sums[0];
  made.sequences = sums[1];
  made.gates = made.structure.gates();
  made.units = sums[3];
  const std::int64_t parts = made.structure.states();
  require_shape(node, kSums, {sums[0], sums[1], made.gates, sums[3]}, "the sums");
  require_shape(node, kWeights, {made.gates, made.units, made.units}, "the weights");
  require_shape(node, kGateBias, {made.gates, made.units}, "the bias");
  require_shape(node, kFirst, {parts, made.sequences, made.units}, "the first states");
  require_shape(node, kSequenceLengths, {made.sequences}, "the lengths");
  return made;
}

}  // namespace morton::ops
