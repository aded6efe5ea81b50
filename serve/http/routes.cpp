// SPDX-License-Identifier: Apache-2.0
#include "http/routes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <morton/error.hpp>
#include <morton/version.hpp>
#include <optional>
#include <utility>

#include "protocol/datatypes.hpp"

namespace morton::serve {
namespace {

/// JSON of so many bytes is read in milliseconds; a thread of many clients reads no more.
constexpr std::size_t kMostAtOnce = std::size_t{1} << 20;

HttpReply reply_of(int status, std::string text) {
  HttpReply reply;
  reply.status = status;
  reply.text = std::move(text);
  return reply;
}

int status_of(Refusal::Why why) {
  switch (why) {
    case Refusal::Why::wrong:
      return 400;
    case Refusal::Why::no_model:
      return 404;
    case Refusal::Why::late:
      return 504;
    case Refusal::Why::busy:
    case Refusal::Why::memory:
    case Refusal::Why::gone:
      return 503;
    case Refusal::Why::failed:
      break;
  }
  return 500;
}

HttpReply reply_of(const Refusal& refusal) {
  HttpReply reply = reply_of(status_of(refusal.why), error_json(refusal.text));
  if (reply.status == 503) reply.retry_after_s = 1;
  return reply;
}

std::string ports_json(const std::vector<PortInfo>& ports) {
  std::vector<std::string> texts;
  for (const PortInfo& port : ports) {
    texts.push_back(fmt::format(R"({{"name":{},"datatype":"{}","shape":[{}]}})",
                                json_text(port.name), datatype_of(port.dtype),
                                fmt::join(port.shape, ",")));
  }
  return fmt::format("[{}]", fmt::join(texts, ","));
}

/// What a path of a model names: /v2/models/NAME[/versions/VERSION][/ACTION].
struct ModelPath {
  std::string name, version, action;
  bool is_right = false;
};

ModelPath model_path(const std::vector<std::string>& parts) {
  ModelPath path;
  if (parts.size() < 3) return path;
  path.name = parts[2];
  std::size_t next = 3;
  if (parts.size() > 4 && parts[3] == "versions") {
    path.version = parts[4];
    next = 5;
  }
  if (parts.size() > next) path.action = parts[next++];
  path.is_right = parts.size() == next;
  return path;
}

HttpReply nothing_here(const HttpRequest& request) {
  return reply_of(404, error_json("nothing is at " + request.method + " " + request.path));
}

HttpReply wrong_method(const std::string& right) {
  return reply_of(405, error_json("this path is for " + right));
}

/// A path in its parts, with what %XX stands for: "/v2/models/m" is v2, models, m.
std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  std::string part;
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] == '/') {
      if (!part.empty()) parts.push_back(std::exchange(part, {}));
    } else if (path[i] == '%' && i + 2 < path.size() && digit(path[i + 1]) >= 0 &&
               digit(path[i + 2]) >= 0) {
      part += static_cast<char>(digit(path[i + 1]) * 16 + digit(path[i + 2]));
      i += 2;
    } else {
      part += path[i];
    }
  }
  if (!part.empty()) parts.push_back(std::move(part));
  return parts;
}

/// What the log says of any request.
AccessRecord record_of(const HttpRequest& request, int status, std::size_t bytes_in,
                       std::size_t bytes_out) {
  return {request.client,
          request.method,
          request.path,
          status,
          bytes_in,
          bytes_out,
          1e3 * seconds_since(request.arrived)};
}

}  // namespace

void Routes::take(HttpRequest request, Done done) {
  const std::vector<std::string> parts = parts_of(request.path);
  if (parts.size() > 2 && parts[0] == "v2" && parts[1] == "models") {
    const ModelPath path = model_path(parts);
    if (path.is_right && path.action == "infer" && request.method == "POST") {
      return infer(path.name, path.version, std::move(request), std::move(done));
    }
  }
  const auto logged = [this, request, done = std::move(done)](HttpReply reply) {
    service_.log().write(
        record_of(request, reply.status, request.body->bytes().size(), reply.bytes()));
    done(std::move(reply));
  };
  const bool changes = parts.size() == 5 && parts[0] == "v2" && parts[1] == "repository" &&
                       parts[2] == "models" && (parts[4] == "load" || parts[4] == "unload");
  if (changes && request.method == "POST") return change(parts, request, logged);
  HttpReply reply;
  try {
    reply = at_once(parts, request);
  } catch (const UsageError& error) {
    reply = reply_of(400, error_json(error.what()));
  } catch (const std::exception& error) {
    reply = reply_of(500, error_json(error.what()));
  }
  logged(std::move(reply));
}

void Routes::refused(const HttpRequest& request, int status) {
  service_.log().write(record_of(request, status, 0, 0));
}

HttpReply Routes::at_once(const std::vector<std::string>& parts, const HttpRequest& request) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (parts == std::vector<std::string>{"metrics"}) {
    if (!reads) return wrong_method("GET");
    if (before_metrics) before_metrics();
    HttpReply reply = reply_of(200, service_.metrics().text());
    reply.content_type = "text/plain; version=0.0.4";
    return reply;
  }
  if (parts.empty() || parts[0] != "v2") return nothing_here(request);
  if (parts == std::vector<std::string>{"v2", "repository", "index"}) {
    return request.method == "POST" ? index(request) : wrong_method("POST");
  }
  if (parts.size() > 2 && parts[1] == "models") {
    return model(parts, request);
  }
  if (!reads)
    return parts.size() > 1 && parts[1] == "health" ? wrong_method("GET") : nothing_here(request);
  if (parts.size() == 1) {
    return reply_of(
        200,
        fmt::format(
            R"({{"name":"morton","version":{},"extensions":["binary_tensor_data","model_repository"]}})",
            json_text(MORTON_VERSION)));
  }
  if (parts.size() == 3 && parts[1] == "health") {
    if (parts[2] == "live") return reply_of(200, R"({"live":true})");
    if (parts[2] == "ready") {
      const bool ready = service_.is_ready();
      return reply_of(ready ? 200 : 503, fmt::format(R"({{"ready":{}}})", ready));
    }
  }
  return nothing_here(request);
}

