#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the ladder of matrix products and the roofline of a device as one SVG picture.

The ladder is what `morton bench gemm --all --format json` prints; the roofline is the last record of a file in
bench/history, which `./dev bench gemm` writes:

    build/morton bench gemm --all --m 512 --n 512 --k 512 --format json > ladder.json
    tools/plot_gemm.py ladder.json bench/history/DAY-DEVICE.json > docs/images/gemm.svg
"""

import argparse
import html
import json
import math
import re
import sys

ROW = 15
LEFT, TOP = 150, 66
LADDER_WIDTH, ROOF_WIDTH = 250, 380
COLOURS = {"ours": "#c0392b", "openblas": "#2e6da4", "onednn": "#3c8d40", "clblast": "#8a6d3b",
           "cublas": "#2e6da4"}


class Drawing:
    """SVG elements, collected."""

    def __init__(self):
        self.elements = []

    def text(self, x, y, words, anchor="start", size=11, weight="normal"):
        self.elements.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
                             f'font-weight="{weight}">{html.escape(words)}</text>')

    def line(self, x0, y0, x1, y1, colour="#999", dash=""):
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.elements.append(f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" '
                             f'stroke="{colour}"{dashes}/>')

    def bar(self, x, y, width, height, colour):
        self.elements.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" '
                             f'fill="{colour}"/>')

    def dot(self, x, y, colour, title):
        self.elements.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}" '
                             f'fill-opacity="0.75"><title>{html.escape(title)}</title></circle>')

    def svg(self, width, height):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                f'viewBox="0 0 {width} {height}" font-family="sans-serif">\n'
                f'<rect width="{width}" height="{height}" fill="#fff"/>\n' +
                "\n".join(self.elements) + "\n</svg>\n")


class LogAxis:
    """Maps values to pixels by their logarithm."""

    def __init__(self, least, most, first, last):
        self.least, self.most = math.log10(least), math.log10(most)
        self.first, self.last = first, last

    def at(self, value):
        share = (math.log10(value) - self.least) / (self.most - self.least)
        return self.first + share * (self.last - self.first)

    def ticks(self):
        return [10.0 ** e for e in range(math.ceil(self.least), math.floor(self.most) + 1)]


def shown(value):
    return f"{value:g}" if value < 1000 else f"{value / 1000:g}k"


def draw_ladder(drawing, ladder):
    kernels = [one for one in ladder["contenders"] if one.get("gflops")]
    kernels.sort(key=lambda one: one["gflops"])
    peak = ladder["peak"]["gflops"]
    axis = LogAxis(kernels[0]["gflops"] / 2, peak * 1.3, LEFT, LEFT + LADDER_WIDTH)
    bottom = TOP + ROW * len(kernels)
    problem = ladder["problem"]
    drawing.text(LEFT, TOP - 22, f"The ladder, M = N = K = {problem['m']}: GFLOP/s", weight="bold")
    for tick in axis.ticks():
        drawing.line(axis.at(tick), TOP - 6, axis.at(tick), bottom, "#ddd")
        drawing.text(axis.at(tick), bottom + 14, shown(tick), "middle", 10)
    for i, one in enumerate(kernels):
        y = TOP + i * ROW
        drawing.text(LEFT - 6, y + 9, one["name"].removeprefix("gemm."), "end", 10)
        drawing.bar(LEFT, y, axis.at(one["gflops"]) - LEFT, ROW - 4, COLOURS["ours"])
    drawing.line(axis.at(peak), TOP - 10, axis.at(peak), bottom, "#000", "4 3")
    drawing.text(axis.at(peak), TOP - 11, f"peak {peak:.0f}", "middle", 10)
    return bottom


def points_of(record):
    """(FLOP per byte, GFLOP/s, contender, shape) of everything that was measured."""
    points = []
    for result in record["results"]:
        m, n, k = (int(re.search(rf"--{name} (\d+)", result["command"])[1]) for name in "mnk")
        intensity = 2 * m * n * k / (4 * (m * k + k * n + m * n))
        for one in result["contenders"]:
            name = one["name"] if one["name"] in COLOURS else "ours"
            points.append((intensity, one["gflops"], name, f"{m}x{n}x{k} {one['name']}"))
    return points


def draw_roofline(drawing, record, bottom):
    points = points_of(record)
    if not points:
        sys.exit("plot_gemm: the record holds no results")
    peak = max(result["peak"]["gflops"] for result in record["results"])
    left = LEFT + LADDER_WIDTH + 90
    x = LogAxis(min(p[0] for p in points) / 2, max(p[0] for p in points) * 2, left, left + ROOF_WIDTH)
    y = LogAxis(min(p[1] for p in points) / 2, peak * 1.5, bottom, TOP)
    drawing.text(left, TOP - 22, "Roofline: GFLOP/s over FLOP for each byte of the operands", weight="bold")
    for tick in x.ticks():
        drawing.line(x.at(tick), TOP, x.at(tick), bottom, "#ddd")
        drawing.text(x.at(tick), bottom + 14, shown(tick), "middle", 10)
    for tick in y.ticks():
        drawing.line(left, y.at(tick), left + ROOF_WIDTH, y.at(tick), "#ddd")
        drawing.text(left - 5, y.at(tick) + 4, shown(tick), "end", 10)
    lowest, highest = 10.0 ** x.least, 10.0 ** x.most
    drawing.line(left, y.at(peak), left + ROOF_WIDTH, y.at(peak), "#000", "4 3")
    if record["reads"]:
        rate = min(read["gigabytes_per_second"] for read in record["reads"])
        start, end = max(lowest, 10.0 ** y.least / rate), min(highest, peak / rate)
        drawing.line(x.at(start), y.at(start * rate), x.at(end), y.at(end * rate), "#000", "4 3")
        drawing.text(x.at(end), y.at(peak) - 5, f"{rate:.0f} GB/s from memory", "end", 10)
    for intensity, gflops, name, title in points:
        drawing.dot(x.at(intensity), y.at(gflops), COLOURS[name], f"{title}: {gflops:.0f} GFLOP/s")
    names = sorted({p[2] for p in points}, key=list(COLOURS).index)
    for i, name in enumerate(names):
        drawing.dot(left + ROOF_WIDTH - 80, bottom - 14 - 15 * i, COLOURS[name], name)
        drawing.text(left + ROOF_WIDTH - 70, bottom - 10 - 15 * i, "Morton" if name == "ours" else name)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ladder", help="output of morton bench gemm --all --format json")
    parser.add_argument("history", help="file of bench/history")
    options = parser.parse_args()
    with open(options.ladder, encoding="utf-8") as file:
        ladder = json.load(file)
    with open(options.history, encoding="utf-8") as file:
        record = json.load(file)[-1]
    drawing = Drawing()
    bottom = draw_ladder(drawing, ladder)
    draw_roofline(drawing, record, bottom)
    device = record["device"]["name"] + (f", {record['processor']}" if record["processor"] else "")
    drawing.text(10, 16, f"{device}, {record['time'][:10]}", size=12)
    sys.stdout.write(drawing.svg(LEFT + LADDER_WIDTH + 90 + ROOF_WIDTH + 20, bottom + 26))


if __name__ == "__main__":
    main()
