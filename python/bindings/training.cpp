// SPDX-License-Identifier: Apache-2.0
//
// Trainer.
#include <cstring>
#include <mutex>
#include <optional>
#include <type_traits>

#include "examples.hpp"
#include "training_options.hpp"

namespace morton::python {
namespace {

py::dict result_of(const BatchResult& result) {
  py::dict facts;
  facts["loss"] = result.loss;
  facts["right"] = result.right < 0 ? py::object(py::none()) : py::object(py::int_(result.right));
  facts["rows"] = result.rows;
  facts["applied"] = result.update == BatchResult::Update::applied;
  return facts;
}

py::object number_or_none(const std::optional<double>& number) {
  return number ? py::object(py::float_(*number)) : py::object(py::none());
}

py::dict progress_of(const TrainingProgress& progress) {
  py::dict facts;
  facts["step"] = progress.step;
  facts["steps"] = progress.steps;
  facts["epoch"] = progress.epoch;
  facts["epochs"] = progress.epochs;
  facts["batch"] = progress.batch;
  facts["batches"] = progress.batches;
  facts["loss"] = progress.loss;
  facts["accuracy"] = number_or_none(progress.accuracy);
  facts["learning_rate"] = progress.learning_rate;
  facts["validation_loss"] = number_or_none(progress.validation_loss);
  facts["validation_accuracy"] = number_or_none(progress.validation_accuracy);
  facts["images_per_second"] = progress.images_per_second;
  facts["seconds_left"] = progress.seconds_left;
  return facts;
}

/// What a callback raises to end a training.
py::object stop_training() { return py::module_::import("morton._training").attr("StopTraining"); }

/// Whether the callback wants the training to end: it gives False, or raises StopTraining.
bool ends(const py::object& callback, const TrainingProgress& now) {
  try {
    return callback(progress_of(now)).is(py::handle(Py_False));
  } catch (const py::error_already_set& error) {
    if (!error.matches(stop_training())) throw;
    return true;
  }
}

/// With as many rows as a whole batch has; those that lack are the first one again.
Tensor filled(const Tensor& rows, std::int64_t batch) {
  const std::int64_t count = rows.shape()[0];
  if (count == 0 || count >= batch) return rows;
  Shape shape = rows.shape();
  shape[0] = batch;
  Tensor whole = Tensor::allocate(rows.dtype(), shape);
  const std::size_t row = rows.bytes() / static_cast<std::size_t>(count);
  std::memcpy(whole.mutable_data(), rows.data(), rows.bytes());
  for (std::size_t at = rows.bytes(); at < whole.bytes(); at += row) {
    std::memcpy(whole.mutable_data() + at, rows.data(), row);
  }
  return whole;
}

Tensor first_rows(const Tensor& rows, std::int64_t count) {
  Shape shape = rows.shape();
  const auto bytes = rows.bytes() / static_cast<std::size_t>(shape[0]);
  shape[0] = count;
  Tensor first = Tensor::allocate(rows.dtype(), shape);
  std::memcpy(first.mutable_data(), rows.data(), bytes * static_cast<std::size_t>(count));
  return first;
}

py::tuple model_at_checkpoint(const Model& model, const std::string& path) {
  std::optional<ModelAtCheckpoint> found;
  {
    const py::gil_scoped_release released;
    found = with_checkpoint(model, path);
  }
  py::dict facts;
  facts["where"] = found->where;
  facts["step"] = found->step;
  facts["damage"] = found->damage;
  return py::make_tuple(found->model, facts);
}

/// A trainer that any thread may call: one call at a time. Python's lock is free meanwhile.
class PythonTrainer {
 public:
  PythonTrainer(const Model& model, const Device& device, const py::kwargs& given) {
    require_own_process();
    const TrainerOptions options = trainer_options(py::dict(**given));
    const py::gil_scoped_release released;
    trainer_.emplace(model, device, options);
  }

  py::dict step(py::handle inputs, py::handle targets, double learning_rate) {
    return on_batch(inputs, targets, [&](Trainer& trainer, const Examples& batch) {
      return trainer.step(batch.inputs, batch.targets, learning_rate);
    });
  }

