// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

namespace morton::faults {

/// What a scenario computed: bytes of tensors, to be compared bit for bit.
using Answer = std::vector<std::string>;

/// Something that a program does with Morton's public interface. A trial opens it, lets it act
/// while a call fails, lets it act again without, and closes it.
class Scenario {
 public:
  Scenario() = default;
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;
  virtual ~Scenario() = default;
  /// What is there before the failing call; nothing fails in here.
  virtual void open() {}
  /// Throws what Morton throws. After a failure it can be called again, and must then give the
  /// right answer.
  [[nodiscard]] virtual Answer act() = 0;
  /// Lets all go that `open` and `act` made.
  virtual void close() {}
};

/// Names of all scenarios: load, compile, run, train, save, serve.
[[nodiscard]] const std::vector<std::string>& scenario_names();
/// `folder` is for its caches and files, and is kept between trials.
[[nodiscard]] std::unique_ptr<Scenario> make_scenario(const std::string& name,
                                                      const std::string& folder);

}  // namespace morton::faults
