# SPDX-License-Identifier: Apache-2.0
"""The stubs of the native module say what it has. `./dev check --long` also runs mypy and its stubtest."""
import ast
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

import morton
from morton import _native

PACKAGE = pathlib.Path(morton.__file__).parent
STUBS = {node.name if not isinstance(node, ast.AnnAssign) else node.target.id: node
         for node in ast.parse((PACKAGE / "_native.pyi").read_text(encoding="utf-8")).body
         if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AnnAssign))}


def members(stub):
    return {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}


def public(names):
    return {name for name in names if not name.startswith("_")}


def test_names_of_module_and_stubs_agree():
    assert public(STUBS) == public(vars(_native))
    for name, stub in STUBS.items():
        if isinstance(stub, ast.ClassDef) and not name.startswith("_"):
            assert public(members(stub)) == public(vars(getattr(_native, name))), name


def functions():
    for name, stub in STUBS.items():
        if isinstance(stub, ast.FunctionDef):
            yield name, stub, getattr(_native, name)
        elif isinstance(stub, ast.ClassDef) and not name.startswith("_"):
            for member, inner in members(stub).items():
                if member != "__len__" and member in vars(getattr(_native, name)):
                    yield f"{name}.{member}", inner, getattr(getattr(_native, name), member)


@pytest.mark.parametrize("name, stub, function", functions(), ids=lambda value: value if isinstance(value, str) else "")
def test_parameters_and_texts_agree(name, stub, function):
    """The first line of a function's text is its signature, the rest what the stub says."""
    text = function.__doc__ or ""
    said = " ".join((ast.get_docstring(stub) or "").split())
    if isinstance(function, property):
        assert said == " ".join(text.split())
        return
    signature, _, rest = text.partition("\n")
    found = [part.split(":")[0].strip() for part in re.findall(r"[(,]\s*(\w+)(?=[:,)])", signature)]
    assert [part for part in found if part not in ("self", "arg0")] == [
        argument.arg for argument in stub.args.args if argument.arg != "self"]
    assert bool(stub.args.kwonlyargs) == ("**kwargs" in signature)
    if not stub.args.kwonlyargs:  # of others the text lists the options, and the stub has them in its signature
        assert said == " ".join(rest.split())


def options(name):
    stub = STUBS[name] if "." not in name else members(STUBS[name.split(".")[0]])[name.split(".")[1]]
    return [argument.arg for argument in stub.args.kwonlyargs]


class Nothing:
    """Fits no option."""


@pytest.mark.parametrize("name", ["compile", "convert", "quantize", "Trainer.__init__", "Trainer.train", "Trainer.evaluate"])
def test_every_option_of_a_stub_is_one(name):
    model = morton.Model.load(str(pathlib.Path(__file__).parent / "models" / "given.onnx"))
    device, data = morton.Device(), morton.Dataset.of_arrays([[1.0]], [0])
    calls = {"compile": lambda **given: morton.compile(model, device, **given),
             "convert": lambda **given: morton.convert(model, **given),
             "quantize": lambda **given: morton.quantize(model, device, data, **given),
             "Trainer.__init__": lambda **given: morton.Trainer(model, device, **given)}
    if name not in calls:
        lenet = morton.Model.load(str(pathlib.Path(__file__).parent.parent.parent / "models" / "lenet5.onnx"))
        trainer = morton.Trainer(lenet, device, batch=1)
        calls["Trainer.train"] = lambda **given: trainer.train(data, **given)
        calls["Trainer.evaluate"] = lambda **given: trainer.evaluate(data, **given)
    assert options(name)
    for option in options(name):
        with pytest.raises((morton.UsageError, TypeError)) as caught:
            calls[name](**{option: Nothing()})
        assert "no such option" not in str(caught.value), option
    with pytest.raises(morton.UsageError, match="no such option"):
        calls[name](nothing=1)


def test_compile_options_are_those_of_compile():
    from morton import _facts
    assert set(_facts.CompileOptions.__annotations__) == set(options("compile"))
    known = _native.compile.__doc__
    assert known
    with pytest.raises(morton.UsageError) as caught:
        morton.compile(morton.Model.load(str(pathlib.Path(__file__).parent / "models" / "given.onnx")), morton.Device(),
                       nothing=1)
    listed = str(caught.value).split("there are ")[1].split(", ")
    assert sorted(listed) == sorted(options("compile"))


@pytest.mark.skipif(not os.environ.get("MORTON_TEST_LONG"), reason="MORTON_TEST_LONG is not set")
def test_mypy_and_its_stubtest_find_nothing(tmp_path):
    if importlib.util.find_spec("mypy") is None:
        pytest.fail("mypy is missing: ./dev setup check installs it")
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "MYPYPATH": str(PACKAGE.parent), "MYPY_CACHE_DIR": str(tmp_path)}
    program = tmp_path / "program.py"
    program.write_text('''import morton
import numpy as np

session = morton.InferenceSession("net.onnx", providers=["CPUExecutionProvider"])
shape: tuple[int, ...] = session.run(None, {"x": np.zeros(2)})[0].shape
model, report = morton.convert(morton.Model.load("net.onnx"), precision="f16")
steps: int = morton.Trainer(model, morton.Device(), batch=4).train(morton.Dataset.read("d"), epochs=2)["steps"]
''', encoding="utf-8")
    # Of pybind11's making: a metaclass, and a constructor where there is none.
    ours = tmp_path / "allowed"
    classes = [name for name, stub in STUBS.items() if isinstance(stub, ast.ClassDef)]
    ours.write_text(f"morton\\._native\\.({'|'.join(classes)})(\\.__init__)?\n", encoding="utf-8")
    options = ["--ignore-missing-imports", "--cache-dir", str(tmp_path)]
    for command in ([sys.executable, "-m", "mypy", *options, "-p", "morton"],
                    [sys.executable, "-m", "mypy", *options, "--strict", "--follow-imports", "silent", str(program)],
                    [sys.executable, "-m", "mypy.stubtest", "morton._native", "--ignore-missing-stub", "--allowlist", str(ours),
                     "--ignore-unused-allowlist"]):
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
