// SPDX-License-Identifier: Apache-2.0
#include "http/routes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <morton/error.hpp>
#include <morton/version.hpp>
#include <system_error>
#include <utility>

#include "protocol/datatypes.hpp"

namespace morton::serve {
namespace {

double seconds_since(Clock::time_point begun) {
  return std::chrono::duration<double>(Clock::now() - begun).count();
}

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

const char* name_of(ModelState::State state) {
  switch (state) {
    case ModelState::State::loading:
      return "LOADING";
    case ModelState::State::ready:
      return "READY";
    case ModelState::State::unavailable:
      break;
  }
  return "UNAVAILABLE";
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

Routes::Routes(ModelRepository& repository, Metrics& metrics, AccessLog& log)
    : repository_(repository), metrics_(metrics), log_(log) {}

Routes::~Routes() {
  if (changing_.joinable()) changing_.join();
}

void Routes::take(HttpRequest request, Done done) {
  const std::vector<std::string> parts = parts_of(request.path);
  if (parts.size() > 2 && parts[0] == "v2" && parts[1] == "models") {
    const ModelPath path = model_path(parts);
    if (path.is_right && path.action == "infer" && request.method == "POST") {
      return infer(path.name, path.version, std::move(request), std::move(done));
    }
  }
  const auto logged = [this, request, done = std::move(done)](HttpReply reply) {
    log_.write(record_of(request, reply.status, request.body->bytes().size(), reply.bytes()));
    done(std::move(reply));
  };
  const bool changes = parts.size() == 5 && parts[0] == "v2" && parts[1] == "repository" &&
                       parts[2] == "models" && (parts[4] == "load" || parts[4] == "unload");
  if (changes && request.method == "POST") return change(parts, logged);
  HttpReply reply;
  try {
    reply = at_once(parts, request);
  } catch (const std::exception& error) {
    reply = reply_of(500, error_json(error.what()));
  }
  logged(std::move(reply));
}

void Routes::refused(const HttpRequest& request, int status) {
  log_.write(record_of(request, status, 0, 0));
}

HttpReply Routes::at_once(const std::vector<std::string>& parts, const HttpRequest& request) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (parts == std::vector<std::string>{"metrics"}) {
    if (!reads) return wrong_method("GET");
    if (before_metrics) before_metrics();
    HttpReply reply = reply_of(200, metrics_.text());
    reply.content_type = "text/plain; version=0.0.4";
    return reply;
  }
  if (parts.empty() || parts[0] != "v2") return nothing_here(request);
  if (parts == std::vector<std::string>{"v2", "repository", "index"}) {
    return request.method == "POST" ? index() : wrong_method("POST");
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
      const bool ready = !draining_ && repository_.is_ready();
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
  const auto found = repository_.find(path.name, path.version);
  const auto* refusal = std::get_if<Refusal>(&found);
  if (path.action == "ready") {
    if (refusal != nullptr && refusal->why == Refusal::Why::no_model) return reply_of(*refusal);
    return reply_of(
        refusal == nullptr ? 200 : 503,
        fmt::format(R"({{"name":{},"ready":{}}})", json_text(path.name), refusal == nullptr));
  }
  if (refusal != nullptr) return reply_of(*refusal);
  const ServedModel& served = *std::get<std::shared_ptr<ServedModel>>(found);
  return reply_of(
      200,
      fmt::format(
          R"({{"name":{},"versions":[{}],"platform":"morton_opencl","inputs":{},"outputs":{}}})",
          json_text(served.name()), json_text(served.version()), ports_json(served.inputs()),
          ports_json(served.outputs())));
}

HttpReply Routes::index() const {
  std::vector<std::string> lines;
  for (const ModelState& one : repository_.index()) {
    lines.push_back(fmt::format(R"({{"name":{},"version":{},"state":"{}","reason":{}}})",
                                json_text(one.name), json_text(one.version), name_of(one.state),
                                json_text(one.reason)));
  }
  return reply_of(200, fmt::format("[{}]", fmt::join(lines, ",")));
}

/// Loading waits for kernels, so a thread of its own does it: one at a time.
void Routes::change(const std::vector<std::string>& parts, const Done& done) {
  const auto carry_out = [this, name = parts[3], loads = parts[4] == "load", done] {
    const std::string why = loads ? repository_.load(name) : repository_.unload(name);
    {
      const std::lock_guard lock(mutex_);
      is_changing_ = false;
    }
    done(why.empty() ? reply_of(200, "{}") : reply_of(400, error_json(why)));
  };
  std::string why = "another model is being loaded or unloaded";
  {
    const std::lock_guard lock(mutex_);
    if (!is_changing_) {
      if (changing_.joinable()) changing_.join();
      try {
        changing_ = std::thread(carry_out);
        is_changing_ = true;
        return;
      } catch (const std::system_error& error) {
        why = error.what();
      }
    }
  }
  done(reply_of(Refusal{Refusal::Why::busy, why}));
}

/// What is needed when the answer is there.
struct Routes::Answering {
  std::string name, version;
  HttpRequest request;
  Done done;
  InferRequest asked;
  std::shared_ptr<ServedModel> model;
  bool is_again = false;  ///< the model that was found first had gone
};

void Routes::infer(const std::string& name, const std::string& version, HttpRequest request,
                   Done done) {
  const auto answering = std::make_shared<Answering>();
  answering->name = name;
  answering->version = version;
  answering->request = std::move(request);
  answering->done = std::move(done);
  try {
    const auto& body = answering->request.body;
    auto found = repository_.find(name, version);  // before the body is read, which takes longer
    if (auto* refusal = std::get_if<Refusal>(&found)) return finish(answering, std::move(*refusal));
    answering->asked =
        read_infer_request(body, answering->request.json_bytes.value_or(body->bytes().size()));
  } catch (const Error& error) {
    return finish(answering, Refusal{Refusal::Why::wrong, error.what()});
  } catch (const std::exception& error) {
    return finish(answering, Refusal{Refusal::Why::failed, error.what()});
  }
  ask(answering);
}

void Routes::ask(const std::shared_ptr<Answering>& answering) {
  auto found = repository_.find(answering->name, answering->version);
  if (auto* refusal = std::get_if<Refusal>(&found)) return finish(answering, std::move(*refusal));
  answering->model = std::get<std::shared_ptr<ServedModel>>(found);
  answering->model->infer(
      answering->asked, answering->request.arrived, [this, answering](Outcome outcome) {
        const auto* refusal = std::get_if<Refusal>(&outcome);
        const bool gone = refusal != nullptr && refusal->why == Refusal::Why::gone;
        if (gone && !std::exchange(answering->is_again, true)) {
          ask(answering);  // another one may have taken its place
        } else {
          finish(answering, std::move(outcome));
        }
      });
}

/// Throws what writing the answer throws.
HttpReply Routes::answer_of(Answering& answering, const Outcome& outcome) {
  // Of models that are here: others would add a name for each request.
  ModelMetrics* const metrics = answering.model ? &metrics_.of(answering.model->name()) : nullptr;
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    if (metrics != nullptr) metrics->refused(refusal->why);
    return reply_of(*refusal);
  }
  const auto& answer = std::get<Answered>(outcome);
  InferResponse response = write_infer_response(answering.asked, answering.name,
                                                answering.model->version(), answer.outputs);
  HttpReply reply = reply_of(200, std::move(response.json));
  if (!response.binaries.empty()) reply.content_type = "application/octet-stream";
  reply.binaries = std::move(response.binaries);
  metrics->answered(answer.times, seconds_since(answering.request.arrived));
  return reply;
}

/// Called by models' threads too, which must live on.
void Routes::finish(const std::shared_ptr<Answering>& answering, Outcome outcome) {
  HttpReply reply;
  try {
    reply = answer_of(*answering, outcome);
  } catch (const std::exception& error) {
    reply = reply_of(500, error_json(error.what()));
  }
  const HttpRequest& request = answering->request;
  if (log_.is_on()) {
    AccessRecord record =
        record_of(request, reply.status, request.body->bytes().size(), reply.bytes());
    if (const auto* answer = std::get_if<Answered>(&outcome); answer && reply.status == 200) {
      record.batch = answer->times.batch;
      record.queue_ms = 1e3 * answer->times.queue;
      record.compute_ms = 1e3 * answer->times.compute;
    }
    log_.write(record);
  }
  answering->done(std::move(reply));
}

}  // namespace morton::serve
