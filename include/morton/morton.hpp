// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Morton runs neural networks on any OpenCL 1.2 device.
///
///     auto device = morton::Device::open("auto");
///     auto model = morton::compile(morton::Model::load("lenet5.onnx"), device);
///     morton::Session session(model);
///     auto outputs = session.run({{{"input", image}}});
///
/// Here is what applications need: models and data, devices, compiling, sessions, training, and how
/// a model's layers compare with the reference. Three things are included by who uses them:
///
/// - `interop.hpp`: OpenCL objects that the application has, or wants of Morton.
/// - `mirror.hpp`: arrays for kernels of the application; it includes OpenCL's headers.
/// - `tools/`: what the command `morton` is made of and applications do not need: tuning, probing,
///   the doctor, the cache, single problems and their reference, passes, kernels' texts. It is a
///   library of its own, `morton::tools`.
#include "morton/architectures.hpp"
#include "morton/compare.hpp"
#include "morton/compare_models.hpp"
#include "morton/compile.hpp"
#include "morton/compiled_file.hpp"
#include "morton/convert.hpp"
#include "morton/dataset.hpp"
#include "morton/device.hpp"
#include "morton/dtype.hpp"
#include "morton/error.hpp"
#include "morton/evaluation.hpp"
#include "morton/files.hpp"
#include "morton/load.hpp"
#include "morton/message.hpp"
#include "morton/model.hpp"
#include "morton/optimizer.hpp"
#include "morton/pictures.hpp"
#include "morton/plan_choices.hpp"
#include "morton/quantize.hpp"
#include "morton/roofline_peaks.hpp"
#include "morton/segments.hpp"
#include "morton/session.hpp"
#include "morton/support.hpp"
#include "morton/tensor.hpp"
#include "morton/trainer.hpp"
#include "morton/training_run.hpp"
#include "morton/value_form.hpp"
#include "morton/version.hpp"
