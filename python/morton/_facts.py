# SPDX-License-Identifier: Apache-2.0
"""What Morton's functions tell: dicts with these keys. They are here for type checkers."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

import numpy as np


class ModelSummary(TypedDict):
    name: str
    opset: int
    parameters: int
    parameter_bytes: int
    operators: dict[str, int]
    unsupported: dict[str, str]
    planned_inputs: list[str]


class ModelFacts(TypedDict):
    producer: str
    producer_version: str
    domain: str
    version: int
    description: str
    graph_description: str
    metadata: dict[str, str]
    left_out: list[str]


class Normalization(TypedDict):
    mean: list[float]
    deviation: list[float]


class CompileOptions(TypedDict, total=False):
    """Options of compile, by their names in C++ (include/morton/compile.hpp)."""
    batch: int
    shapes: Mapping[str, Sequence[int]]
    values: Mapping[str, Any]
    feeds: Mapping[str, str]
    use: Mapping[str, str]
    exclude: Sequence[str]
    local: Sequence[int]
    tunables: Mapping[str, Mapping[str, int]]
    tuning_files: Sequence[str]
    skip_passes: Sequence[str]
    catalogue_files: Sequence[str]
    weights: Sequence[float]
    precision: Literal["f32", "f16", "bf16", "tf32"]
    sums: Literal["f32", "f16"]
    workspace_limit_bytes: int
    weight_limit_bytes: int
    max_kernel_ms: float
    tuning: Literal["use", "ignore"]
    self_test: Literal["once", "off"]
    start: Literal["ready", "at_once", "interim_alone"]
    cache_dir: str
    launches: Literal["automatic", "apart", "joined"]
    other_shapes: Literal["prepare", "leave"]
    unkept: Literal["report", "refuse"]
    fallback: Literal["report", "refuse"]


class CompileReport(TypedDict):
    kernels_built: int
    kernels_from_cache: int
    passes_ms: float
    plan_ms: float
    build_ms: float
    upload_ms: float
    self_test_ms: float
    weight_bytes: int
    streamed_bytes: int
    activation_bytes: int
    workspace_bytes: int
    notes: list[str]
    fallbacks: list[str]


class PlanStep(TypedDict):
    name: str
    kernel: str
    formats: str
    flop: float
    bytes: float
    estimated_us: float
    tunables: str


class StepTime(TypedDict):
    name: str
    kernel: str
    device_us: float | None
    start_ns: int | None


class SegmentsReport(TypedDict):
    waits: list[tuple[str, str, int]]
    plans: int
    built_kernels: int


class _Result(TypedDict):
    loss: float
    right: int | None
    rows: int
    applied: bool


class BatchResult(_Result, total=False):
    outputs: np.ndarray  # where they are asked for


class TrainingProgress(TypedDict):
    step: int
    steps: int
    epoch: int
    epochs: int
    batch: int
    batches: int
    loss: float
    accuracy: float | None
    learning_rate: float
    validation_loss: float | None
    validation_accuracy: float | None
    images_per_second: float
    seconds_left: float


class TrainingReport(TypedDict):
    end: Literal["finished", "patience", "stopped"]
    resumed_from: int
    left_over: int
    overflows: int
    best_step: int
    best_validation_loss: float | None
    best_validation_accuracy: float | None
    steps: int
    loss: float | None
    accuracy: float | None
    validation_loss: float | None
    validation_accuracy: float | None
    seconds: float
    images_per_second: float


class TrainingSummary(TypedDict):
    trained_elements: int
    parameter_bytes: int
    optimizer_bytes: int
    activation_bytes: int


class Checkpoint(TypedDict):
    where: str
    step: int
    damage: str


class QuantizedLayer(TypedDict):
    node: str
    op: str
    is_quantized: bool
    why_not: str
    signal_to_noise_db: float
    weight_bytes_before: int
    weight_bytes_after: int


class QuantizationReport(TypedDict):
    layers: list[QuantizedLayer]
    weight_bytes_before: int
    weight_bytes_after: int
    examples: int
    output_signal_to_noise_db: float


class FloatNode(TypedDict):
    node: str
    op: str
    why: str


class ConversionReport(TypedDict):
    in_float: list[FloatNode]
    notes: list[str]
    nodes_before: int
    nodes_after: int
    parameter_bytes_before: int
    parameter_bytes_after: int
