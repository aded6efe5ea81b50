// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/rooms.hpp"
#include "passes/pipeline.hpp"

namespace morton::passes {

/// The passes; each returns how many things it changed. Their order is that of pipeline.cpp.

/// Gives every input its shape from `options`: the one that is given for it. An open extent of
/// other inputs has one value wherever its name stands; an open first extent is the batch. Throws
/// UsageError where the options contradict the model or leave an extent open, naming the input and
/// the option (--batch, --shape) to give. Lists and optional values among the inputs become tensors
/// before (list_inputs.hpp), and throw what that throws.
int bind_shapes(Graph& graph, const PassOptions& options);

/// What a user should know of the shapes that are given: open extents of one name that have two
/// values. Each input has the shape that is given for it. Throws what bind_shapes throws.
[[nodiscard]] std::vector<Message> notes_on_shapes(Graph graph, const PassOptions& options);

/// Open extents of inputs, and those of outputs that have their names, become the numbers that
/// `options` gives; others stay open. Notes as `notes_on_shapes` has them. Throws UsageError where
/// the options contradict the model.
std::vector<Message> fix_extents(Graph& graph, const PassOptions& options);

/// Gives every activation its type and shape. What shapes follow from is computed on the way and
/// becomes constants (Shape, and the arithmetic behind it; ops/core/planned.hpp).
/// Throws what `infer` throws, and UsageError for values that do not fit the inputs.
int infer_shapes(Graph& graph, const PassOptions& options);

/// Makes inputs states that outputs renew: PassOptions::feeds. Such an output is none any more.
/// Shapes must be known. Throws UsageError for names that the model has not, and ports that are not
/// alike.
int feed_states(Graph& graph, const PassOptions& options);

/// Conv, Gemm and MatMul of what DequantizeLinear makes of codes of 8 bits, the second constant,
/// become those of the codes (ConvInteger, MatMulInteger): sums are whole numbers and exact, the
/// scales are multiplied behind. A Conv whose result becomes codes at once, with or without a Relu
/// between, becomes QLinearConv, where its bias has the steps of the sums. Types and shapes must be
/// known.
int compute_in_codes(Graph& graph, const PassOptions& options);

/// MatMul and Gemm with constant weights behind a DequantizeLinear of 8, 4 or 2 bits, and
/// MatMulNBits, become products that read the codes (CodedMatMul): the weights never become f32 in
/// memory. Weights of fewer than 65,536 numbers are left out. Types and shapes must be known.
int keep_codes(Graph& graph, const PassOptions& options);

/// Writes out the nodes that are composed of others (Operator::expand), until none is left. Types
/// and shapes must be known. Throws what `infer` throws.
int expand_composites(Graph& graph, const PassOptions& options);

/// Computes nodes whose inputs are all constants, on the host, in double, rounded once to the
/// result's type.
/// Results above 64 MiB or 2^24 elements and outputs of the graph stay as they are.
int fold_constants(Graph& graph, const PassOptions& options);

/// Makes 8-bit products with zero points (MatMulInteger, QLinearMatMul) products without. The sums
/// of rows and columns that zero points are multiplied with become nodes of their own. What they
/// change in a result, and QLinearMatMul's requantisation, become the product's epilogue. Types and
/// shapes must be known. Throws what `infer` throws.
int expand_integer_products(Graph& graph, const PassOptions& options);

/// Removes nodes that give their input back: Identity and Dropout in inference, a Cast to the same
/// type, a Reshape or an Expand to the same shape, a Transpose or a Pad that moves nothing, a
/// Concat of one tensor. Between an input or constant and an output of the graph one must stay.
int remove_identities(Graph& graph, const PassOptions& options);

/// Nodes of the same operator, attributes and inputs become one, and so do small constants of the
/// same value.
int merge_equal_nodes(Graph& graph, const PassOptions& options);

/// Elementwise nodes that read what an Expand spreads read what it spreads from, where their
/// results keep their shapes: they broadcast it themselves. Shapes must be known.
int fold_expands(Graph& graph, const PassOptions& options);

/// Two Transposes in a row become one, or none; each moves behind elementwise nodes so that it may
/// meet its inverse, where fewer are left then. Shapes must be known.
int eliminate_transposes(Graph& graph, const PassOptions& options);

/// A Pad with a constant around an image becomes the padding of the Conv, AveragePool or MaxPool
/// behind it, where that computes the same: zeros for Conv; zeros for AveragePool, which then
/// counts them; for MaxPool what can be no maximum. Shapes must be known.
int fold_pads(Graph& graph, const PassOptions& options);

/// BatchNormalization with constant parameters goes into the weights and biases of the Conv,
/// ConvTranspose or Gemm before it, or of a Conv without padding behind it; else it becomes a Mul
/// and an Add, which fusion puts behind what stands before. Computed in double, rounded once to
/// f32.
int fold_batch_norms(Graph& graph, const PassOptions& options);

/// A Mul of a single image by one computed number for each channel (squeeze and excitation) becomes
/// a Mul of the weights of the Conv behind it, where these are constants and fewer than half of the
/// image's elements. Shapes must be known.
int fold_gates(Graph& graph, const PassOptions& options);

/// Removes nodes that no output depends on, further outputs of nodes that nobody reads, and tensors
/// that are left without use. Ids of tensors change; inputs of the graph stay.
int remove_dead_code(Graph& graph, const PassOptions& options);

/// What makes f32 of bytes is there once for each elementwise node that reads it, so that fusion
/// lets that read the bytes. Types and shapes must be known.
int part_decoding(Graph& graph, const PassOptions& options);

/// Puts elementwise nodes behind the node that computes one of their inputs, as its epilogue, where
/// nothing else reads that value and the shape stays the same. Chains of elementwise nodes become
/// one node in the same way. A node may read the value more than once: x * sigmoid(x) goes behind
/// the Conv that computes x.
int fuse_epilogues(Graph& graph, const PassOptions& options);

/// Computes the nodes that PassOptions::pieces names in that many parts, or as many as can be, and
/// joins them by a Concat (passes/cut_nodes.hpp). Weights are cut with them. Shapes must be known.
int cut_nodes(Graph& graph, const PassOptions& options);

}  // namespace morton::passes
