# SPDX-License-Identifier: Apache-2.0
"""Pictures as inputs and as data, from Python."""
import pathlib

import numpy as np
import pytest

import morton

ROOT = pathlib.Path(__file__).parent.parent.parent
DIGIT = ROOT / "examples" / "data" / "digit_7.png"
LENET = str(ROOT / "models" / "lenet5.onnx")


def levels(height, width, colour=None):
    picture = np.random.default_rng(height * width).integers(0, 90, (height, width, 3)).astype(np.uint8)
    if colour is not None:
        picture[:, :, colour] += 120
    return picture


@pytest.fixture
def folder(tmp_path):
    """Twelve pictures of two colours and many sizes."""
    for c, name in enumerate(["blue", "red"]):
        (tmp_path / name).mkdir()
        for i in range(6):
            morton.write_picture(tmp_path / name / f"{i}.png", levels(20 + i, 31 - 2 * i, 2 - 2 * c))
    return tmp_path


def test_a_file_is_classified():
    session = morton.InferenceSession(LENET)
    port = session.get_inputs()[0]
    digit = morton.picture_to_input(DIGIT, port.shape)
    assert digit.shape == (1, 1, 32, 32) and digit.dtype == np.float32
    assert session.run(None, {port.name: digit})[0].argmax() == 7
    np.testing.assert_array_equal(morton.picture_to_input(morton.read_picture(str(DIGIT)), port.shape), digit)


def test_a_picture_is_written_and_read(tmp_path):
    for picture in (levels(3, 5), levels(4, 2)[:, :, 0]):
        morton.write_picture(tmp_path / "p.png", picture)
        np.testing.assert_array_equal(morton.read_picture(tmp_path / "p.png").squeeze(), picture)


def test_presets_and_options():
    picture = levels(40, 40)
    shape = ["batch", 3, 40, 40]
    unit = morton.picture_to_input(picture, shape, resize="none")
    np.testing.assert_allclose(unit[0], picture.transpose(2, 0, 1) / 255, rtol=1e-6)
    caffe = morton.picture_to_input(picture, shape, preset="caffe", resize="none")
    np.testing.assert_allclose(caffe[0, 0], picture[:, :, 2] - 103.939, rtol=1e-5)
    np.testing.assert_array_equal(morton.picture_to_input(picture, shape, colours="bgr"), unit[:, ::-1])
    np.testing.assert_array_equal(morton.picture_to_input(picture, [1, 40, 40, 3], "uint8")[0], picture)
    assert morton.picture_to_input(picture, [None, 3, None, None], np.float16, resize=(7, 9)).shape == (1, 3, 7, 9)
    assert morton.picture_to_input(levels(20, 40), [3, "h", "w"], resize=10).shape == (3, 10, 20)
    assert morton.picture_to_input(picture, [1, 3, -1, -1], crop=8).shape == (1, 3, 8, 8)
    framed = morton.picture_to_input(levels(20, 40), [1, 3, 32, 32], preset="yolo")
    np.testing.assert_allclose(framed[0, :, 0, 0], 114 / 255, rtol=1e-6)


@pytest.mark.parametrize("options, text", [
    ({"preset": "nothing"}, "imagenet"), ({"resize": "half"}, "stretch"), ({"resize": 0}, "above 0"),
    ({"crop": "some"}, "none"), ({"crop": (1, 2, 3)}, "does not fit"), ({"filter": "bicubic"}, "nothing is resized"),
    ({"dtype": "int8"}, "float32"), ({"dtype": "nothing"}, "dtype"), ({"colours": "grey"}, "rgb"), ({"border": 300}, "border"),
    ({}, "larger than the input")])
def test_what_does_not_fit_is_told(options, text):
    with pytest.raises(morton.UsageError, match=text):
        morton.picture_to_input(levels(40, 40), [1, 3, 32, 32], **options)


def test_files_that_are_no_pictures(tmp_path):
    with pytest.raises(morton.Error, match="nowhere.png"):
        morton.read_picture(tmp_path / "nowhere.png")
    np.save(tmp_path / "a.npy", np.zeros((2, 2), np.float32))
    with pytest.raises(morton.UsageError, match="expected a picture"):
        morton.read_picture(tmp_path / "a.npy")


def test_pictures_of_any_sizes_are_data(folder):
    with pytest.raises(morton.Error, match="one size"):
        morton.Dataset.read(str(folder))
    with pytest.raises(morton.UsageError, match="input"):
        morton.Dataset.read(str(folder), resize="stretch")
    data = morton.Dataset.read(str(folder), input=[None, 3, 16, 16], preset="unit")
    assert data.inputs.shape == (12, 3, 16, 16) and data.inputs.dtype == np.uint8
    assert data.targets.tolist() == [0] * 6 + [1] * 6 and data.class_names == ["blue", "red"]
    rest, part = data.split_off(0.25, seed=3)
    assert (len(rest), len(part)) == (9, 3) and part.class_names == data.class_names
    first = morton.picture_to_input(folder / "blue" / "0.png", [1, 3, 16, 16], "uint8", preset="unit")
    np.testing.assert_array_equal(data.inputs[0], first[0])


def test_a_network_learns_a_folder(folder):
    model = morton.Model.load(LENET)
    trainer = morton.Trainer(model, morton.Device(), batch=4, optimizer="adam")
    data = morton.Dataset.read(str(folder), input=model.inputs[0].shape, resize="stretch")
    seen = []
    trainer.train(data, epochs=2, on_step=seen.append, **morton.picture_normalization(mean=[0.5], deviation=[0.5]))
    assert len(seen) == 6


def test_normalization_is_that_of_levels_over_255():
    picture, shape = levels(8, 8), [1, 3, 8, 8]
    for preset in ("imagenet", "inception", "raw255", "caffe", "unit"):
        wanted = morton.picture_to_input(picture, shape, preset=preset, resize="none", colours="rgb")[0]
        given = morton.picture_normalization(preset=preset)
        made = picture.transpose(2, 0, 1) / np.float32(255)
        if given["mean"]:
            made = made - np.float32(given["mean"]).reshape(-1, 1, 1)
        if given["deviation"]:
            made = made / np.float32(given["deviation"]).reshape(-1, 1, 1)
        np.testing.assert_allclose(made, wanted, rtol=1e-5, atol=1e-5)
