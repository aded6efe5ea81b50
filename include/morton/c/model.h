// SPDX-License-Identifier: Apache-2.0
#ifndef MORTON_C_MODEL_H
#define MORTON_C_MODEL_H

/// Devices, models, and models compiled for a device. morton/morton.h is the header to include.
#include "morton/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An OpenCL device, opened: a context, its programs and its memory. Shared between threads.
typedef struct morton_device morton_device;
/// A network as its file states it. Never changes, so threads may share it.
typedef struct morton_model morton_model;
/// How a model is compiled.
typedef struct morton_compile_options morton_compile_options;
/// A model planned for a device, with its programs built and its weights there. Never changes, so
/// threads may share it; each has a session of its own.
typedef struct morton_compiled morton_compiled;

/// How a device is opened.
typedef struct morton_device_options {
  size_t size;
  /// Folder of what is kept; NULL: $MORTON_CACHE_DIR, else $XDG_CACHE_HOME/morton, else
  /// ~/.cache/morton.
  const char* cache_dir;
  /// What programs in the folder may take. Those not used for longest go first.
  int64_t cache_limit_bytes;
  int32_t without_disk_cache;  ///< 1: programs are kept in memory alone
  int32_t reserved;            ///< 0
} morton_device_options;

/// Fills the struct with what holds unless told otherwise. `size` is sizeof(morton_device_options).
MORTON_C_API morton_status morton_device_options_init(morton_device_options* options, size_t size);

/// All devices as JSON, {"devices": [...], "notes": [...]}: the facts of each (docs/devices.md),
/// and a line for each thing that is kept but useless. The text is the caller's. `options` may be
/// NULL.
MORTON_C_API morton_status morton_devices_json(const morton_device_options* options, char** json);
/// Opens "P:D" (platform and device), "cpu", "gpu", "auto" (a GPU if there is one, else the CPU),
/// or part of a name. NULL or "": $MORTON_DEVICE, else "auto". `options` may be NULL.
/// MORTON_ERROR_USAGE where no device or several match, with the list; MORTON_ERROR_DEVICE where
/// there is none at all.
MORTON_C_API morton_status morton_device_open(const char* selector,
                                              const morton_device_options* options,
                                              morton_device** device);
MORTON_C_API void morton_device_free(morton_device* device);
/// Its facts as a JSON object, with "notes" on what is kept for it but useless. The text is the
/// caller's.
MORTON_C_API morton_status morton_device_json(const morton_device* device, char** json);
/// Name, platform, driver and compute units in one line. The text is the caller's.
MORTON_C_API morton_status morton_device_description(const morton_device* device, char** text);

/// Reads an ONNX file, or a network definition (.json, docs/r17_files.md). MORTON_ERROR_MODEL or
/// MORTON_ERROR_UNSUPPORTED.
MORTON_C_API morton_status morton_model_load(const char* path, morton_model** model);
/// The same with what loading may take, such as "nodes=1000,memory=64MiB,seconds=5", and the folder
/// beneath which files that the model names may lie (docs/security.md); NULL for either: as
/// without. MORTON_ERROR_UNSUPPORTED beyond a limit, MORTON_ERROR_USAGE for a limit that is none.
MORTON_C_API morton_status morton_model_load_within(const char* path, const char* weights_folder,
                                                    const char* limits, morton_model** model);
/// From the `bytes` bytes of an ONNX file, which are not needed afterwards. External data is
/// refused. `name` is what messages call it; NULL: "model".
MORTON_C_API morton_status morton_model_from_bytes(const void* data, size_t bytes, const char* name,
                                                   morton_model** model);
/// A network of the literature with random weights, the same for the same seed: "lenet5",
/// "resnet18". MORTON_ERROR_USAGE lists those that there are.
MORTON_C_API morton_status morton_model_new(const char* architecture, uint64_t seed,
                                            morton_model** model);
/// Writes an .onnx file, or a network definition (.json). It appears whole or not at all.
/// MORTON_ERROR_USAGE where that cannot be written.
MORTON_C_API morton_status morton_model_save(const morton_model* model, const char* path);
MORTON_C_API void morton_model_free(morton_model* model);
/// How many inputs and outputs there are; 0 for NULL.
MORTON_C_API size_t morton_model_input_count(const morton_model* model);
MORTON_C_API size_t morton_model_output_count(const morton_model* model);
/// The port at `index`, from 0, with -1 where an extent is open. MORTON_ERROR_USAGE beyond the
/// last.
MORTON_C_API morton_status morton_model_input(const morton_model* model, size_t index,
                                              morton_port* port);
MORTON_C_API morton_status morton_model_output(const morton_model* model, size_t index,
                                               morton_port* port);

