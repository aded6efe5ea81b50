// SPDX-License-Identifier: Apache-2.0
//
// Trainer, data sets and quantisation.
#include <algorithm>
#include <memory>
#include <optional>

#include "bindings.hpp"

namespace morton::python {
namespace {

Dataset read_data(const std::string& path, const std::string& split) {
  if (split != "train" && split != "test") {
    throw UsageError("split " + split + ": expected train or test");
  }
  const py::gil_scoped_release released;
  return read_dataset(path, split == "train" ? Split::train : Split::test);
}

/// Labels are whole numbers, one for each example; other targets are values.
Dataset data_of_arrays(py::handle inputs, py::handle targets) {
  std::vector<py::array> kept;
  Dataset data;
  data.where = "arrays";
  data.inputs = tensor_of(inputs, "inputs", kept).clone();
  Tensor given = tensor_of(targets, "targets", kept);
  if (data.inputs.shape().empty() || given.shape().empty() ||
      data.inputs.shape()[0] != given.shape()[0]) {
    throw UsageError("inputs and targets must have as many examples as each other");
  }
  const bool is_real = given.dtype() == DType::f32 || given.dtype() == DType::f64;
  data.targets = is_real ? given.converted(DType::f32) : given.converted(DType::i32);
  if (data.inputs.dtype() != DType::u8) data.inputs = data.inputs.converted(DType::f32);
  if (is_real) return data;
  for (const std::int32_t label : data.targets.as<std::int32_t>()) {
    if (label < 0) throw UsageError("targets: " + std::to_string(label) + " is no label");
    data.classes = std::max<std::int64_t>(data.classes, label + 1);
  }
  return data;
}

template <typename Value>
void take(py::dict& given, const char* name, Value& into) {
  if (!given.contains(name)) return;
  try {
    into = given[name].cast<Value>();
  } catch (const py::cast_error&) {
    throw UsageError(setting(name) + ": a value of " +
                     py::str(py::type::of(given[name])).cast<std::string>() + " does not fit");
  }
  given.attr("pop")(name);
}

template <typename Enumeration>
void take_word(py::dict& given, const char* name, Enumeration& into,
               const std::vector<std::pair<std::string, Enumeration>>& words) {
  if (!given.contains(name)) return;
  const auto word = given[name].cast<std::string>();
  std::string known;
  for (const auto& [text, value] : words) {
    known += (known.empty() ? "" : ", ") + text;
    if (text != word) continue;
    into = value;
    given.attr("pop")(name);
    return;
  }
  throw UsageError(setting(name, word) + ": expected one of " + known);
}

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
  for (const auto& [name, value] : given) {
    throw UsageError(setting(name.cast<std::string>()) + ": there is no such option of a training");
  }
  return options;
}

class PythonTrainer {
 public:
  PythonTrainer(const Model& model, const Device& device, const py::kwargs& given) {
    require_own_process();
    const TrainerOptions options = trainer_options(py::dict(given));
    const py::gil_scoped_release released;
    trainer_.emplace(model, device, options);
  }

  py::dict step(py::handle inputs, py::handle targets, double learning_rate) {
    return on_batch(inputs, targets, [&](const Tensor& x, const Tensor& y) {
      return trainer_->step(x, y, learning_rate);
    });
  }

  py::dict evaluate_batch(py::handle inputs, py::handle targets) {
    return on_batch(inputs, targets, [&](const Tensor& x, const Tensor& y) {
      return trainer_->evaluate(x, y, x.shape().front());
    });
  }

  py::dict run(const Dataset& training, const Dataset* validation, const py::object& progress,
               const py::kwargs& given) {
    require_own_process();
    TrainingRunOptions options = run_options(py::dict(given));
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
    TrainingReport report;
    {
      const py::gil_scoped_release released;
      report = train(*trainer_, training, validation, options);
    }
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
    const TrainingRunOptions options = run_options(py::dict(given));
    BatchResult result;
    {
      const py::gil_scoped_release released;
      result = evaluate(*trainer_, data, options);
    }
    return result_of(result);
  }

