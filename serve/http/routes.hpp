// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/background.hpp"
#include "http/exchange.hpp"
#include "service/service.hpp"

namespace morton::serve {

/// The Open Inference Protocol's paths, and /metrics.
class Routes {
 public:
  using Done = std::function<void(HttpReply)>;

  explicit Routes(Service& service) : service_(service) {}

  /// Answers a request; calls back once, by any thread. Throws nothing.
  void take(HttpRequest request, Done done);
  /// A request that its connection refused.
  void refused(const HttpRequest& request, int status);
  /// Told before the metrics are written.
  std::function<void()> before_metrics;

 private:
  struct Answering;

  void infer(const std::string& name, const std::string& version, HttpRequest request, Done done);
  void read_and_ask(const std::shared_ptr<Answering>& answering);
  void finish(const std::shared_ptr<Answering>& answering, Outcome outcome);
  [[nodiscard]] HttpReply answer_of(const Answering& answering, const Answered& answer);
  [[nodiscard]] HttpReply model(const std::vector<std::string>& parts, const HttpRequest& request);
  [[nodiscard]] HttpReply at_once(const std::vector<std::string>& parts,
                                  const HttpRequest& request);
  [[nodiscard]] HttpReply index(const HttpRequest& request) const;
  void change(const std::vector<std::string>& parts, const HttpRequest& request, const Done& done);

  Service& service_;
  Background reading_;  ///< reads large JSON, one at a time, so that other clients need not wait
};

}  // namespace morton::serve