/// Options with what holds unless told otherwise.
MORTON_C_API morton_status morton_compile_options_create(morton_compile_options** options);
MORTON_C_API void morton_compile_options_free(morton_compile_options* options);
/// Sets one option by its name to a text. Where many values may be given, each call adds one; of
/// the same input, family or kernel the last holds. docs/c_api.md lists names and values:
///
///     morton_compile_options_set(options, "batch", "8");
///     morton_compile_options_set(options, "shapes", "input:1x3x224x224");
///     morton_compile_options_set(options, "use", "gemm=gemm.tile");
///     morton_compile_options_set(options, "exclude", "gemm.naive");
///     morton_compile_options_set(options, "precision", "f16");
///     morton_compile_options_set(options, "start", "at_once");
///     morton_compile_options_set(options, "fallback", "refuse");
///
/// MORTON_ERROR_USAGE for an unknown name or a value that is none; the options stay as they were.
MORTON_C_API morton_status morton_compile_options_set(morton_compile_options* options,
                                                      const char* name, const char* value);
/// The value of each first dimension that is open. 0: the shapes decide, else 1.
/// MORTON_ERROR_USAGE below 0.
MORTON_C_API morton_status morton_compile_options_set_batch(morton_compile_options* options,
                                                            int64_t batch);
/// The full shape of an input: `rank` extents. MORTON_ERROR_USAGE for one below 0.
MORTON_C_API morton_status morton_compile_options_set_shape(morton_compile_options* options,
                                                            const char* input,
                                                            const int64_t* extents, size_t rank);
/// The value of an input from which shapes follow; it is copied. Every run must give the same.
/// MORTON_ERROR_USAGE where `bytes` are not those of the type and extents.
MORTON_C_API morton_status morton_compile_options_set_value(morton_compile_options* options,
                                                            const char* input, morton_type type,
                                                            const int64_t* extents, size_t rank,
                                                            const void* data, size_t bytes);
/// Is told what happens while a model is compiled, a line a call. With "start" at_once a thread of
/// the library's may call it, until the final plan is there. `log` must not call Morton; NULL: no
/// more.
MORTON_C_API morton_status morton_compile_options_set_log(
    morton_compile_options* options, void (*log)(void* context, const char* line), void* context);

/// Plans the model for the device, builds what is not kept, and uploads the weights. `options` may
/// be NULL, and is not needed afterwards. Any error but MORTON_ERROR_INTERNAL may be the model's or
/// the device's.
MORTON_C_API morton_status morton_compile(const morton_model* model, const morton_device* device,
                                          const morton_compile_options* options,
                                          morton_compiled** compiled);
MORTON_C_API void morton_compiled_free(morton_compiled* compiled);
/// The same model at another batch: a plan of its own, on the same programs and weights. Where it
/// needs further kernels they are built if `may_build` is 1, else it is a
/// MORTON_ERROR_UNSUPPORTED that names them.
MORTON_C_API morton_status morton_compiled_with_batch(const morton_compiled* compiled,
                                                      int64_t batch, int32_t may_build,
                                                      morton_compiled** other);
/// Writes the compiled model to one file, which starts without a compiler on the same device and
/// driver. MORTON_ERROR_USAGE where it cannot be written; MORTON_ERROR_UNSUPPORTED for kernels that
/// a library builds for itself; MORTON_ERROR_DEVICE where the driver gives no binaries.
MORTON_C_API morton_status morton_compiled_save(const morton_compiled* compiled, const char* path);
/// Loads such a file, which holds machine code: take it only from those whose programs you would
/// run. It must not shrink while in use. `batch` is one of those that it holds; 0: the first.
/// MORTON_ERROR_USAGE for another batch or device; MORTON_ERROR_MODEL for a damaged file or none,
/// for one that others may write, and for one without a signature by a key of $MORTON_VERIFY_KEY.
MORTON_C_API morton_status morton_compiled_load(const char* path, const morton_device* device,
                                                int64_t batch, morton_compiled** compiled);
/// As of a model, with all extents known; 0 for NULL.
MORTON_C_API size_t morton_compiled_input_count(const morton_compiled* compiled);
MORTON_C_API size_t morton_compiled_output_count(const morton_compiled* compiled);
MORTON_C_API morton_status morton_compiled_input(const morton_compiled* compiled, size_t index,
                                                 morton_port* port);
MORTON_C_API morton_status morton_compiled_output(const morton_compiled* compiled, size_t index,
                                                  morton_port* port);
/// The plan for people; with the reason of every choice where `why` is 1. The text is the caller's.
MORTON_C_API morton_status morton_compiled_plan_text(const morton_compiled* compiled, int32_t why,
                                                     char** text);
/// Where its kernels came from, how long each phase took, what memory it takes, notes and fallbacks
/// as a JSON object; docs/c_api.md describes it. The text is the caller's.
MORTON_C_API morton_status morton_compiled_report_json(const morton_compiled* compiled,
                                                       char** json);

#ifdef __cplusplus
}
#endif

#endif
