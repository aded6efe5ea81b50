#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the first test digit of each class as a PNG file, digit_0.png to digit_9.png.

The files are 28x28, 8-bit grey, white on black as in MNIST. Needs only Python's standard library.

    python3 tools/export_digits.py --data data/mnist --out examples/data
"""

import argparse
import pathlib
import struct
import zlib

from idx_digits import read_digits

CLASSES = 10


def png_chunk(kind, content):
    """Returns one PNG chunk: length, kind, content, CRC (PNG specification, section 5.3)."""
    crc = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", crc)


def png_grey8(rows, columns, pixels):
    """Returns the bytes of a PNG file of row-major 8-bit grey `pixels`."""
    header = struct.pack(">IIBBBBB", columns, rows, 8, 0, 0, 0, 0)
    # Each scan line starts with its filter type; 0 leaves the pixels as they are.
    lines = b"".join(b"\0" + pixels[r * columns : (r + 1) * columns] for r in range(rows))
    return (
        b"\x89PNG\r\n\x1a\n"
        + png_chunk(b"IHDR", header)
        + png_chunk(b"IDAT", zlib.compress(lines, 9))
        + png_chunk(b"IEND", b"")
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="data/mnist", help="folder of the IDX files")
    parser.add_argument("--out", default="examples/data", help="folder of the PNG files")
    arguments = parser.parse_args()

    ((_, rows, columns), pixels), (_, labels) = read_digits(arguments.data, "t10k")
    out = pathlib.Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    for digit in range(CLASSES):
        index = labels.index(digit)
        size = rows * columns
        path = out / f"digit_{digit}.png"
        path.write_bytes(png_grey8(rows, columns, pixels[index * size : (index + 1) * size]))
        print(f"{path}: test digit {index}")


if __name__ == "__main__":
    main()
