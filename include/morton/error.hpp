// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

#include "morton/export.hpp"

namespace morton {

/// Who must act on an error; also the exit status of the command line (docs/command_line.md).
enum class ErrorClass {
  usage,        ///< the caller asked for something impossible: exit status 2
  model,        ///< a model, data, catalogue or cache file is wrong: exit status 3
  unsupported,  ///< the file is right, the engine cannot do it: exit status 3
  device,       ///< no device, a driver's refusal, a lost context: exit status 4
  internal,     ///< a defect of Morton: exit status 70
};

/// Base of every exception that Morton throws. `what()` says where, what was expected, what was
/// got, and what to do.
class MORTON_API Error : public std::runtime_error {
 public:
  Error(ErrorClass error_class, const std::string& message)
      : std::runtime_error(message), class_(error_class) {}
  ~Error() override;
  [[nodiscard]] ErrorClass error_class() const { return class_; }

 private:
  ErrorClass class_;
};

/// The caller's request cannot be met as stated (a wrong option, a wrong shape, a missing input).
class MORTON_API UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ErrorClass::usage, message) {}
  ~UsageError() override;
};

/// A model or data file is damaged or contradicts itself.
class MORTON_API ModelError : public Error {
 public:
  explicit ModelError(const std::string& message) : Error(ErrorClass::model, message) {}
  ~ModelError() override;
};

/// A valid request that this engine, or this device, has no means for.
class MORTON_API UnsupportedError : public Error {
 public:
  explicit UnsupportedError(const std::string& message) : Error(ErrorClass::unsupported, message) {}
  ~UnsupportedError() override;
};

/// The device or its driver failed, or there is none.
class MORTON_API DeviceError : public Error {
 public:
  explicit DeviceError(const std::string& message) : Error(ErrorClass::device, message) {}
  ~DeviceError() override;
};

/// Morton contradicts itself; please report it.
class MORTON_API InternalError : public Error {
 public:
  explicit InternalError(const std::string& message) : Error(ErrorClass::internal, message) {}
  ~InternalError() override;
};

}  // namespace morton
