# SPDX-License-Identifier: Apache-2.0
"""Training and quantisation from Python."""
import pathlib

import numpy as np
import pytest

import morton

ROOT = pathlib.Path(__file__).parent.parent.parent
MNIST = str(ROOT / "data" / "mnist")


@pytest.fixture(scope="module")
def lenet():
    return morton.Model.load(str(ROOT / "models" / "lenet5.onnx"))


def test_steps_lower_the_loss(lenet):
    trainer = morton.Trainer(lenet, morton.Device(), batch=16, optimizer="adam")
    random = np.random.default_rng(0)
    images = random.random((16, 1, 32, 32)).astype(np.float32)
    labels = random.integers(0, 10, 16)  # i64, as PyTorch's
    losses = [trainer.step(images, labels, 0.002)["loss"] for _ in range(12)]
    assert losses[-1] < losses[0] / 2
    state = trainer.state()
    first = trainer.step(images, labels, 0.002)["loss"]
    trainer.set_state(state)
    assert trainer.step(images, labels, 0.002)["loss"] == first
    result = trainer.evaluate_batch(images, labels)
    assert result["rows"] == 16 and 0 <= result["right"] <= 16
    scores = morton.InferenceSession(trainer.model()).run(None, {"input": images})[0]
    assert (scores.argmax(axis=1) == labels).sum() == result["right"]


def test_a_run_tells_how_far_it_is_and_leaves_checkpoints(lenet, tmp_path):
    trainer = morton.Trainer(lenet, morton.Device(), batch=50)
    data = morton.Dataset.read(MNIST, "train")
    told = []
    report = trainer.train(data, progress=told.append, steps=3, learning_rate=0.01, folder=str(tmp_path / "run"))
    assert report["steps"] == 3 and [now["step"] for now in told] == [1, 2, 3]
    assert any("checkpoint" in path.name for path in (tmp_path / "run").iterdir())
    with pytest.raises(morton.UsageError, match="run"):
        trainer.train(data, steps=3, folder=str(tmp_path / "run"))
    assert trainer.evaluate(morton.Dataset.read(MNIST, "test"))["rows"] > 100


def test_a_callback_that_fails_ends_the_run(lenet):
    trainer = morton.Trainer(lenet, morton.Device(), batch=4)
    data = morton.Dataset.of_arrays(np.zeros((8, 1, 32, 32), np.float32), np.arange(8) % 4)
    assert len(data) == 8 and data.classes == 4

    def fail(_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        trainer.train(data, progress=fail, epochs=1)


def test_wrong_options_are_named(lenet):
    with pytest.raises(morton.UsageError, match="sgdd"):
        morton.Trainer(lenet, morton.Device(), optimizer="sgdd")
    with pytest.raises(morton.UsageError, match="no such option"):
        morton.Trainer(lenet, morton.Device(), batches=4)
    with pytest.raises(morton.UsageError, match="examples"):
        morton.Dataset.of_arrays(np.zeros((3, 4), np.float32), np.zeros(2, np.int64))


def test_a_model_becomes_one_of_8_bits(lenet):
    data = morton.Dataset.read(MNIST, "train")
    made, report = morton.quantize(lenet, morton.Device(), data, examples=32)
    layers = report["layers"]
    assert all(layer["signal_to_noise_db"] > 20 for layer in layers if layer["is_quantized"])
    image = np.zeros((1, 1, 32, 32), np.float32)
    ours, eight = (morton.InferenceSession(model).run(None, {"input": image})[0] for model in (lenet, made))
    np.testing.assert_allclose(ours, eight, atol=0.2)
