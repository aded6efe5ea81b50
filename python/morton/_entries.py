# SPDX-License-Identifier: Apache-2.0
"""What SessionOptions say to `morton.compile`: entries named "morton.", the level of optimisation, open extents."""
import warnings

from ._errors import InvalidArgument
from ._options import GraphOptimizationLevel

# Passes that ORT_DISABLE_ALL leaves out: those that can be, but for OTHER_PASSES, which clean up or do what another option asks.
SKIPPED_PASSES = ["compute_in_codes", "keep_codes", "merge_equal_nodes", "fold_expands", "eliminate_transposes",
                  "fold_pads", "fold_batch_norms", "fold_gates", "part_decoding", "fuse_epilogues"]
OTHER_PASSES = ["remove_dead_code", "remove_identities", "fold_constants", "cut_nodes"]

_NUMBERS = {"batch", "workspace_limit_bytes", "weight_limit_bytes"}
_REALS = {"max_kernel_ms"}
_LISTS = {"exclude": str, "local": int, "tuning_files": str, "skip_passes": str, "catalogue_files": str,
          "weights": float}
_NO_TEXTS = {"use", "tunables"}
_ELSEWHERE = {"shapes": "add_free_dimension_override_by_name says extents",
              "values": "the session finds out which inputs shapes follow from",
              "feeds": "a session's inputs are those of its model"}


def _value_of(name, value):
    if name in _ELSEWHERE:
        raise InvalidArgument(f"morton.{name}: this is none of a session's entries; {_ELSEWHERE[name]}")
    if not isinstance(value, str):
        return value
    if name in _NO_TEXTS:
        raise InvalidArgument(f"morton.{name}: expected a dict, got the text '{value}'")
    try:
        if name in _NUMBERS:
            return int(value)
        if name in _REALS:
            return float(value)
        if name in _LISTS:
            return [_LISTS[name](part.strip()) for part in value.split(",") if part.strip()]
    except ValueError:
        raise InvalidArgument(f"morton.{name}: '{value}' is no number, or no list of them") from None
    return value


def compile_options(options):
    """Options of `morton.compile` by their names."""
    found = {}
    for key, value in options._entries.items():
        if key.startswith("morton."):
            name = key.removeprefix("morton.")
            found[name] = _value_of(name, value)
    if options.graph_optimization_level == GraphOptimizationLevel.ORT_DISABLE_ALL:
        found["skip_passes"] = sorted({*found.get("skip_passes", []), *SKIPPED_PASSES})
    return found


def open_extents(options, model, found):
    """Values of open extents by their names. Takes `batch` out of the options that were found, where it is one."""
    names = {extent for port in model.inputs for extent in port.shape if isinstance(extent, str)}
    for name in options._by_name:
        if name not in names:
            warnings.warn(f"add_free_dimension_override_by_name: no input has an open extent {name}; there are "
                          f"{', '.join(sorted(names)) or 'none'}", stacklevel=4)
    extents = dict(options._by_name)
    if "batch" in found:
        firsts = {port.shape[0] for port in model.inputs if port.shape}
        batches = {"batch"} & names or {first for first in firsts if isinstance(first, str)}
        if None in firsts and "batch" not in names:
            raise InvalidArgument("morton.batch: an input's first extent is open and has no name")
        if not batches - extents.keys():
            raise InvalidArgument(f"morton.batch {found['batch']}: no input of the model has an open batch")
        batch = found.pop("batch")
        extents.update(dict.fromkeys(batches - extents.keys(), batch))
    return extents
