// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "passes/pipeline.hpp"

namespace morton {

/// The passes; each returns how many things it changed. Their order is that of pipeline.cpp.

/// Gives every input its shape from `options`. An open extent has one value wherever its name
/// stands; an open first extent is the batch. Throws UsageError where the options contradict the
/// model or leave an extent open, naming the input and the option (--batch, --shape) to give.
int bind_shapes(Graph& graph, const PassOptions& options);

/// Gives every activation its type and shape. What shapes follow from is computed on the way and
/// becomes constants (Shape, and the arithmetic behind it; ops/planned.hpp).
/// Throws what `infer` throws, and UsageError for values that do not fit the inputs.
int infer_shapes(Graph& graph, const PassOptions& options);

/// Computes nodes whose inputs are all constants, on the host, in double, rounded once to the
/// result's type.
/// Results above 64 MiB and outputs of the graph stay as they are.
int fold_constants(Graph& graph, const PassOptions& options);

/// Removes Identity and Dropout, which do nothing in inference. Between an input or constant and an
/// output of the graph one must stay.
int remove_identities(Graph& graph, const PassOptions& options);

/// Removes nodes that no output depends on, further outputs of nodes that nobody reads, and tensors
/// that are left without use. Ids of tensors change; inputs of the graph stay.
int remove_dead_code(Graph& graph, const PassOptions& options);

/// Puts elementwise nodes behind the node that computes one of their inputs, as its epilogue, where
/// nothing else reads that value and the shape stays the same. Chains of elementwise nodes become
/// one node in the same way.
int fuse_epilogues(Graph& graph, const PassOptions& options);

}  // namespace morton
