// SPDX-License-Identifier: Apache-2.0
#pragma once

/// CLI11's header takes seconds to compile; headers that only name its types do without.
namespace CLI {
class App;
class Error;
class Option;
class Validator;
}  // namespace CLI
