# SPDX-License-Identifier: Apache-2.0
"""What ONNX Runtime's programs set of a session and of a run.

What has a meaning here is heeded; `SessionOptions` says of each what it does. What has none is kept, so that it can be
read again.
"""
from __future__ import annotations

import enum

from ._facts import ModelFacts
from ._process import defaults


class GraphOptimizationLevel(enum.IntEnum):
    """ORT_DISABLE_ALL leaves out the passes that can be left out; the others are one."""
    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Steps follow each other on the device, whatever is asked for."""
    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class RunOptions:
    """Options of one run. None changes what is computed. A run whose options have `terminate` set does not begin; one
    that has begun goes on to its end."""

    __slots__ = ("log_severity_level", "log_verbosity_level", "logid", "only_execute_path_to_fetches", "terminate",
                 "_entries")

    def __init__(self) -> None:
        self.log_severity_level = defaults["severity"]
        self.log_verbosity_level = defaults["verbosity"]
        self.logid = ""
        self.only_execute_path_to_fetches = False
        self.terminate = False
        self._entries: dict[str, object] = {}

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Sets an entry of one run; `get_run_config_entry` reads it."""
        self._entries[key] = value

    def get_run_config_entry(self, key: str) -> object:
        """The entry's value; KeyError where it was never set."""
        return self._entries[key]


class SessionOptions:
    """Options of a session.

    Heeded: `graph_optimization_level`; `enable_profiling` with `profile_file_prefix`; free dimensions; entries whose
    key begins with "morton.", which are options of `morton.compile`:
    `add_session_config_entry("morton.precision", "f16")`. Commas part the members of lists.
    Refused: `optimized_model_filepath`.
    Without a meaning on an OpenCL device: `intra_op_num_threads` (a warning says so), `inter_op_num_threads`,
    `execution_mode`, `enable_mem_pattern`, `enable_cpu_mem_arena`, `enable_mem_reuse`, `use_deterministic_compute`
    (sums have one order anyway) and what is logged.
    """

    __slots__ = ("graph_optimization_level", "intra_op_num_threads", "inter_op_num_threads", "execution_mode",
                 "enable_profiling", "profile_file_prefix", "enable_mem_pattern", "enable_cpu_mem_arena",
                 "enable_mem_reuse", "use_deterministic_compute", "log_severity_level", "log_verbosity_level", "logid",
                 "optimized_model_filepath", "_entries", "_by_name")

    def __init__(self) -> None:
        self.graph_optimization_level: int = GraphOptimizationLevel.ORT_ENABLE_ALL
        self.intra_op_num_threads = 0
        self.inter_op_num_threads = 0
        self.execution_mode: int = ExecutionMode.ORT_SEQUENTIAL
        self.enable_profiling = False
        self.profile_file_prefix = "morton_profile_"
        self.enable_mem_pattern = True
        self.enable_cpu_mem_arena = True
        self.enable_mem_reuse = True
        self.use_deterministic_compute = False
        self.log_severity_level = defaults["severity"]
        self.log_verbosity_level = defaults["verbosity"]
        self.logid = ""
        self.optimized_model_filepath = ""
        self._entries: dict[str, object] = {}
        self._by_name: dict[str, int] = {}

    def add_session_config_entry(self, key: str, value: object) -> None:
        """Sets an entry of the session; `get_session_config_entry` reads it."""
        self._entries[key] = value

    def get_session_config_entry(self, key: str) -> object:
        """The entry's value; KeyError where it was never set."""
        return self._entries[key]

    def add_free_dimension_override_by_name(self, name: str, extent: int) -> None:
        """The open extent of this name has this value."""
        self._by_name[name] = int(extent)


class ModelMetadata:
    """What a model's file says besides the network."""

    def __init__(self, name: str, facts: ModelFacts) -> None:
        self.graph_name = name
        self.producer_name = facts["producer"]
        self.domain = facts["domain"]
        self.version = facts["version"]
        self.description = facts["description"]
        self.graph_description = facts["graph_description"]
        self.custom_metadata_map = facts["metadata"]
