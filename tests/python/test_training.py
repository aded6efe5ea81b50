# SPDX-License-Identifier: Apache-2.0
"""Training and quantisation from Python."""
import pathlib
import threading

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
    with pytest.raises(morton.UsageError, match="run.*checkpoint"):
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
    with pytest.raises(morton.UsageError, match="optimizer sgdd: expected one of sgd, adam, adamw, rmsprop"):
        morton.Trainer(lenet, morton.Device(), optimizer="sgdd")
    with pytest.raises(morton.UsageError, match="batches: there is no such option"):
        morton.Trainer(lenet, morton.Device(), batches=4)
    with pytest.raises(morton.UsageError, match="inputs have 3 examples and targets 2"):
        morton.Dataset.of_arrays(np.zeros((3, 4), np.float32), np.zeros(2, np.int64))


@pytest.fixture(scope="module")
def trainer(lenet):
    return morton.Trainer(lenet, morton.Device(), batch=4)


IMAGES = np.random.default_rng(1).random((4, 1, 32, 32)).astype(np.float32)


@pytest.mark.parametrize("targets, text", [
    (np.arange(4) + 2**32, "targets: 4294967296 is no label"),
    (np.array([2**63, 0, 0, 0], np.uint64), "targets: 9223372036854775808 is no label"),
    (np.array([2**31, 0, 0, 0], np.uint32), "targets: 2147483648 is no label"),
    (np.array([0, -1, 0, 0], np.int8), "targets: -1 is no label"),
    (np.array(3), "a single number has no examples"),
    (np.arange(3), "inputs have 4 examples and targets 3"),
])
def test_targets_that_are_no_labels_are_named(trainer, targets, text):
    for call in (morton.Dataset.of_arrays, trainer.evaluate_batch, lambda x, y: trainer.step(x, y, 0.1)):
        with pytest.raises(morton.UsageError, match=text):
            call(IMAGES, targets)
    with pytest.raises(morton.UsageError, match="a single number has no examples"):
        trainer.evaluate_batch(np.float32(1), np.int32(1))


def test_labels_of_any_width_are_labels_and_halves_are_values(trainer):
    want = trainer.evaluate_batch(IMAGES, np.arange(4, dtype=np.int32))
    for width in (np.int8, np.uint8, np.int16, np.uint16, np.uint32, np.int64, np.uint64):
        labels = np.arange(4).astype(width)
        assert trainer.evaluate_batch(IMAGES, labels) == want
        assert morton.Dataset.of_arrays(IMAGES, labels).classes == 4
    assert morton.Dataset.of_arrays(IMAGES, np.array([2**31 - 1, 0, 0, 0])).classes == 2**31
    for kind in (np.float16, np.float32, np.float64):
        assert morton.Dataset.of_arrays(IMAGES, np.linspace(0, 1, 4).astype(kind)).classes == 0


def test_threads_may_share_a_trainer(trainer):
    labels = np.arange(4)
    failed = []

    def work(call):
        try:
            for _ in range(20):
                call()
        except Exception as error:  # noqa: BLE001: the test's thread looks at it
            failed.append(error)

    calls = (lambda: trainer.step(IMAGES, labels, 1e-4), trainer.state, trainer.model,
             lambda: trainer.evaluate_batch(IMAGES, labels))
    threads = [threading.Thread(target=work, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_callback_may_call_the_trainer(trainer):
    data = morton.Dataset.of_arrays(IMAGES, np.arange(4))
    seen = []
    trainer.train(data, progress=lambda _: seen.append(trainer.evaluate_batch(IMAGES, np.arange(4))["rows"]), steps=2)
    assert seen == [4, 4]


def test_an_evaluation_takes_what_it_heeds(trainer):
    data = morton.Dataset.of_arrays(IMAGES, np.arange(4))
    assert trainer.evaluate(data, mean=[0.5])["loss"] != trainer.evaluate(data)["loss"]
    for option in ({"folder": "here"}, {"learning_rate": 1.0}, {"augmentation": "flip"}):
        with pytest.raises(morton.UsageError, match=f"{next(iter(option))}.*there is no such option of an evaluation"):
            trainer.evaluate(data, **option)


def test_quantisation_takes_cs_options(lenet):
    data = morton.Dataset.read(MNIST, "train")
    device = morton.Device()
    _, report = morton.quantize(lenet, device, data, examples=16, range="percentile", percentile=99.0, biases="leave",
                                worst_in_float=1, mean=[0.1], deviation=[0.3])
    assert report["examples"] == 16 and report["weight_bytes_after"] < report["weight_bytes_before"]
    assert sum(not layer["is_quantized"] for layer in report["layers"]) >= 1
    assert report["output_signal_to_noise_db"] > 10
    name = next(layer["node"] for layer in report["layers"] if layer["is_quantized"])
    _, kept = morton.quantize(lenet, device, data, examples=16, in_float={name})
    assert not next(layer for layer in kept["layers"] if layer["node"] == name)["is_quantized"]
    with pytest.raises(morton.UsageError, match="range most: expected one of min_max, percentile, entropy"):
        morton.quantize(lenet, device, data, range="most")
    with pytest.raises(morton.UsageError, match="keep: there is no such option of quantize"):
        morton.quantize(lenet, device, data, keep={"conv"})


def test_a_model_becomes_one_of_8_bits(lenet):
    data = morton.Dataset.read(MNIST, "train")
    made, report = morton.quantize(lenet, morton.Device(), data, examples=32)
    layers = report["layers"]
    assert all(layer["signal_to_noise_db"] > 20 for layer in layers if layer["is_quantized"])
    image = np.zeros((1, 1, 32, 32), np.float32)
    ours, eight = (morton.InferenceSession(model).run(None, {"input": image})[0] for model in (lenet, made))
    np.testing.assert_allclose(ours, eight, atol=0.2)
