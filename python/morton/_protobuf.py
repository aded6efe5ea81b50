# SPDX-License-Identifier: Apache-2.0
"""Whether bytes are a model at all: the outermost fields of a protobuf message."""

_GRAPH = 7  # ModelProto.graph
_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5


def _varint(data, at):
    value = 0
    for count in range(10):
        byte = data[at + count]
        value |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return value, at + count + 1
    raise IndexError


def is_model(data):
    """Whether the fields are whole, up to the end, and a graph is among them."""
    at, found = 0, False
    try:
        while at < len(data):
            key, at = _varint(data, at)
            kind = key & 7
            if kind == _VARINT:
                _, at = _varint(data, at)
            elif kind == _EIGHT_BYTES:
                at += 8
            elif kind == _FOUR_BYTES:
                at += 4
            elif kind == _LENGTH:
                size, at = _varint(data, at)
                at += size
            else:
                return False
            found = found or key == _GRAPH << 3 | _LENGTH
    except IndexError:
        return False
    return found and at == len(data)
