# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime's errors: what Morton says, under the names that its programs catch."""
import contextlib

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
def named_as_theirs():
    """Errors of Morton get ONNX Runtime's class, and stay Morton's."""
    try:
        yield
    except (Fail, InvalidArgument, NoSuchFile, InvalidGraph, NotImplemented):
        raise
    except Error as error:
        for ours, theirs in _OTHERS:
            if isinstance(error, ours):
                raise theirs(str(error)) from error
        raise
