# SPDX-License-Identifier: Apache-2.0
"""Morton's C++ library; `import morton` is its Python interface."""
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from ._facts import (
    BatchResult, Checkpoint, CompileOptions, CompileReport, ConversionReport, FloatNode,
    ModelFacts, ModelSummary, Normalization, PlanStep, QuantizationReport, QuantizedLayer, SegmentsReport, StepTime,
    TrainingProgress, TrainingReport, TrainingSummary)

class _WithDlpack(Protocol):
    def __dlpack__(self) -> object: ...

# What may be an array: also PyTorch's tensors on the CPU.
_Array = npt.ArrayLike | _WithDlpack
_Arrays = Mapping[str, _Array]
_Outputs = dict[str, npt.NDArray[Any]]
_Shapes = Mapping[str, Sequence[int]]
_Precision = Literal["f32", "f16", "bf16", "tf32"]
_Path = str | os.PathLike[str]
_Extents = Sequence[int | str | None]
_Preset = Literal["imagenet", "inception", "unit", "raw255", "caffe", "clip", "yolo"]
_Resize = Literal["stretch", "fit", "cover", "none"] | int | tuple[int, int]
_Crop = Literal["input", "none"] | int | tuple[int, int]
_Callback = Callable[[TrainingProgress], object]

class Error(RuntimeError):
    """Base of all errors of Morton: what went wrong, what was expected, what to do."""

class InternalError(Error):
    """Morton contradicts itself; please report it."""

class DeviceError(Error):
    """The device or its driver failed, or there is none."""

class UnsupportedError(Error):
    """A valid request that Morton, or this device, has no means for."""

class NeedsSegments(UnsupportedError):
    """The model has no plan before a run has found something out: use SegmentedSession."""

class ModelError(Error):
    """A model or data file is damaged or contradicts itself."""

class UsageError(Error):
    """The request cannot be met as stated: a wrong option, shape or name."""

__version__: str
pybind11_version: tuple[int, int]

class Device:
    """An OpenCL device that is open."""
    def __init__(self, selector: str = "", cache_dir: str = "") -> None:
        """Opens the device that `selector` names: "P:D", "cpu", "gpu", "auto", part of a name, or "units=N"; empty:
        $MORTON_DEVICE, else "auto". Raises UsageError, DeviceError."""
    @property
    def id(self) -> str:
        """"P:D": its platform and its number there."""
    @property
    def name(self) -> str:
        """As the driver gives it."""
    @property
    def description(self) -> str:
        """Name, platform, driver and compute units in one line."""
    @property
    def json(self) -> str:
        """All facts as JSON text."""
    @property
    def used_bytes(self) -> int:
        """Device memory that is held now."""
    @property
    def peak_bytes(self) -> int:
        """The most that ever was."""

def require_own_process() -> None:
    """Raises UsageError in a process that was forked from one with an open device."""

def device_jsons() -> list[str]:
    """Facts of all devices, a JSON text each."""

def set_memory_limit(bytes: int) -> None:
    """What device memory of the process may take, on all devices together; until it is set, $MORTON_MEMORY_LIMIT, else there is no limit. Devices opened afterwards count as having no more. What does not fit raises DeviceError."""

class Port:
    """An input or an output of a model."""
    @property
    def name(self) -> str:
        """Its name in the model."""
    @property
    def shape(self) -> list[int | str | None]:
        """Its extents: numbers, and of those that are open their names."""
    @property
    def dtype(self) -> str:
        """NumPy's name of the element type."""
    @property
    def labels(self) -> list[str]:
        """Of a classifier's results the classes' names."""
    @property
    def is_tensor(self) -> bool:
        """False for lists and optional values."""
    @property
    def has_any_shape(self) -> bool:
        """Whether the model leaves open how many dimensions it has."""

