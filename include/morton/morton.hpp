// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Morton runs neural networks on any OpenCL 1.2 device.
///
///     auto device = morton::Device::open("auto");
///     auto model = morton::compile(morton::Model::load("lenet5.onnx"), device);
///     morton::Session session(model);
///     auto outputs = session.run({{{"input", image}}});
#include "morton/architectures.hpp"
#include "morton/compile.hpp"
#include "morton/compiled_file.hpp"
#include "morton/dataset.hpp"
#include "morton/device.hpp"
#include "morton/dtype.hpp"
#include "morton/error.hpp"
#include "morton/evaluation.hpp"
#include "morton/files.hpp"
#include "morton/model.hpp"
#include "morton/optimizer.hpp"
#include "morton/session.hpp"
#include "morton/tensor.hpp"
#include "morton/trainer.hpp"
#include "morton/training_run.hpp"
#include "morton/version.hpp"