HttpReply Routes::model(const std::vector<std::string>& parts, const HttpRequest& request) {
  const ModelPath path = model_path(parts);
  if (!path.is_right ||
      (!path.action.empty() && path.action != "ready" && path.action != "infer")) {
    return nothing_here(request);
  }
  if (path.action == "infer") return wrong_method("POST");
  if (request.method != "GET" && request.method != "HEAD") return wrong_method("GET");
  Inference asked{path.name, path.version, request.arrived, nullptr, {}};
  const std::optional<Refusal> refusal = service_.find(asked);
  if (path.action == "ready") {
    if (refusal && refusal->why == Refusal::Why::no_model) return reply_of(*refusal);
    return reply_of(refusal ? 503 : 200,
                    fmt::format(R"({{"name":{},"ready":{}}})", json_text(path.name), !refusal));
  }
  if (refusal) return reply_of(*refusal);
  const ServedModel& served = *asked.model;
  return reply_of(
      200,
      fmt::format(
          R"({{"name":{},"versions":[{}],"platform":"morton_opencl","inputs":{},"outputs":{}}})",
          json_text(served.name()), json_text(served.version()), ports_json(served.inputs()),
          ports_json(served.outputs())));
}

HttpReply Routes::index(const HttpRequest& request) const {
  std::vector<std::string> lines;
  const auto listed =
      read_index_request(*request.body) ? Service::Listed::ready : Service::Listed::all;
  for (const ModelState& one : service_.index(listed)) {
    lines.push_back(fmt::format(R"({{"name":{},"version":{},"state":"{}","reason":{}}})",
                                json_text(one.name), json_text(one.version), name_of(one.state),
                                json_text(one.reason)));
  }
  return reply_of(200, fmt::format("[{}]", fmt::join(lines, ",")));
}

void Routes::change(const std::vector<std::string>& parts, const HttpRequest& request,
                    const Done& done) {
  const auto change = parts[4] == "load" ? RepositoryChange::load : RepositoryChange::unload;
  try {
    read_change_request(*request.body, change);
  } catch (const std::exception& error) {
    return done(reply_of(400, error_json(error.what())));
  }
  service_.change(parts[3], change, [done](const std::optional<Refusal>& refusal) {
    done(refusal ? reply_of(*refusal) : reply_of(200, "{}"));
  });
}

/// What is needed when the answer is there.
struct Routes::Answering {
  HttpRequest request;
  Done done;
  std::shared_ptr<Inference> inference;

  [[nodiscard]] std::size_t json_bytes() const {
    return request.json_bytes.value_or(request.body->bytes().size());
  }
};

void Routes::infer(const std::string& name, const std::string& version, HttpRequest request,
                   Done done) {
  const auto answering = std::make_shared<Answering>();
  answering->inference =
      std::make_shared<Inference>(Inference{name, version, request.arrived, nullptr, {}});
  answering->request = std::move(request);
  answering->done = std::move(done);
  // Before the body is read, which takes longer.
  if (auto refusal = service_.find(*answering->inference)) {
    return finish(answering, std::move(*refusal));
  }
  if (answering->json_bytes() <= kMostAtOnce) return read_and_ask(answering);
  reading_.post([this, answering] { read_and_ask(answering); });
}

void Routes::read_and_ask(const std::shared_ptr<Answering>& answering) {
  const HttpRequest& request = answering->request;
  auto refusal = failure_of(Refusal::Why::wrong, [&] {
    answering->inference->request =
        read_infer_request(request.body, answering->json_bytes(), *request.held);
  });
  if (refusal) return finish(answering, std::move(*refusal));
  service_.infer(answering->inference,
                 [this, answering](Outcome outcome) { finish(answering, std::move(outcome)); });
}

/// Throws what writing the answer throws.
HttpReply Routes::answer_of(const Answering& answering, const Answered& answer) {
  const Inference& inference = *answering.inference;
  InferResponse response =
      write_infer_response(inference.request, inference.name, inference.model->version(),
                           answer.outputs, *answering.request.held);
  HttpReply reply = reply_of(200, std::move(response.json));
  if (!response.binaries.empty()) reply.content_type = "application/octet-stream";
  reply.binaries = std::move(response.binaries);
  return reply;
}

/// Called by models' threads too, which must live on.
void Routes::finish(const std::shared_ptr<Answering>& answering, Outcome outcome) {
  HttpReply reply;
  if (const auto* answer = std::get_if<Answered>(&outcome)) {
    auto failure =
        failure_of(Refusal::Why::failed, [&] { reply = answer_of(*answering, *answer); });
    if (failure) outcome = std::move(*failure);
  }
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) reply = reply_of(*refusal);
  service_.count(*answering->inference, outcome);
  if (service_.log().is_on()) {
    const HttpRequest& request = answering->request;
    AccessRecord record =
        record_of(request, reply.status, request.body->bytes().size(), reply.bytes());
    put_times(record, outcome);
    service_.log().write(record);
  }
  answering->done(std::move(reply));
}

}  // namespace morton::serve