  /// The last rows of a batch that is not whole are those of its first example, and count nothing.
  py::dict evaluate_batch(py::handle inputs, py::handle targets, bool outputs) {
    Tensor predictions;
    std::int64_t rows = 0;
    py::dict facts = on_batch(inputs, targets, [&](Trainer& trainer, const Examples& batch) {
      const std::int64_t whole = trainer.input().shape[0];
      rows = batch.count;
      return trainer.evaluate(filled(batch.inputs, whole), filled(batch.targets, whole), rows,
                              outputs ? &predictions : nullptr);
    });
    if (outputs) facts["outputs"] = array_of(first_rows(predictions, rows));
    return facts;
  }

  py::dict run(const Dataset& training, const Dataset* validation, const py::object& progress,
               const py::object& on_step, const py::object& on_epoch_end, const py::kwargs& given) {
    TrainingRunOptions options = run_options(py::dict(**given));
    bool is_enough = false;
    const auto tell = [&](const py::object& callback, const TrainingProgress& now) {
      is_enough = (!callback.is_none() && ends(callback, now)) || is_enough;
    };
    options.progress = [&](const TrainingProgress& now) {
      const py::gil_scoped_acquire held;
      tell(progress, now);
      tell(on_step, now);
      if (now.batch == now.batches) tell(on_epoch_end, now);
    };
    // Ctrl-C saves a checkpoint and stops, as callbacks do.
    bool is_interrupted = false;
    options.stop = [&] {
      const py::gil_scoped_acquire held;
      is_interrupted = is_interrupted || PyErr_CheckSignals() != 0;
      return is_interrupted || is_enough;
    };
    const TrainingReport report =
        locked([&](Trainer& trainer) { return train(trainer, training, validation, options); });
    if (is_interrupted) throw py::error_already_set();
    using End = TrainingReport::End;
    py::dict facts;
    facts["end"] = report.end == End::finished   ? "finished"
                   : report.end == End::patience ? "patience"
                                                 : "stopped";
    facts["resumed_from"] = report.resumed_from;
    facts["left_over"] = report.left_over;
    facts["overflows"] = report.overflows;
    facts["best_step"] = report.best_step;
    facts["best_validation_loss"] = number_or_none(report.best_validation_loss);
    facts["best_validation_accuracy"] = number_or_none(report.best_validation_accuracy);
    facts["steps"] = report.steps;
    facts["loss"] = number_or_none(report.loss);
    facts["accuracy"] = number_or_none(report.accuracy);
    facts["validation_loss"] = number_or_none(report.validation_loss);
    facts["validation_accuracy"] = number_or_none(report.validation_accuracy);
    facts["seconds"] = report.seconds;
    facts["images_per_second"] = report.images_per_second;
    return facts;
  }

  py::dict evaluate_data(const Dataset& data, const py::kwargs& given) {
    const TrainingRunOptions options = evaluation_options(py::dict(**given));
    return result_of(locked([&](Trainer& trainer) { return evaluate(trainer, data, options); }));
  }

  Model model() {
    return locked([](Trainer& trainer) { return trainer.model(); });
  }

  py::dict state() {
    py::dict arrays;
    for (NamedTensor& value : locked([](Trainer& trainer) { return trainer.state(); })) {
      arrays[py::str(value.name)] = array_of(std::move(value.tensor));
    }
    return arrays;
  }

  void set_state(const py::dict& state) {
    std::vector<py::array> kept;
    const std::vector<NamedTensor> values = tensors_of(state, kept);
    locked([&](Trainer& trainer) { trainer.set_state(values); });
  }

  [[nodiscard]] std::int64_t batch() const { return trainer_->input().shape[0]; }
  [[nodiscard]] int rank() const {
    const auto& communicator = trainer_->options().ranks.communicator;
    return communicator == nullptr ? 0 : communicator->rank();
  }