  Model model() { return trainer_->model(); }

  py::dict state() {
    py::dict arrays;
    for (NamedTensor& value : trainer_->state()) {
      arrays[py::str(value.name)] = array_of(std::move(value.tensor));
    }
    return arrays;
  }

  void set_state(const py::dict& state) {
    std::vector<py::array> kept;
    trainer_->set_state(tensors_of(state, kept));
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
  py::dict on_batch(py::handle inputs, py::handle targets, Work work) {
    require_own_process();
    std::vector<py::array> kept;
    const Tensor x = tensor_of(inputs, "inputs", kept);
    Tensor y = tensor_of(targets, "targets", kept);
    // PyTorch's labels are i64.
    if (y.dtype() == DType::i64) y = y.converted(DType::i32);
    BatchResult result;
    {
      const py::gil_scoped_release released;
      result = work(x, y);
    }
    return result_of(result);
  }

  std::optional<Trainer> trainer_;
};

py::tuple quantize_model(const Model& model, const Device& device, const Dataset& data,
                         std::int64_t examples, const std::set<std::string>& keep) {
  QuantizeOptions options;
  options.examples = examples;
  options.in_float = keep;
  std::optional<QuantizedModel> made;
  {
    const py::gil_scoped_release released;
    made = quantize(model, device, data, options);
  }
  py::list layers;
  for (const QuantizedLayer& layer : made->layers) {
    py::dict facts;
    facts["node"] = layer.node;
    facts["op"] = layer.op;
    facts["is_quantized"] = layer.is_quantized;
    facts["why_not"] = layer.why_not;
    facts["signal_to_noise_db"] = layer.signal_to_noise_db;
    layers.append(facts);
  }
  return py::make_tuple(made->model, layers);
}

}  // namespace

void bind_training(py::module_& module) {
  py::class_<Dataset>(module, "Dataset", "Examples, and what a network shall say of each.")
      .def_static(
          "read", &read_data, py::arg("path"), py::arg("split") = "train",
          "A folder of MNIST's or CIFAR-10's files, of pictures in a folder for each class, "
          "or an .npz archive (docs/training.md). `split` is train or test.")
      .def_static(
          "of_arrays", &data_of_arrays, py::arg("inputs"), py::arg("targets"),
          "Copies arrays: inputs u8 [N, C, H, W] or real [N, ...]; targets are labels where "
          "they are whole numbers, else values.")
      .def("__len__", &Dataset::size)
      .def_readonly("classes", &Dataset::classes)
      .def_readonly("class_names", &Dataset::class_names);
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
      .def("evaluate_batch", &PythonTrainer::evaluate_batch, py::arg("inputs"), py::arg("targets"))
      .def("train", &PythonTrainer::run, py::arg("training"),
           py::arg("validation") = static_cast<const Dataset*>(nullptr),
           py::arg("progress") = py::none(),
           "Leads the trainer through a data set; writes the command's checkpoints and logs into "
           "`folder`. Options: epochs, steps, learning_rate, schedule, augmentation, mean, "
           "deviation, seed, patience, folder, start, checkpoint_every. `progress` gets a dict "
           "after each step. Ctrl-C saves a checkpoint and stops.")
      .def("evaluate", &PythonTrainer::evaluate_data, py::arg("data"))
      .def("model", &PythonTrainer::model, "The model with what it has learned.")
      .def("state", &PythonTrainer::state, "All that the next steps depend on: arrays by name.")
      .def("set_state", &PythonTrainer::set_state, py::arg("state"))
      .def_property_readonly("summary", &PythonTrainer::summary);
  module.def("quantize", &quantize_model, py::arg("model"), py::arg("device"), py::arg("data"),
             py::arg("examples") = 512, py::arg("keep") = std::set<std::string>{},
             "Quantises a model after training (docs/quantization.md): the model, and what "
             "happened to each layer, a dict each.");
}

}  // namespace morton::python