class Model:
    """A network as its file states it."""
    @staticmethod
    def load(path: str, weights_folder: str = "", limits: str = "") -> Model:
        """Reads an ONNX file, or a network definition of R17 (.json). Files that it names may lie beneath `weights_folder`, also behind links; `limits` say what loading may take ("nodes=1000,seconds=5", docs/security.md). Raises ModelError, UnsupportedError, UsageError."""
    @staticmethod
    def from_bytes(onnx: bytes, name: str = "model", weights_folder: str = "", limits: str = "") -> Model:
        """Reads ONNX from bytes; external data is refused unless `weights_folder` says where it lies. `limits` as for load. Raises likewise."""
    def save(self, path: str) -> None:
        """Writes .onnx, or .json. The file appears whole or not at all."""
    @property
    def inputs(self) -> list[Port]:
        """Its inputs, a Port each; open extents have names."""
    @property
    def outputs(self) -> list[Port]:
        """Its outputs, likewise."""
    @property
    def summary(self) -> ModelSummary:
        """Facts in short, a dict."""
    @property
    def facts(self) -> ModelFacts:
        """What the file says besides the network, a dict."""
    @property
    def replaceable_constants(self) -> list[Port]:
        """Constants that the file lists among its inputs, as ports."""
    @property
    def text(self) -> str:
        """The graph as text."""

class CompiledModel:
    """A model planned for a device, its kernels built, its weights there."""
    @property
    def inputs(self) -> list[Port]:
        """Its inputs, a Port each, with all extents known."""
    @property
    def outputs(self) -> list[Port]:
        """Its outputs, likewise."""
    @property
    def report(self) -> CompileReport:
        """Where kernels came from, times and bytes: a dict."""
    @property
    def steps(self) -> list[PlanStep]:
        """The plan's steps, a dict each."""
    def plan_text(self, why: bool = False) -> str:
        """The plan as text; with `why` the reason of every choice."""
    @property
    def device(self) -> Device:
        """The Device that it is planned for."""

def compile(model: Model, device: Device, *, batch: int = ..., shapes: _Shapes = ..., values: _Arrays = ...,
            feeds: Mapping[str, str] = ..., use: Mapping[str, str] = ..., exclude: Sequence[str] = ...,
            local: Sequence[int] = ..., tunables: Mapping[str, Mapping[str, int]] = ...,
            tuning_files: Sequence[str] = ..., skip_passes: Sequence[str] = ..., catalogue_files: Sequence[str] = ...,
            weights: Sequence[float] = ..., precision: _Precision = ..., sums: Literal["f32", "f16"] = ...,
            workspace_limit_bytes: int = ..., weight_limit_bytes: int = ..., max_kernel_ms: float = ...,
            tuning: Literal["use", "ignore"] = ...,
            self_test: Literal["once", "off"] = ..., start: Literal["ready", "at_once", "interim_alone"] = ...,
            cache_dir: str = ..., launches: Literal["automatic", "apart", "joined"] = ...,
            other_shapes: Literal["prepare", "leave"] = ..., unkept: Literal["report", "refuse"] = ...,
            fallback: Literal["report", "refuse"] = ...) -> CompiledModel:
    """Plans the model for the device and builds what is not cached."""

class Session:
    """A queue, the activations and the state of a compiled model. Threads may share it; runs follow each other."""
    def __init__(self, model: CompiledModel, profiling: bool = False) -> None:
        """`profiling` measures each step with the device's clock, for step_times."""
    def run(self, inputs: _Arrays) -> _Outputs:
        """One inference: a dict of arrays by name, all inputs, of the compiled shapes and types; gives all outputs
        likewise. Raises UsageError for a wrong input, and DeviceError."""
    def step_times(self) -> list[StepTime]:
        """Times of the last run's steps, a dict each; empty without profiling."""
    def get_state(self, name: str) -> npt.NDArray[Any]:
        """The value of a state that runs renew (feeds) as an array. Raises UsageError for an unknown name."""
    def set_state(self, name: str, value: _Array) -> None:
        """Puts another value in its place, of its type and shape (UsageError)."""

class SegmentedSession:
    """A session whose inputs may have other shapes in each run; plans are made when shapes come first, and kept."""
    def __init__(self, model: Model, device: Device, options: CompileOptions | dict[str, Any] = ...) -> None: ...
    def run(self, inputs: _Arrays) -> _Outputs:
        """As Session.run."""
    @property
    def report(self) -> SegmentsReport:
        """What the last run took: waits of the host, plans, built kernels. And `fallbacks` of all plans so far."""

def read_picture(path: _Path) -> npt.NDArray[np.uint8]:
    """The levels of a PNG or JPEG file, turned upright: uint8 [height, width, channels]."""

