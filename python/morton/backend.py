# SPDX-License-Identifier: Apache-2.0
"""ONNX's backend interface, for `onnx.backend.test` and programs written for any backend. It needs the package onnx.

    import onnx, morton.backend
    outputs = morton.backend.run_model(onnx.load("model.onnx"), [image])
"""
import numpy as np
from onnx import helper, numpy_helper  # noqa: F401: an error here says that onnx is missing
from onnx.backend.base import Backend, BackendRep, namedtupledict

from . import _native
from ._errors import InvalidArgument
from ._inference import InferenceSession

_PROVIDERS = {"CPU": "CPUExecutionProvider", "GPU": "MortonExecutionProvider", "CUDA": "MortonExecutionProvider"}


def _kind(device):
    return device.split(":")[0].upper()


class PreparedModel(BackendRep):
    """A model that is ready to run."""

    def __init__(self, session):
        self._session = session

    def run(self, inputs, **_):
        """Outputs by place and by name, of inputs in the model's order, or by name."""
        names = [port.name for port in self._session.get_inputs()]
        if isinstance(inputs, dict):
            feed = inputs
        else:
            given = [inputs] if isinstance(inputs, np.ndarray) else inputs
            if len(given) != len(names):
                raise InvalidArgument(f"the model has {len(names)} inputs ({', '.join(names)}), got {len(given)}")
            feed = dict(zip(names, given))
        outputs = [port.name for port in self._session.get_outputs()]
        return namedtupledict("Outputs", outputs)(*self._session.run(None, feed))


class MortonBackend(Backend):
    """Morton behind ONNX's interface."""

    @classmethod
    def is_compatible(cls, model, device="CPU", **_):
        """Whether all nodes of the model are supported."""
        try:
            return not _native.Model.from_bytes(model.SerializeToString()).summary["unsupported"]
        except _native.Error:
            return False

    @classmethod
    def prepare(cls, model, device="CPU", **_):
        kind = _kind(device)
        if kind not in _PROVIDERS:
            raise _native.UsageError(f"device {device}: expected one of {', '.join(_PROVIDERS)}")
        return PreparedModel(InferenceSession(model.SerializeToString(), providers=[_PROVIDERS[kind]]))

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **options):
        return cls.prepare(model, device, **options).run(inputs)

    @classmethod
    def run_node(cls, node, inputs, device="CPU", outputs_info=None, **options):
        """One node on these inputs. The types and shapes of its outputs follow."""
        ports = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.asarray(value).dtype)
                                               if hasattr(helper, "np_dtype_to_tensor_dtype")
                                               else numpy_helper.from_array(np.asarray(value)).data_type,
                                               np.asarray(value).shape)
                 for name, value in zip(filter(None, node.input), inputs)]
        results = [helper.make_empty_tensor_value_info(name) for name in node.output]
        graph = helper.make_graph([node], "node", ports, results)
        return cls.run_model(helper.make_model(graph), inputs, device, **options)

    @classmethod
    def supports_device(cls, device):
        """CPU; and GPU where OpenCL has one."""
        kind = _kind(device)
        if kind not in _PROVIDERS:
            return False
        try:
            _native.Device(kind.lower() if kind != "CUDA" else "gpu")
        except _native.Error:
            return False
        return True


is_compatible = MortonBackend.is_compatible
prepare = MortonBackend.prepare
run_model = MortonBackend.run_model
run_node = MortonBackend.run_node
supports_device = MortonBackend.supports_device
