# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's errors: what Morton says, under the names that its programs catch."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ._native import Error, ModelError, UnsupportedError, UsageError


class Fail(Error):
    """The device or Morton failed."""


class InvalidArgument(UsageError):
    """A wrong name, type or shape."""


class NoSuchFile(UsageError):
    """There is no such file."""


class InvalidGraph(ModelError):
    """The model contradicts itself."""


class InvalidProtobuf(InvalidGraph):
    """The bytes are no model."""


class NotImplemented(UnsupportedError):  # noqa: A001: ONNX Runtime's name
    """A valid model that Morton has no means for."""


_OTHERS = ((UsageError, InvalidArgument), (ModelError, InvalidGraph), (UnsupportedError, NotImplemented),
           (Error, Fail))


@contextlib.contextmanager
def named_as_theirs() -> Iterator[None]:
    """Errors of Morton get ONNX Runtime's class, and stay Morton's."""
    try:
        yield
    except (Fail, InvalidArgument, NoSuchFile, InvalidGraph, NotImplemented):
        raise
    except Error as error:
        raise their_error(error) from error


def their_error(error: Error) -> Error:
    """An error of Morton's under ONNX Runtime's name."""
    return next(theirs for ours, theirs in _OTHERS if isinstance(error, ours))(str(error))
