# SPDX-License-Identifier: Apache-2.0
"""The page on the Python package, made of its docstrings. It imports the package."""

import importlib
import inspect
import re

PAGE = "reference/python/morton.md"
HIDDEN = ("__init__",)


def doc_of(thing):
    return inspect.cleandoc(thing.__doc__ or "") if isinstance(thing.__doc__, str) else ""


def of_binding(doc):
    """(signatures, text) of what pybind11 writes: the signature is the first line."""
    lines = doc.split("\n")
    if lines[0].endswith("Overloaded function.") or "Overloaded function." in doc:
        signatures, texts = [], []
        for part in re.split(r"\n(?=\d+\. )", doc)[1:]:
            head, _, text = part.partition("\n")
            signatures.append(re.sub(r"^\d+\. ", "", head))
            texts.append(text.strip())
        return signatures, "\n\n".join(dict.fromkeys(t for t in texts if t))
    if re.match(r"^\w+\(.*\)( -> .*)?$", lines[0]):
        return [lines[0]], "\n".join(lines[1:]).strip()
    return [], doc


def tidy(signature):
    signature = signature.replace("morton._native.", "").replace("numpy.", "np.")
    return re.sub(r"\(self: \w+(, )?", "(", signature)


def signatures_of(name, thing):
    doc = doc_of(thing)
    signatures, text = of_binding(doc)
    if not signatures:
        try:
            signatures = [name + re.sub(r"\(self(, )?", "(", str(inspect.signature(thing)))]
        except (TypeError, ValueError):
            signatures = []
    return [tidy(s) for s in signatures], text


def members(kind):
    """Methods and properties in the order of the source where it is known, else by name."""
    for name, thing in vars(kind).items():
        if not name.startswith("_"):
            yield name, thing


def as_markdown(text):
    """A docstring; the files that it names become links."""
    text = re.sub(r"\b(docs/\w+\.md)", r"[`\1`](../../\1)", text)
    out, was_code = [], False
    for line in text.split("\n"):
        is_code = line.startswith("    ")
        if is_code and not was_code and out and out[-1].strip():
            out.append("")
        out.append(line)
        was_code = is_code
    return "\n".join(out)


def write_function(level, name, thing, anchor):
    signatures, text = signatures_of(name, thing)
    out = [f"{level} `{name}` {{#{anchor}}}\n"]
    if signatures:
        out.append("```python\n" + "\n".join(signatures) + "\n```\n")
    return out + [as_markdown(text) + "\n"]


def write_class(name, kind):
    out = [f"## class `{name}` {{#{name.lower()}}}\n", as_markdown(doc_of(kind)) + "\n"]
    made = vars(kind).get("__init__")
    if made is not None and not issubclass(kind, Exception):
        signatures, text = signatures_of(name, made)
        signatures = [re.sub(r"^__init__", name, s).replace(" -> None", "") for s in signatures]
        if signatures:
            out.append("```python\n" + "\n".join(signatures) + "\n```\n")
        if text and not text.startswith("Initialize self"):
            out.append(as_markdown(text) + "\n")
    values = []
    for member, thing in members(kind):
        anchor = f"{name}-{member}".lower()
        if isinstance(thing, (staticmethod, classmethod)):
            thing = thing.__func__
        if isinstance(thing, property) or type(thing).__name__ == "property":
            values.append((member, as_markdown(doc_of(thing)).replace("\n", " ")))
        elif callable(thing) and not inspect.isclass(thing):
            out += write_function("###", member, thing, anchor)
    if values:
        rows = "\n".join(f"| `{member}` | {text} |" for member, text in values)
        out.insert(2, f"| attribute | meaning |\n|---|---|\n{rows}\n")
    return out


def write_python_page(folder):
    """Writes the page below `folder`; gives (title, page)."""
    package = importlib.import_module("morton")
    out = ["# The Python package\n", as_markdown(doc_of(package)) + "\n",
           "[The guide](../../docs/python.md) shows it in use.\n"]
    names = [name for name in package.__all__ if not name.startswith("_")]
    things = [(name, getattr(package, name)) for name in names]
    for name, thing in things:
        if inspect.isclass(thing):
            out += write_class(name, thing)
    for name, thing in things:
        if callable(thing) and not inspect.isclass(thing):
            out += write_function("##", name, thing, name.lower() + "-function")
    target = folder / PAGE
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(out), encoding="utf-8")
    return [("morton", PAGE)]
