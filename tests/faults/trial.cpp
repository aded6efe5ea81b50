// SPDX-License-Identifier: Apache-2.0
#include "faults/trial.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <new>
#include <optional>
#include <random>
#include <set>

#include "faults/allocations.hpp"
#include "morton/error.hpp"

namespace morton::faults {
namespace {

/// Of the largest number: what kernels that took another's place may differ by.
constexpr double kRounding = 1e-4;
/// CL_DEVICE_NOT_FOUND: the platform has none, which is no fault of it.
constexpr int kDeviceNotFound = -1;

/// Whether both are the same floats but for rounding.
bool is_close(const Answer& a, const Answer& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].size() != b[i].size() || a[i].size() % sizeof(float) != 0) return false;
    std::vector<float> x(a[i].size() / sizeof(float)), y(x.size());
    std::memcpy(x.data(), a[i].data(), a[i].size());
    std::memcpy(y.data(), b[i].data(), b[i].size());
    double most = 0.0, off = 0.0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      most = std::max(most, std::abs(static_cast<double>(x[k])));
      off = std::max(off, std::abs(static_cast<double>(x[k]) - static_cast<double>(y[k])));
    }
    if (!(off <= kRounding * most)) return false;
  }
  return true;
}

/// What an act under a fault ended in: an answer, or what was thrown.
struct End {
  std::optional<Answer> answer;
  std::string error;  ///< of Morton's, "" without one
  ErrorClass error_class = ErrorClass::device;
  bool out_of_memory = false;
  std::string foreign;  ///< what() of an exception that is not Morton's
};

End act(Scenario& scenario) {
  End end;
  try {
    end.answer = scenario.act();
  } catch (const Error& error) {
    end.error = error.what();
    end.error_class = error.error_class();
  } catch (const std::bad_alloc&) {
    end.out_of_memory = true;
  } catch (const std::exception& error) {
    end.foreign = error.what();
  } catch (...) {
    end.foreign = "an exception of no known type";
  }
  return end;
}

Verdict wrong(const std::string& why) { return {Verdict::Kind::wrong, why}; }

/// Whether a message says which call failed and with which error.
bool names_the_call(const std::string& text, const Fault& fault) {
  // What a null handle does shows where it is used.
  if (fault.way == kFaultLie) return true;
  if (fault.error == kDeviceNotFound)
    return text.find("no OpenCL device is found") != std::string::npos;
  // When all calls fail, any of them may be the one that is told.
  const std::string function =
      fault.way == kFaultFromHere ? "cl" : morton_layer_name(fault.function);
  const std::string code = "(" + std::to_string(fault.error) + ")";
  // OpenCL's binding writes clEnqueueUnMapMemObject.
  const auto same = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
  const bool names =
      std::search(text.begin(), text.end(), function.begin(), function.end(), same) != text.end();
  return names && text.find(code) != std::string::npos;
}

Verdict judge(const End& end, const Fault& fault, const Clean& clean) {
  if (!end.foreign.empty()) return wrong("an exception that is not Morton's: " + end.foreign);
  if (end.answer) {
    if (*end.answer == clean.answer) return {Verdict::Kind::recovered, ""};
    if (is_close(*end.answer, clean.answer)) return {Verdict::Kind::close, ""};
    return wrong("a wrong answer");
  }
  if (fault.function < 0) {
    if (end.out_of_memory) return {Verdict::Kind::reported, "out of memory"};
    if (end.error_class == ErrorClass::internal) return wrong("an internal error: " + end.error);
    return {Verdict::Kind::reported, end.error};
  }
  if (end.out_of_memory) return wrong("std::bad_alloc for an error of OpenCL");
  if (end.error_class != ErrorClass::device) return wrong("not a DeviceError: " + end.error);
  if (!names_the_call(end.error, fault))
    return wrong("the message does not name the call and its error: " + end.error);
  return {Verdict::Kind::reported, end.error};
}

std::string live_text() {
  char text[512];
  morton_layer_live_text(text, sizeof(text));
  return text;
}

}  // namespace

