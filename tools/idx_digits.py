# SPDX-License-Identifier: Apache-2.0
"""Reads the digits of data/mnist (gzipped IDX files). Needs only Python's standard library."""

import gzip
import math
import pathlib
import struct

UNSIGNED_BYTE = 0x08  # the IDX element type of images and labels


def read_idx(path):
    """Returns (extents, bytes) of one gzipped IDX file of unsigned bytes, the elements row-major.

    Raises ValueError with the file's name where the content is no such file.
    """
    with gzip.open(path, "rb") as file:
        content = file.read()
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] != UNSIGNED_BYTE:
        raise ValueError(f"{path}: expected an IDX file of unsigned bytes, got {content[:4].hex()}")
    rank = content[3]
    start = 4 + 4 * rank
    if len(content) < start:
        raise ValueError(f"{path}: expected {rank} extents, got {len(content)} bytes in all")
    extents = struct.unpack(f">{rank}I", content[4:start])
    if len(content) - start != math.prod(extents):
        raise ValueError(f"{path}: expected {extents} elements, got {len(content) - start} bytes")
    return extents, content[start:]


def read_digits(folder, part):
    """Returns (images, labels) of `part` ("train" or "t10k"): two results of read_idx.

    The images' extents are (count, rows, columns), the labels' (count,), with equal counts.
    """
    folder = pathlib.Path(folder)
    images = read_idx(folder / f"{part}-images-idx3-ubyte.gz")
    labels = read_idx(folder / f"{part}-labels-idx1-ubyte.gz")
    if len(images[0]) != 3 or labels[0] != images[0][:1]:
        raise ValueError(f"{folder}: {part} images {images[0]} and labels {labels[0]} do not match")
    return images, labels