def write_picture(path: _Path, picture: _Array) -> None:
    """Writes levels, uint8 [height, width, channels] or [height, width], as PNG. The file appears whole or not at
    all."""

def picture_to_input(picture: _Path | _Array, shape: _Extents, dtype: npt.DTypeLike = "float32", *,
                     preset: _Preset = ..., resize: _Resize = ..., crop: _Crop = ...,
                     filter: Literal["bilinear", "bicubic"] = ..., colours: Literal["rgb", "bgr"] = ...,
                     border: int = ..., full: float = ..., mean: Sequence[float] = ...,
                     deviation: Sequence[float] = ...) -> npt.NDArray[Any]:
    """A picture as an input of this shape, in which open extents may be names or None (docs/pictures.md). `picture` is
    a path or levels, uint8 [height, width, channels]."""

def picture_normalization(*, preset: _Preset = ..., resize: _Resize = ..., crop: _Crop = ...,
                          filter: Literal["bilinear", "bicubic"] = ..., colours: Literal["rgb", "bgr"] = ...,
                          border: int = ..., full: float = ..., mean: Sequence[float] = ...,
                          deviation: Sequence[float] = ...) -> Normalization:
    """What `picture_to_input` with these options subtracts from levels / 255, and divides by: a dict of `mean` and
    `deviation` for Trainer.train, evaluate and quantize."""

class Dataset:
    """Examples, and what a network shall say of each."""
    @staticmethod
    def read(path: str, split: Literal["train", "test"] = "train", input: _Extents | None = None, *,
             preset: _Preset = ..., resize: _Resize = ..., crop: _Crop = ...,
             filter: Literal["bilinear", "bicubic"] = ..., colours: Literal["rgb", "bgr"] = ..., border: int = ...,
             full: float = ..., mean: Sequence[float] = ..., deviation: Sequence[float] = ...) -> Dataset:
        """A folder of MNIST's or CIFAR-10's files, of pictures in a folder for each class, or an .npz archive
        (docs/training.md). `split` is train or test. Pictures of any sizes are prepared for an `input` of that shape,
        as `picture_to_input` prepares them. Levels stay levels: the trainer takes mean and deviation."""
    @staticmethod
    def of_arrays(inputs: _Array, targets: _Array) -> Dataset:
        """Copies arrays: inputs u8 [N, C, H, W] or real [N, ...]; targets are labels where they are whole numbers,
        else values."""
    def __len__(self) -> int: ...
    def split_off(self, share: float, seed: int = 1) -> tuple[Dataset, Dataset]:
        """Two data sets: what is left, and this share of the examples, chosen by the seed."""
    @property
    def inputs(self) -> npt.NDArray[Any]:
        """A copy of the examples: levels, uint8 [N, C, H, W], or float32 [N, ...]."""
    @property
    def targets(self) -> npt.NDArray[Any]:
        """A copy of the labels, int32 [N], or of the values, float32 [N, ...]."""
    @property
    def classes(self) -> int:
        """How many classes labels tell apart; 0 where targets are values."""
    @property
    def class_names(self) -> list[str]:
        """None, or one for each class."""

