// SPDX-License-Identifier: Apache-2.0
//
// Trainer.
#include <mutex>
#include <optional>
#include <type_traits>

#include "examples.hpp"
#include "taking.hpp"

namespace morton::python {
namespace {

TrainerOptions trainer_options(py::dict given) {
  TrainerOptions options;
  take(given, "batch", options.batch);
  take(given, "accumulate", options.accumulate);
  take(given, "freeze", options.freeze);
  take(given, "seed", options.seed);
  take(given, "loss_scale", options.loss_scale);
  if (given.contains("clip_norm")) {
    double norm = 0.0;
    take(given, "clip_norm", norm);
    options.clip_norm = norm;
  }
  take_word<Loss>(given, "loss", options.loss,
                  {{"softmax_cross_entropy", Loss::softmax_cross_entropy},
                   {"binary_cross_entropy", Loss::binary_cross_entropy},
                   {"mean_squared_error", Loss::mean_squared_error},
                   {"mean_absolute_error", Loss::mean_absolute_error}});
  using Kind = OptimizerOptions::Kind;
  take_word<Kind>(given, "optimizer", options.optimizer.kind,
                  {{"sgd", Kind::sgd},
                   {"adam", Kind::adam},
                   {"adamw", Kind::adamw},
                   {"rmsprop", Kind::rmsprop}});
  take(given, "momentum", options.optimizer.momentum);
  take(given, "beta1", options.optimizer.beta1);
  take(given, "beta2", options.optimizer.beta2);
  take(given, "epsilon", options.optimizer.epsilon);
  take(given, "weight_decay", options.optimizer.weight_decay);
  std::vector<py::array> kept;
  options.compile = compile_options(given, kept);
  return options;
}

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
  facts["loss"] = progress.loss;
  facts["accuracy"] = number_or_none(progress.accuracy);
  facts["learning_rate"] = progress.learning_rate;
  facts["validation_loss"] = number_or_none(progress.validation_loss);
  facts["validation_accuracy"] = number_or_none(progress.validation_accuracy);
  facts["images_per_second"] = progress.images_per_second;
  facts["seconds_left"] = progress.seconds_left;
  return facts;
}

TrainingRunOptions run_options(py::dict given) {
  TrainingRunOptions options;
  take(given, "epochs", options.epochs);
  take(given, "steps", options.steps);
  take(given, "learning_rate", options.learning_rate);
  take(given, "schedule", options.schedule);
  take(given, "augmentation", options.augmentation);
  take(given, "mean", options.mean);
  take(given, "deviation", options.deviation);
  take(given, "seed", options.seed);
  take(given, "patience", options.patience);
  take(given, "folder", options.folder);
  take(given, "checkpoint_every", options.checkpoint_every);
  using Start = TrainingRunOptions::Start;
  take_word<Start>(given, "start", options.start,
                   {{"in_empty_folder", Start::in_empty_folder},
                    {"resume", Start::resume},
                    {"anew", Start::anew}});
  require_taken(given, "a training");
  return options;
}

/// How `evaluate` prepares examples.
TrainingRunOptions evaluation_options(py::dict given) {
  TrainingRunOptions options;
  take(given, "mean", options.mean);
  take(given, "deviation", options.deviation);
  require_taken(given, "an evaluation");
  return options;
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

  py::dict evaluate_batch(py::handle inputs, py::handle targets) {
    return on_batch(inputs, targets, [](Trainer& trainer, const Examples& batch) {
      return trainer.evaluate(batch.inputs, batch.targets, batch.count);
    });
  }

  py::dict run(const Dataset& training, const Dataset* validation, const py::object& progress,
               const py::kwargs& given) {
    TrainingRunOptions options = run_options(py::dict(**given));
    if (!progress.is_none()) {
      options.progress = [&](const TrainingProgress& now) {
        const py::gil_scoped_acquire held;
        progress(progress_of(now));
      };
    }
    // Ctrl-C saves a checkpoint and stops.
    bool is_interrupted = false;
    options.stop = [&] {
      const py::gil_scoped_acquire held;
      is_interrupted = is_interrupted || PyErr_CheckSignals() != 0;
      return is_interrupted;
    };
    const TrainingReport report =
        locked([&](Trainer& trainer) { return train(trainer, training, validation, options); });
    if (is_interrupted) throw py::error_already_set();
    py::dict facts;
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
  py::class_<PythonTrainer>(module, "Trainer",
                            "A model that learns on a device. Options: batch, loss, optimizer "
                            "(\"sgd\", \"adam\", \"adamw\", \"rmsprop\"), momentum, weight_decay, "
                            "freeze, clip_norm, accumulate, seed, and those of compile.")
      .def(py::init<const Model&, const Device&, const py::kwargs&>(), py::arg("model"),
           py::arg("device"))
      .def("step", &PythonTrainer::step, py::arg("inputs"), py::arg("targets"),
           py::arg("learning_rate"),
           "One step on a whole batch: a dict with the loss before the update, and how many "
           "answers were right.")
      .def(
          "evaluate_batch", &PythonTrainer::evaluate_batch, py::arg("inputs"), py::arg("targets"),
          "The model, as it is used, on a whole batch: a dict as that of step. Nothing is learned.")
      .def("train", &PythonTrainer::run, py::arg("training"),
           py::arg("validation") = static_cast<const Dataset*>(nullptr),
           py::arg("progress") = py::none(),
           "Leads the trainer through a data set; writes the command's checkpoints and logs into "
           "`folder`. Options: epochs, steps, learning_rate, schedule, augmentation, mean, "
           "deviation, seed, patience, folder, start, checkpoint_every. `progress` gets a dict "
           "after each step. Ctrl-C saves a checkpoint and stops.")
      .def("evaluate", &PythonTrainer::evaluate_data, py::arg("data"),
           "The same on all examples of a Dataset. Raises UsageError for data that do not fit.")
      .def("model", &PythonTrainer::model, "The model with what it has learned.")
      .def("state", &PythonTrainer::state, "All that the next steps depend on: arrays by name.")
      .def("set_state", &PythonTrainer::set_state, py::arg("state"),
           "Goes on from there. Raises UsageError where it is of another model or optimizer.")
      .def_property_readonly("summary", &PythonTrainer::summary,
                             "How many numbers are trained, and bytes on the device: a dict.");
}

}  // namespace morton::python
