// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/single_problem.hpp"
#include "morton/session.hpp"

namespace morton::cli {

/// Samples of one contender, in milliseconds of one call.
struct Samples {
  /// On the host's clock, calls back to back for 20 ms or more with one wait at the end: what a
  /// caller gets, packing and unpacking included. The figure by which contenders are compared.
  std::vector<double> call;
  /// The same of the steps that compute, without packing; empty where that cannot be told apart.
  std::vector<double> alone;
  /// One call that is waited for, on the host's clock.
  std::vector<double> waited;
  /// The steps that compute, on the device's clock; empty where it has none.
  std::vector<double> device;
};

/// Who takes part in a comparison: checked, then timed in turns with the others. Every contender
/// has `sets` sets of operands, which its calls use in turn.
class Contender {
 public:
  enum class Kind : std::uint8_t { kernel, peer };
  /// What is said of it beside its figures.
  struct About {
    Kind kind = Kind::kernel;
    std::string version;     ///< of a peer
    std::string work_group;  ///< "4x16" of each step that computes
    /// Values of tunables, by kernel, of the steps that compute.
    std::map<std::string, std::map<std::string, std::int64_t>> tunables;
    std::string padding;                       ///< "lhs 104x20" of operands that are padded
    DType stored = DType::f32;                 ///< coarsest type in which operands are held
    std::vector<std::string> steps;            ///< kernels, in order
    std::vector<std::string> computing;        ///< those that do not only pack
    bool bounded_by_peak = true;               ///< whether its arithmetic is what the peak measures
    std::chrono::milliseconds pause_after{0};  ///< its threads spin: a pause before the next
  };

  Contender(std::string name, std::size_t sets) : name_(std::move(name)), sets_(sets) {}
  Contender(const Contender&) = delete;
  Contender& operator=(const Contender&) = delete;
  virtual ~Contender() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] virtual About about() const = 0;

  /// Computes the expectation's inputs, which stay set.
  [[nodiscard]] Expectation::Comparison check(const Expectation& expectation);
  /// Greatest error that `check` saw.
  [[nodiscard]] double error() const { return error_; }

  /// Runs for this long and finds how many calls make a sample.
  void warm_up(double ms);
  /// Takes one sample of each kind, after some calls that do not count: others have had the caches
  /// since.
  void sample();
  [[nodiscard]] const Samples& samples() const { return samples_; }
  /// What `check`, `warm_up` and `sample` have taken together, and the last sample of it.
  [[nodiscard]] double spent_ms() const { return spent_ms_; }
  [[nodiscard]] double last_sample_ms() const { return last_sample_ms_; }

 protected:
  enum class Part : std::uint8_t { whole, computing };
  /// Sets the inputs, runs once on the first set, and returns dst.
  virtual Tensor compute(const Inputs& inputs) = 0;
  /// One call on this set of operands; it may return before it is done.
  virtual void enqueue(std::size_t set, Part part) = 0;
  virtual void wait() = 0;
  /// Whether calls can leave the packing out, and there is any.
  [[nodiscard]] virtual bool has_packing() const = 0;
  /// One sample on the device's clock, read after this many runs in a row.
  virtual std::optional<double> device_ms(int runs) = 0;
  /// Unit roundoff of the coarsest type in which values are held.
  [[nodiscard]] virtual double unit_roundoff() const = 0;
  [[nodiscard]] std::size_t sets() const { return sets_; }

 private:
  /// Calls back to back and waits once; milliseconds of one.
  double run_ms(int calls, Part part);
  /// As `run_ms` for a whole sample: with more calls where they took less than it should.
  double sample_ms(Part part);
  double waited_ms();
  /// Whether one call lasts so long that what ran before it does not matter.
  [[nodiscard]] bool is_long() const;

  std::string name_;
  std::size_t sets_;
  std::size_t next_set_ = 0;
  int calls_ = 0;         ///< of the next sample; 0: not known yet
  double call_ms_ = 0.0;  ///< of the quickest call while warming up
  double error_ = 0.0;
  double spent_ms_ = 0.0, last_sample_ms_ = 0.0;
  Samples samples_;
};

}  // namespace morton::cli