class Trainer:
    """A model that learns on a device."""
    def __init__(self, model: Model, device: Device, *, batch: int = ..., accumulate: int = ...,
                 loss: Literal["softmax_cross_entropy", "binary_cross_entropy", "mean_squared_error",
                               "mean_absolute_error"] = ...,
                 targets: Literal["labels", "shares"] = ..., activations: Literal["keep", "recompute"] = ...,
                 optimizer: Literal["sgd", "adam", "adamw", "rmsprop"] = ..., momentum: float = ..., beta1: float = ...,
                 beta2: float = ..., epsilon: float = ..., weight_decay: float = ..., clip_norm: float = ...,
                 freeze: Sequence[str] = ..., seed: int = ..., loss_scale: float = ...,
                 ranks: Literal["one", "mpi"] = ..., shares: Sequence[float] = ...,
                 sum: Literal["ordered", "fast"] = ..., wire: Literal["f32", "f16"] = ..., shapes: _Shapes = ...,
                 values: _Arrays = ..., use: Mapping[str, str] = ..., exclude: Sequence[str] = ...,
                 local: Sequence[int] = ..., tunables: Mapping[str, Mapping[str, int]] = ...,
                 tuning_files: Sequence[str] = ..., skip_passes: Sequence[str] = ...,
                 catalogue_files: Sequence[str] = ..., precision: _Precision = ..., sums: Literal["f32", "f16"] = ...,
                 workspace_limit_bytes: int = ..., weight_limit_bytes: int = ..., max_kernel_ms: float = ...,
                 tuning: Literal["use", "ignore"] = ...,
                 self_test: Literal["once", "off"] = ..., start: Literal["ready", "at_once", "interim_alone"] = ...,
                 cache_dir: str = ..., launches: Literal["automatic", "apart", "joined"] = ...,
                 other_shapes: Literal["prepare", "leave"] = ..., unkept: Literal["report", "refuse"] = ...,
                 fallback: Literal["report", "refuse"] = ...) -> None: ...
    def step(self, inputs: _Array, targets: _Array, learning_rate: float) -> BatchResult:
        """One step on a whole batch: a dict with the loss before the update, and how many answers were right."""
    def evaluate_batch(self, inputs: _Array, targets: _Array, outputs: bool = False) -> BatchResult:
        """The model as it is used, on a batch or the first rows of one: a dict of loss, right and rows, and with
        `outputs` the model's answers."""
    def train(self, training: Dataset, validation: Dataset | None = None, progress: _Callback | None = None,
              on_step: _Callback | None = None, on_epoch_end: _Callback | None = None, *, epochs: int = ...,
              steps: int = ..., learning_rate: float = ..., schedule: str = ..., augmentation: str = ...,
              mean: Sequence[float] = ..., deviation: Sequence[float] = ..., seed: int = ..., patience: int = ...,
              test_every: int = ..., folder: str = ..., checkpoint_every: int = ...,
              start: Literal["in_empty_folder", "resume", "anew"] = ...) -> TrainingReport:
        """Leads the trainer through a data set; writes the command's checkpoints and logs into `folder`. `on_step` (or
        `progress`) gets a dict after each step, `on_epoch_end` after an epoch's last. One that gives False or raises
        StopTraining ends the training, with a checkpoint, as Ctrl-C does."""
    def evaluate(self, data: Dataset, *, mean: Sequence[float] = ..., deviation: Sequence[float] = ...) -> BatchResult: ...
    def model(self) -> Model:
        """The model with what it has learned."""
    def state(self) -> _Outputs:
        """All that the next steps depend on: arrays by name."""
    def set_state(self, state: _Arrays) -> None:
        """Goes on from there. Raises UsageError where it is of another model or optimizer."""
    @property
    def batch(self) -> int:
        """Examples of a step; with several ranks, this one's."""
    @property
    def rank(self) -> int:
        """This process's number among the ranks; 0 where there is one."""
    @property
    def summary(self) -> TrainingSummary:
        """How many numbers are trained, and bytes on the device: a dict."""

def with_classes(model: Model, classes: int, seed: int = 1) -> Model:
    """The model with a new last layer of so many outputs, to be trained on other data; all other weights stay. Raises
    UsageError that names the node in the way."""

def with_checkpoint(model: Model, path: str) -> tuple[Model, Checkpoint]:
    """The model with the parameters of a checkpoint, a file or the newest good one of a folder, that `train` or the
    command wrote; and a dict of where, step and damage."""

def quantize(model: Model, device: Device, data: Dataset, *, mean: Sequence[float] = ..., deviation: Sequence[float] = ...,
             examples: int = ..., range: Literal["min_max", "percentile", "entropy"] = ..., percentile: float | None = ...,
             in_float: Iterable[str] = ..., worst_in_float: int = ...,
             biases: Literal["correct", "leave"] = ...) -> tuple[Model, QuantizationReport]:
    """Quantises a model after training (docs/quantization.md): the model, and a report, a dict whose `layers` say what
    happened to each."""

def convert(model: Model, *, precision: Literal["f16", "bf16"] | None = ..., ports: Literal["keep", "convert"] = ...,
            in_float: Iterable[str] = ..., batch: int = ..., shapes: _Shapes = ..., opset: int | None = ...,
            constants: Literal["fold", "leave"] = ...) -> tuple[Model, ConversionReport]:
    """Makes a model that computes the same and that other engines run too (docs/conversion.md): the model, and a
    report, a dict."""
