# SPDX-License-Identifier: Apache-2.0
"""Training and quantisation from Python."""
import pathlib
import subprocess
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


def batches_of(count, size, seed=0):
    random = np.random.default_rng(seed)
    return [(random.random((size, 1, 32, 32)).astype(np.float32), random.integers(0, 10, size)) for _ in range(count)]


def stop_with_false(now):
    return now["step"] < 3


def stop_with_exception(now):
    if now["step"] == 3:
        raise morton.StopTraining


@pytest.mark.parametrize("callback", [stop_with_false, stop_with_exception])
def test_a_callback_may_end_a_training(lenet, tmp_path, callback):
    trainer = morton.Trainer(lenet, morton.Device(), batch=10)
    data = morton.Dataset.of_arrays(*batches_of(1, 60)[0])
    report = trainer.train(data, on_step=callback, epochs=2, folder=str(tmp_path / "run"))
    assert report["end"] == "stopped" and report["steps"] == 3
    ends = []
    report = trainer.train(data, on_epoch_end=lambda now: ends.append((now["epoch"], now["step"])), epochs=2,
                           folder=str(tmp_path / "run"), start="resume")
    assert report["end"] == "finished" and report["resumed_from"] == 3 and ends == [(1, 6), (2, 12)]
    model, found = morton.with_checkpoint(lenet, str(tmp_path / "run"))
    assert found["step"] == 12 and not found["damage"]
    images = batches_of(1, 10)[0][0]
    learned = morton.Session(morton.compile(trainer.model(), morton.Device(), batch=10)).run({"input": images})
    kept = morton.Session(morton.compile(model, morton.Device(), batch=10)).run({"input": images})
    for name, values in learned.items():
        np.testing.assert_array_equal(kept[name], values)


def test_options_of_cs_trainer(lenet):
    trainer = morton.Trainer(lenet, morton.Device(), batch=4, targets="shares", activations="recompute")
    shares = np.full((4, 10), 0.1, np.float32)
    assert trainer.step(IMAGES, shares, 0.01)["right"] is None
    data = morton.Dataset.of_arrays(*batches_of(1, 12)[0])
    seen = []
    morton.Trainer(lenet, morton.Device(), batch=4).train(
        data, data, epochs=1, test_every=1, on_step=lambda now: seen.append(now["validation_loss"]))
    assert len(seen) == 3 and None not in seen


class Tensor:
    """As PyTorch's, on some device."""

    def __init__(self, array):
        self.array = array

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.array


class Loader:
    """As PyTorch's DataLoader: batches anew each time, the last one smaller."""

    def __iter__(self):
        for images, labels in batches_of(3, 4) + batches_of(1, 2):
            yield Tensor(images), Tensor(labels)


def test_batches_of_ones_own(lenet):
    trainer = morton.Trainer(lenet, morton.Device(), batch=4, optimizer="adam")
    steps = []
    told = trainer.fit(Loader(), epochs=4, learning_rate=lambda step: 0.003 / (1 + step), validation=Loader(),
                       metrics={"shape": lambda outputs, targets: (outputs.shape, targets.shape)}, on_step=steps.append)
    assert [now["step"] for now in steps] == list(range(1, 13))
    assert steps[1]["learning_rate"] == 0.0015
    assert len(told) == 4 and told[-1]["loss"] < told[0]["loss"]
    assert told[0]["left_out"] == 2 and told[0]["shape"] == ((14, 10), (14,))
    # Rows that a batch lacks change nothing.
    images, labels = batches_of(1, 2)[0]
    few = trainer.evaluate_batch(images, labels, outputs=True)
    more = trainer.evaluate_batch(np.concatenate([images, images]), np.concatenate([labels, labels]), outputs=True)
    assert few["rows"] == 2 and few["outputs"].shape == (2, 10)
    assert few["loss"] == pytest.approx(more["loss"]) and (few["outputs"] == more["outputs"][:2]).all()
    assert len(trainer.fit(Loader(), epochs=4, on_epoch_end=lambda now: False)) == 1
    with pytest.raises(morton.UsageError, match="none has the 4 examples"):
        trainer.fit(batches_of(2, 3))
    with pytest.raises(morton.UsageError, match="ends with its first epoch"):
        trainer.fit(iter(batches_of(1, 4)), epochs=2)


def test_the_command_goes_on_from_pythons_checkpoint_and_python_from_its(lenet, tmp_path):
    folder = str(tmp_path / "run")
    trainer = morton.Trainer(lenet, morton.Device(), batch=100, optimizer="adam")
    data, test = (morton.Dataset.read(MNIST, split) for split in ("train", "test"))  # the command takes both of a folder
    trainer.train(data, test, steps=2, learning_rate=0.001, folder=folder)
    program = ROOT / "build" / "morton"
    command = [str(program), "train", str(ROOT / "models" / "lenet5.onnx"), "--data", MNIST, "--out", folder,
               "--resume", "--steps", "4", "-q"]
    subprocess.run(command, check=True, capture_output=True)
    report = trainer.train(data, test, steps=6, learning_rate=0.001, folder=folder, start="resume")
    assert report["resumed_from"] == 4 and report["steps"] == 6


def test_a_seed_of_dropout_counts_where_there_is_dropout(lenet, tmp_path):
    program, written = ROOT / "build" / "morton", tmp_path / "c18.onnx"
    subprocess.run([str(program), "new", "c18-cnn", "-o", str(written)], check=True, capture_output=True)
    for model, extent in ((lenet, 32), (morton.Model.load(str(written)), 28)):
        data = morton.Dataset.of_arrays(np.zeros((4, 1, extent, extent), np.float32), np.arange(4))
        folder = str(tmp_path / str(extent))
        morton.Trainer(model, morton.Device(), batch=4).train(data, steps=1, folder=folder)
        other = morton.Trainer(model, morton.Device(), batch=4, seed=2)
        if model is lenet:
            assert other.train(data, steps=2, folder=folder, start="resume")["resumed_from"] == 1
            continue
        with pytest.raises(morton.UsageError, match="seed of dropout was 1, now it is 2"):
            other.train(data, steps=2, folder=folder, start="resume")
