// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "api/c/ports.hpp"
#include "morton/compile.hpp"
#include "morton/device.hpp"
#include "morton/morton.h"

// What the opaque handles of the interface for C are. Each keeps alive what it needs.

struct morton_device {
  morton::Device device;
};

struct morton_model {
  explicit morton_model(morton::Model from)
      : model(std::move(from)), inputs(model.inputs()), outputs(model.outputs()) {}

  morton::Model model;
  morton::api::PortTable inputs, outputs;
};

struct morton_compile_options {
  morton::CompileOptions options;
};

struct morton_compiled {
  explicit morton_compiled(morton::CompiledModel from)
      : model(std::move(from)), inputs(model.inputs()), outputs(model.outputs()) {}

  morton::CompiledModel model;
  morton::api::PortTable inputs, outputs;
};

struct morton_tensors {
  std::vector<morton::NamedTensor> tensors;
};
