# SPDX-License-Identifier: Apache-2.0
"""Training on batches of one's own: NumPy's arrays, PyTorch's DataLoader."""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any

import numpy as np

from . import _native
from ._native import UsageError


Batches = Iterable[Any]  # pairs of inputs and targets
Metric = Callable[[np.ndarray, np.ndarray], Any]
Callback = Callable[["dict[str, Any]"], object]


class StopTraining(Exception):
    """Raised by a callback: the training ends here, as it does where one gives False."""


def _end_ranks_on_error(abort: Callable[[], None]) -> None:
    """An exception that ends this process ends all ranks: the others would wait for it."""
    before = sys.excepthook

    def end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        before(kind, error, trace)
        sys.stdout.flush()
        sys.stderr.flush()
        abort()

    sys.excepthook = end


class Trainer(_native.Trainer):
    __doc__ = _native.Trainer.__doc__

    def fit(self, batches: Batches, *, epochs: int = 1, learning_rate: float | Callable[[int], float] = 0.001,
            validation: Batches | None = None, metrics: Mapping[str, Metric] | None = None,
            on_step: Callback | None = None, on_epoch_end: Callback | None = None) -> list[dict[str, Any]]:
        """Trains on batches of one's own; a dict for each epoch, as `on_epoch_end` gets it.

        `batches` and `validation` give pairs of inputs and targets each time that they are walked through: lists, a
        PyTorch DataLoader. Each is a whole batch of the trainer. Smaller ones are left out of the training, and
        counted in `left_out`. `learning_rate` is a number, or a function of the step, from 0.

        `metrics` are functions of the validation data's outputs and targets, by name. `on_step` gets a dict after each
        step. A callback that gives False or raises StopTraining ends the training.
        """
        told: list[dict[str, Any]] = []
        step = 0
        for epoch in range(1, epochs + 1):
            run = _Epoch(self, epoch)
            for inputs, targets in batches:
                rate = learning_rate(step) if callable(learning_rate) else learning_rate
                if not run.step(_array(inputs), _array(targets), rate):
                    continue
                step += 1
                if _ends(on_step, {**run.means(), "step": step, "learning_rate": rate}):
                    return told
            if run.steps == 0:
                raise UsageError(f"batches: none has the {self.batch} examples of the trainer's batch"
                                 if run.left_out else "batches: there are none; an iterator ends with its first epoch")
            now = {**run.means(), "step": step, "left_out": run.left_out}
            if validation is not None:
                now.update(self.measure(validation, metrics))
            told.append(now)
            if _ends(on_epoch_end, now):
                break
        return told

    def measure(self, batches: Batches, metrics: Mapping[str, Metric] | None = None) -> dict[str, Any]:
        """Loss and accuracy on pairs of inputs and targets, and what `metrics` make of all outputs and targets."""
        loss, rows = 0.0, 0
        right: int | None = 0
        outputs: list[np.ndarray] = []
        targets: list[np.ndarray] = []
        for given, wanted in batches:
            wanted = _array(wanted)
            result = self.evaluate_batch(_array(given), wanted, outputs=bool(metrics))
            loss += result["loss"] * result["rows"]
            right = None if right is None or result["right"] is None else right + result["right"]
            rows += result["rows"]
            if metrics:
                outputs.append(result["outputs"])
                targets.append(wanted)
        if rows == 0:
            raise UsageError("batches: there are none to measure; an iterator ends with its first walk")
        found: dict[str, Any] = {"validation_loss": loss / rows, "validation_accuracy": None if right is None else right / rows}
        for name, metric in (metrics or {}).items():
            found[name] = metric(np.concatenate(outputs), np.concatenate(targets))
        return found


class _Epoch:
    """Sums of an epoch's steps."""

    def __init__(self, trainer: _native.Trainer, epoch: int) -> None:
        self._trainer, self._epoch = trainer, epoch
        self.steps = self.left_out = self._rows = 0
        self._loss = 0.0
        self._right: int | None = 0

    def step(self, inputs: np.ndarray, targets: np.ndarray, rate: float) -> bool:
        """False where the batch is not whole."""
        if len(inputs) < self._trainer.batch:
            self.left_out += len(inputs)
            return False
        result = self._trainer.step(inputs, targets, rate)
        self.steps += 1
        self._rows += result["rows"]
        self._loss += result["loss"]
        right = result["right"]
        self._right = None if self._right is None or right is None else self._right + right
        return True

    def means(self) -> dict[str, Any]:
        return {"epoch": self._epoch, "loss": self._loss / self.steps,
                "accuracy": None if self._right is None else self._right / self._rows}


def _array(given: Any) -> np.ndarray:
    """Of a tensor of PyTorch too, whichever device it is on."""
    if isinstance(given, np.ndarray):
        return given
    if hasattr(given, "detach"):
        return given.detach().cpu().numpy()
    return np.asarray(given)


def _ends(callback: Callback | None, now: dict[str, Any]) -> bool:
    if callback is None:
        return False
    try:
        return callback(now) is False
    except StopTraining:
        return True
