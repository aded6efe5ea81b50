// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "morton/compile.hpp"
#include "morton/device.hpp"
#include "morton/export.hpp"
#include "morton/message.hpp"
#include "morton/model.hpp"

namespace morton {

namespace api {
struct CompiledFileState;
}

/// How a model that was compiled ahead is loaded.
struct CompiledFileOptions {
  /// Which of the shapes that the file holds: those of inputs by name, and the value of the batch
  /// (as CompileOptions::batch); with neither, the first.
  std::map<std::string, Shape> shapes;
  std::int64_t batch = 0;
  /// The rule on another device or driver than the file's, or where the driver refuses a
  /// binary: an error; or the kernels are built from the source that the file holds, and the
  /// report's notes say so.
  enum class Elsewhere : std::uint8_t { refuse, rebuild } elsewhere = Elsewhere::refuse;
  /// Told what happens, one line each. May be empty.
  std::function<void(const Message&)> log;
};

/// What a compiled file must be like before anything in it is believed (docs/security.md).
struct CompiledFileTrust {
  /// A file of public keys (`make_signing_keys`, one a line), one of which must have signed it.
  /// Empty: $MORTON_VERIFY_KEY names it, and without one no signature is asked for.
  std::string public_keys;
  /// The rule on a file that its group or others may write, so that they can put code into it.
  enum class Writable : std::uint8_t { refuse, accept } writable = Writable::refuse;
};

/// One plan in a compiled file: inputs and outputs with all extents known.
struct CompiledVariant {
  std::vector<PortInfo> inputs, outputs;
};

/// A model that was compiled ahead (`save_compiled`, `morton compile`): plans, binaries of their
/// kernels, and packed weights, for one device and driver. It starts without a compiler.
///
/// The file holds machine code. Damage is found before a driver sees it; forgery is found where a
/// signature is asked for (CompiledFileTrust). Without one take such files only from those whose
/// programs you would run.
class MORTON_API CompiledFile {
 public:
  /// True for a file that begins as these do; false for any other and where there is none.
  [[nodiscard]] static bool is_one(const std::string& path);
  /// Maps the file, which must not shrink while this or a model from it is in use. Where a
  /// signature is asked for it is read into memory instead, so that nothing changes behind the
  /// check. Throws ModelError for a damaged file, one of another version of Morton, one that others
  /// may write, one without a good signature, or none; UsageError where the keys cannot be read;
  /// UnsupportedError where this build cannot verify signatures.
  [[nodiscard]] static CompiledFile open(const std::string& path,
                                         const CompiledFileTrust& trust = {});

  /// As the model states them, open extents included.
  [[nodiscard]] const std::vector<PortInfo>& inputs() const;
  [[nodiscard]] const std::vector<PortInfo>& outputs() const;
  [[nodiscard]] const std::vector<CompiledVariant>& variants() const;
  /// The public key that was verified, as its file has it; empty where none was asked for.
  [[nodiscard]] const std::string& signed_by() const;
  /// Device, driver and versions that it is for, in one line.
  [[nodiscard]] const std::string& device() const;
  /// Throws UsageError for shapes that it does not hold or another device (see `elsewhere`),
  /// ModelError for damage, DeviceError.
  [[nodiscard]] CompiledModel load(const Device& device,
                                   const CompiledFileOptions& options = {}) const;

 private:
  explicit CompiledFile(std::shared_ptr<const api::CompiledFileState> state);
  std::shared_ptr<const api::CompiledFileState> state_;
};

/// Writes compiled models to one file; several are one model compiled for one device with several
/// shapes, and share kernels and weights in it. The file appears whole or not at all. Throws
/// UsageError where they do not belong together or the file cannot be written, UnsupportedError for
/// models over several devices and those with kernels that a library builds for itself, DeviceError
/// where the driver gives no binaries.
MORTON_API void save_compiled(std::span<const CompiledModel> models, const std::string& path);

/// Makes a pair of keys for signatures (Ed25519): `path`.key, which is secret and readable by its
/// owner alone, and `path`.pub for those who verify. Throws UsageError where one of them is there
/// already or cannot be written, UnsupportedError where this build has no signatures (it was built
/// without libsodium).
MORTON_API void make_signing_keys(const std::string& path);

/// Signs the compiled file at `path` by the secret key in the file `secret_key`, in place of an
/// earlier signature. The file is replaced at once. Throws ModelError for no compiled file,
/// UsageError for a key that is none, or that others may read, and where the file cannot be
/// written, and UnsupportedError likewise.
MORTON_API void sign_compiled(const std::string& path, const std::string& secret_key);

}  // namespace morton
