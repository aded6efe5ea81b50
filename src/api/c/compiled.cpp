// SPDX-License-Identifier: Apache-2.0
#include "api/c/compile_options.hpp"
#include "api/c/guarded.hpp"
#include "api/c/handles.hpp"
#include "api/c/json_texts.hpp"
#include "api/c/versioned.hpp"
#include "morton/compiled_file.hpp"

using namespace morton;
using namespace morton::api;

morton_status morton_compile_options_create(morton_compile_options** options) {
  return hand_over(options, "options", [] { return new morton_compile_options(); });
}

void morton_compile_options_free(morton_compile_options* options) { delete options; }

morton_status morton_compile_options_set(morton_compile_options* options, const char* name,
                                         const char* value) {
  return guarded([&] {
    set_compile_option(given(options, "options").options, given_text(name, "name"),
                       given_text(value, "value"));
  });
}

morton_status morton_compile_options_set_batch(morton_compile_options* options, int64_t batch) {
  return guarded([&] {
    CompileOptions& to = given(options, "options").options;
    if (batch < 0) throw UsageError(setting("batch", std::to_string(batch)) + ": is below 0");
    to.batch = batch;
  });
}

morton_status morton_compile_options_set_shape(morton_compile_options* options, const char* input,
                                               const int64_t* extents, size_t rank) {
  return guarded([&] {
    CompileOptions& to = given(options, "options").options;
    to.shapes.insert_or_assign(given_text(input, "input"), shape_of(extents, rank));
  });
}

morton_status morton_compile_options_set_value(morton_compile_options* options, const char* input,
                                               morton_type type, const int64_t* extents,
                                               size_t rank, const void* data, size_t bytes) {
  return guarded([&] {
    CompileOptions& to = given(options, "options").options;
    const std::string name = given_text(input, "input");
    const Tensor value = callers_tensor("value of '" + name + "'", dtype_of(type),
                                        shape_of(extents, rank), data, bytes);
    to.values.insert_or_assign(name, value.clone());
  });
}

morton_status morton_compile_options_set_log(morton_compile_options* options,
                                             void (*log)(void* context, const char* line),
                                             void* context) {
  return guarded([&] {
    CompileOptions& to = given(options, "options").options;
    to.log = nullptr;
    if (log == nullptr) return;
    to.log = [log, context](const Message& line) { log(context, line.print().c_str()); };
  });
}

morton_status morton_compile(const morton_model* model, const morton_device* device,
                             const morton_compile_options* options, morton_compiled** compiled) {
  return hand_over(compiled, "compiled", [&] {
    const CompileOptions usual;
    return new morton_compiled(compile(given(model, "model").model, given(device, "device").device,
                                       options == nullptr ? usual : options->options));
  });
}

void morton_compiled_free(morton_compiled* compiled) { delete compiled; }

morton_status morton_compiled_with_batch(const morton_compiled* compiled, int64_t batch,
                                         int32_t may_build, morton_compiled** other) {
  return hand_over(other, "other", [&] {
    const bool builds = flag(may_build, "may_build");
    return new morton_compiled(given(compiled, "compiled")
                                   .model.with_shapes({batch, {}}, builds
                                                                       ? MissingKernels::build
                                                                       : MissingKernels::refuse));
  });
}

morton_status morton_compiled_save(const morton_compiled* compiled, const char* path) {
  return guarded([&] {
    save_compiled(std::span(&given(compiled, "compiled").model, 1), given_text(path, "path"));
  });
}

morton_status morton_compiled_load(const char* path, const morton_device* device, int64_t batch,
                                   morton_compiled** compiled) {
  return hand_over(compiled, "compiled", [&] {
    CompiledFileOptions options;
    options.batch = batch;
    const CompiledFile file = CompiledFile::open(given_text(path, "path"));
    return new morton_compiled(file.load(given(device, "device").device, options));
  });
}

size_t morton_compiled_input_count(const morton_compiled* compiled) {
  return compiled == nullptr ? 0 : compiled->inputs.count();
}

size_t morton_compiled_output_count(const morton_compiled* compiled) {
  return compiled == nullptr ? 0 : compiled->outputs.count();
}

morton_status morton_compiled_input(const morton_compiled* compiled, size_t index,
                                    morton_port* port) {
  return guarded([&] { given(compiled, "compiled").inputs.write(index, port); });
}

morton_status morton_compiled_output(const morton_compiled* compiled, size_t index,
                                     morton_port* port) {
  return guarded([&] { given(compiled, "compiled").outputs.write(index, port); });
}

morton_status morton_compiled_plan_text(const morton_compiled* compiled, int32_t why, char** text) {
  return hand_over(text, "text", [&] {
    const auto detail = flag(why, "why") ? PlanDetail::why : PlanDetail::brief;
    return handed_over(given(compiled, "compiled").model.plan_text(detail));
  });
}

morton_status morton_compiled_report_json(const morton_compiled* compiled, char** json) {
  return hand_over(json, "json", [&] {
    return handed_over(report_json(given(compiled, "compiled").model.report()));
  });
}
