#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""picture_presets.py FILE.png: draws a landscape, and beside it what a network sees of it by four preparations.

docs/pictures.md shows the result. It needs the package `morton` (PYTHONPATH=build/python)."""

import sys

import morton
import numpy as np

HEIGHT, WIDTH, SIDE, GAP = 144, 288, 112, 8
PREPARATIONS = [{"preset": "imagenet"}, {"resize": "cover", "crop": "input"}, {"resize": "stretch"}, {"preset": "yolo"}]


def landscape():
    """Sky, a sun at the left edge, hills, and a house on the right."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    picture = np.stack([150 + 60 * y / HEIGHT, 190 + 30 * y / HEIGHT, 235 - 20 * y / HEIGHT], axis=-1)
    picture[(x - 28) ** 2 + (y - 30) ** 2 < 18 ** 2] = (250, 210, 80)
    picture[y > 95 - 22 * np.sin(x / 46)] = (120, 160, 110)
    picture[y > 112 - 10 * np.cos(x / 30)] = (80, 125, 75)
    picture[(abs(x - 236) < 26) & (y > 72) & (y < 124)] = (215, 190, 160)
    picture[(abs(x - 236) < (y - 42) * 1.1) & (y > 42) & (y <= 72)] = (165, 70, 55)
    picture[(abs(x - 236) < 7) & (y > 96) & (y < 124)] = (95, 65, 50)
    picture[(abs(x - 144) < 4) & (y > 70) & (y < 118)] = (95, 70, 45)
    picture[(x - 144) ** 2 + (y - 62) ** 2 < 22 ** 2] = (60, 110, 60)
    return picture.astype(np.uint8)


def main():
    picture = landscape()
    sheet = np.full((HEIGHT, WIDTH + len(PREPARATIONS) * (SIDE + GAP), 3), 255, np.uint8)
    sheet[:, :WIDTH] = picture
    top = (HEIGHT - SIDE) // 2
    for i, preparation in enumerate(PREPARATIONS):
        seen = morton.picture_to_input(picture, [1, SIDE, SIDE, 3], "uint8", **{**preparation, "mean": [], "deviation": []})
        left = WIDTH + GAP + i * (SIDE + GAP)
        sheet[top:top + SIDE, left:left + SIDE] = seen[0]
    morton.write_picture(sys.argv[1], sheet)


main()