  py::dict summary() const {
    const TrainingSummary& summary = trainer_->summary();
    py::dict facts;
    facts["trained_elements"] = summary.trained_elements;
    facts["parameter_bytes"] = summary.parameter_bytes;
    facts["optimizer_bytes"] = summary.optimizer_bytes;
    facts["activation_bytes"] = summary.activation_bytes;
    return facts;
  }

 private:
  template <typename Work>
  py::dict on_batch(py::handle inputs, py::handle targets, const Work& work) {
    std::vector<py::array> kept;
    const Examples batch = examples_from(inputs, targets, kept);
    return result_of(locked([&](Trainer& trainer) { return work(trainer, batch); }));
  }

  template <typename Work>
  std::invoke_result_t<Work, Trainer&> locked(const Work& work) {
    require_own_process();
    const py::gil_scoped_release released;
    const std::lock_guard lock(mutex_);
    return work(*trainer_);
  }

  std::optional<Trainer> trainer_;
  std::recursive_mutex mutex_;  ///< recursive for `progress`, which may call the trainer
};

}  // namespace

void bind_training(py::module_& module) {
  py::class_<PythonTrainer>(
      module, "Trainer",
      "A model that learns on a device. Options: batch, loss, optimizer "
      "(\"sgd\", \"adam\", \"adamw\", \"rmsprop\"), momentum, beta1, beta2, "
      "epsilon, weight_decay, targets (\"labels\", \"shares\"), activations "
      "(\"keep\", \"recompute\"), loss_scale, freeze, clip_norm, accumulate, "
      "seed, ranks (\"one\", \"mpi\"), shares, sum (\"ordered\", \"fast\"), wire "
      "(\"f32\", \"f16\"), and those of compile.")
      .def(py::init<const Model&, const Device&, const py::kwargs&>(), py::arg("model"),
           py::arg("device"))
      .def("step", &PythonTrainer::step, py::arg("inputs"), py::arg("targets"),
           py::arg("learning_rate"),
           "One step on a whole batch: a dict with the loss before the update, and how many "
           "answers were right.")
      .def(
          "evaluate_batch", &PythonTrainer::evaluate_batch, py::arg("inputs"), py::arg("targets"),
          py::arg("outputs") = false,
          "The model as it is used, on a batch or the first rows of one: a dict of loss, right and "
          "rows, and with `outputs` the model's answers.")
      .def(
          "train", &PythonTrainer::run, py::arg("training"),
          py::arg("validation") = static_cast<const Dataset*>(nullptr),
          py::arg("progress") = py::none(), py::arg("on_step") = py::none(),
          py::arg("on_epoch_end") = py::none(),
          "Leads the trainer through a data set; writes the command's checkpoints and logs into "
          "`folder`. Options: epochs, steps, learning_rate, schedule, augmentation, mean, "
          "deviation, seed, patience, test_every, folder, start, checkpoint_every. `on_step` (or "
          "`progress`) gets a dict after each step, `on_epoch_end` after an epoch's last. One that "
          "gives False or raises StopTraining ends the training, with a checkpoint, as Ctrl-C "
          "does.")
      .def("evaluate", &PythonTrainer::evaluate_data, py::arg("data"),
           "The same on all examples of a Dataset. Raises UsageError for data that do not fit.")
      .def("model", &PythonTrainer::model, "The model with what it has learned.")
      .def("state", &PythonTrainer::state, "All that the next steps depend on: arrays by name.")
      .def("set_state", &PythonTrainer::set_state, py::arg("state"),
           "Goes on from there. Raises UsageError where it is of another model or optimizer.")
      .def_property_readonly("batch", &PythonTrainer::batch,
                             "Examples of a step; with several ranks, this one's.")
      .def_property_readonly("rank", &PythonTrainer::rank,
                             "This process's number among the ranks; 0 where there is one.")
      .def_property_readonly("summary", &PythonTrainer::summary,
                             "How many numbers are trained, and bytes on the device: a dict.");
  module.def("with_checkpoint", &model_at_checkpoint, py::arg("model"), py::arg("path"),
             "The model with the parameters of a checkpoint, a file or the newest good one of a "
             "folder, that `train` or the command wrote; and a dict of where, step and damage.");
}

}  // namespace morton::python