std::string text_of(const Fault& fault) {
  if (fault.function < 0) return "allocation " + std::to_string(fault.call) + " fails";
  constexpr const char* kWays[] = {"fails with ", "and all calls after it fail with ",
                                   "gives null, not ", "stalls, not "};
  return std::string(morton_layer_name(fault.function)) + ", call " + std::to_string(fault.call) +
         ", " + kWays[fault.way] + std::to_string(fault.error);
}

Clean clean_run(Scenario& scenario) {
  Clean clean;
  for (int i = 0; i < 3; ++i) {
    scenario.open();
    morton_layer_reset();
    Allocations::fail(0);
    Answer answer = scenario.act();
    clean.allocations = Allocations::count();
    if (i == 2 && answer != clean.answer) throw InternalError("two runs without a fault differ");
    clean.answer = std::move(answer);
    clean.calls.clear();
    for (int f = 0; f < morton_layer_functions(); ++f) clean.calls.push_back(morton_layer_calls(f));
    scenario.close();
  }
  if (morton_layer_live() != 0)
    throw InternalError("without a fault there is left: " + live_text());
  return clean;
}

Verdict try_fault(Scenario& scenario, const Fault& fault, const Clean& clean) {
  scenario.open();
  morton_layer_reset();
  if (fault.function >= 0) {
    morton_layer_arm(fault.function, fault.call, fault.error, fault.way);
  } else {
    Allocations::fail(fault.call);
  }
  const End end = act(scenario);
  static_cast<void>(Allocations::count());
  const bool fired = fault.function >= 0 ? morton_layer_fired() > 0 : Allocations::has_failed();
  morton_layer_disarm();
  Verdict verdict = fired ? judge(end, fault, clean) : Verdict{Verdict::Kind::not_reached, ""};
  if (verdict.kind == Verdict::Kind::wrong) {
    scenario.close();
    return verdict;
  }
  // What vanished may have to be opened anew.
  if (fault.way == kFaultFromHere) {
    scenario.close();
    scenario.open();
  }
  const End again = act(scenario);
  scenario.close();
  if (!again.answer) return wrong("the act after it failed: " + again.error + again.foreign);
  if (*again.answer != clean.answer && !is_close(*again.answer, clean.answer)) {
    return wrong("the act after it gave a wrong answer");
  }
  if (morton_layer_live() != 0) return wrong("a leak of " + live_text() + " after: " + verdict.why);
  return verdict;
}

std::vector<Fault> faults_for(const Clean& clean, const Choice& choice) {
  std::mt19937 random(choice.seed);
  std::vector<Fault> faults;
  for (int f = 0; choice.calls && f < morton_layer_functions(); ++f) {
    const long calls = clean.calls[static_cast<std::size_t>(f)];
    if (calls == 0) continue;
    // OpenCL's C++ binding releases a handle that it failed to retain, so nobody
    // above it can go on.
    if (std::string_view(morton_layer_name(f)).starts_with("clRetain")) continue;
    const int* errors = nullptr;
    const int count = morton_layer_errors(f, &errors);
    if (choice.sample) {
      faults.push_back({f, 1 + static_cast<long>(random() % static_cast<unsigned long>(calls)),
                        errors[random() % static_cast<unsigned>(count)], kFaultOnce});
      continue;
    }
    std::set<long> numbers{1, calls};
    for (int i = 0; i < choice.some; ++i) {
      numbers.insert(1 + static_cast<long>(random() % static_cast<unsigned long>(calls)));
    }
    for (const long number : numbers) {
      for (int e = 0; e < count; ++e) faults.push_back({f, number, errors[e], kFaultOnce});
      if (morton_layer_makes_objects(f) != 0) faults.push_back({f, number, 0, kFaultLie});
      for (const int gone : {-2, -5, -36}) faults.push_back({f, number, gone, kFaultFromHere});
    }
  }
  if (choice.allocation_stride > 0) {
    const long stride =
        choice.sample ? std::max(clean.allocations / 10, 1L) : choice.allocation_stride;
    for (long n = 1; n <= clean.allocations; n += stride) faults.push_back({-1, n, 0, kFaultOnce});
  }
  return faults;
}

}  // namespace morton::faults
