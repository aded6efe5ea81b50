// SPDX-License-Identifier: Apache-2.0
#include <string_view>

#include "api/c/guarded.hpp"
#include "api/c/handles.hpp"
#include "morton/architectures.hpp"

using namespace morton;
using namespace morton::api;

morton_status morton_model_load(const char* path, morton_model** model) {
  return hand_over(model, "model",
                   [&] { return new morton_model(Model::load(given_text(path, "path"))); });
}

morton_status morton_model_load_within(const char* path, const char* weights_folder,
                                       const char* limits, morton_model** model) {
  return hand_over(model, "model", [&] {
    LoadOptions options;
    if (weights_folder != nullptr) options.weights_folder = weights_folder;
    if (limits != nullptr) options.limits = with_limits(options.limits, limits);
    return new morton_model(Model::load(given_text(path, "path"), options));
  });
}

morton_status morton_model_from_bytes(const void* data, size_t bytes, const char* name,
                                      morton_model** model) {
  return hand_over(model, "model", [&] {
    require_data(data, bytes, "data");
    const std::string_view onnx(static_cast<const char*>(data), bytes);
    return new morton_model(Model::from_bytes(onnx, name == nullptr ? "model" : name));
  });
}

morton_status morton_model_new(const char* architecture, uint64_t seed, morton_model** model) {
  return hand_over(model, "model", [&] {
    return new morton_model(new_model(given_text(architecture, "architecture"), seed));
  });
}

morton_status morton_model_save(const morton_model* model, const char* path) {
  return guarded([&] { given(model, "model").model.save(given_text(path, "path")); });
}

void morton_model_free(morton_model* model) { delete model; }

size_t morton_model_input_count(const morton_model* model) {
  return model == nullptr ? 0 : model->inputs.count();
}

size_t morton_model_output_count(const morton_model* model) {
  return model == nullptr ? 0 : model->outputs.count();
}

morton_status morton_model_input(const morton_model* model, size_t index, morton_port* port) {
  return guarded([&] { given(model, "model").inputs.write(index, port); });
}

morton_status morton_model_output(const morton_model* model, size_t index, morton_port* port) {
  return guarded([&] { given(model, "model").outputs.write(index, port); });
}
