// SPDX-License-Identifier: Apache-2.0
// morton-serve: answers requests of the Open Inference Protocol. `morton serve` runs it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <morton/device.hpp>
#include <morton/error.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/access_log.hpp"
#include "common/metrics.hpp"
#include "grpc/grpc_server.hpp"
#include "http/http_server.hpp"
#include "http/routes.hpp"
#include "models/repository.hpp"

namespace morton::serve {

constexpr int kUsageStatus = 2;
/// What is at work behind the time for draining has so long.
constexpr std::chrono::seconds kLastSeconds{5};

namespace {

/// What the command line says.
struct Wishes {
  std::vector<std::string> models, devices, shapes;
  ServingOptions serving;
  HttpOptions http;
  std::optional<std::uint16_t> grpc_port;
  std::string access_log, token_file, precision = "f32";
  std::int64_t max_memory_bytes = std::int64_t{512} << 20;
  std::int64_t delay_us = 0, read_timeout_s = 30, drain_s = 30, memory_limit = 0;
};

void say(const std::string& line) { std::fprintf(stderr, "morton serve: %s\n", line.c_str()); }

std::string first_line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  line.erase(line.find_last_not_of(" \r\t") + 1);
  if (line.empty()) throw UsageError(path + ": holds no token");
  return line;
}

/// "input:1x3x224x224"
std::pair<std::string, Shape> shape_of(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  Shape shape;
  if (colon != std::string::npos && colon > 0) {
    for (const std::string& extent : CLI::detail::split(text.substr(colon + 1), 'x')) {
      std::int64_t value = 0;
      if (!CLI::detail::lexical_cast(extent, value) || value < 1) {
        shape.clear();
        break;
      }
      shape.push_back(value);
    }
  }
  if (shape.empty()) throw UsageError("--shape: expected NAME:1x3x224x224, got '" + text + "'");
  return {text.substr(0, colon), shape};
}

/// A validator without the words that it adds to the help.
CLI::Validator quiet(CLI::Validator validator) { return validator.description(""); }

void add_model_options(CLI::App& app, Wishes& wishes) {
  ServingOptions& serving = wishes.serving;
  const CLI::Validator positive = quiet(CLI::PositiveNumber);
  app.add_option("models", wishes.models,
                 "Model files, NAME=FILE, a model's folder with versions in 1, 2, ..., or a folder "
                 "of them")
      ->type_name("MODELS")
      ->required();
  app.add_option("-d,--device", wishes.devices,
                 "Device (P:D, cpu, gpu, auto, a name); repeatable: each has a thread")
      ->type_name("DEVICE")
      ->allow_extra_args(false);
  app.add_option("--max-batch", serving.max_batch,
                 "Items that requests may share a batch up to, at most 4096 (8)")
      ->type_name("N")
      ->check(quiet(CLI::Range(1, 4096)));
  app.add_option("--max-delay-us", wishes.delay_us,
                 "Microseconds that a request waits for others to share its batch (0)")
      ->type_name("N")
      ->check(quiet(CLI::Range(0, 10'000'000)));
  app.add_option("--max-queue", serving.max_queue,
                 "Requests that may wait for a model; further ones get 503 (256)")
      ->type_name("N")
      ->check(positive);
  app.add_option("--shape", wishes.shapes,
                 "Shape of an input with open extents, of one model as MODEL:NAME:...; repeatable")
      ->type_name("NAME:1x3x224x224")
      ->allow_extra_args(false);
  app.add_option("--precision", wishes.precision,
                 "How operands may be kept in memory: f32, f16 or bf16 (f32)")
      ->type_name("TYPE")
      ->check(quiet(CLI::IsMember({"f32", "f16", "bf16"})));
  app.add_option("--cache-dir", serving.cache_dir,
                 "Folder of built kernels (default: $MORTON_CACHE_DIR, else ~/.cache/morton)")
      ->type_name("FOLDER");
  app.add_option("--memory-limit", wishes.memory_limit, "Most device memory of the process: 64MiB")
      ->type_name("BYTES")
      ->transform(quiet(CLI::AsSizeValue(false)))
      ->check(positive);
}

void add_http_options(CLI::App& app, Wishes& wishes) {
  HttpOptions& http = wishes.http;
  const CLI::Validator positive = quiet(CLI::PositiveNumber);
  const CLI::Validator seconds = quiet(CLI::Range(1, 86400));
  const CLI::Validator bytes = quiet(CLI::AsSizeValue(false));
  app.add_option("--host", http.address, "Address to listen on; 0.0.0.0 is every one (127.0.0.1)")
      ->type_name("ADDRESS");
  app.add_option("--port", http.port, "Port; 0 takes a free one (8000)")->type_name("PORT");
  app.add_option("--grpc-port", wishes.grpc_port,
                 "Port of gRPC, on the same address; 0 takes a free one (none; 8001 is usual)")
      ->type_name("PORT");
  app.add_option("--unix-socket", http.unix_socket, "A socket of that path too")->type_name("PATH");
  app.add_flag("!--no-tcp", http.over_tcp, "Listen on the unix socket alone");
  app.add_option("--threads", http.threads, "Threads that read and write, at most 64 (2)")
      ->type_name("N")
      ->check(quiet(CLI::Range(1, 64)));
  app.add_option("--token-file", wishes.token_file,
                 "File whose first line requests must bear: Authorization: Bearer ...")
      ->type_name("FILE");
  auto* const certificate = app.add_option("--tls-certificate", http.certificate,
                                           "PEM file of the certificate's chain: HTTPS")
                                ->type_name("FILE");
  auto* const key = app.add_option("--tls-key", http.key, "PEM file of its key")->type_name("FILE");
  certificate->needs(key);
  key->needs(certificate);
  app.add_option("--max-request", http.max_request_bytes, "Bytes of a request, at most (64MiB)")
      ->type_name("BYTES")
      ->transform(bytes)
      ->check(positive);
  app.add_option("--max-memory", wishes.max_memory_bytes,
                 "Bytes of all requests that are read or answered, and of their replies (512MiB)")
      ->type_name("BYTES")
      ->transform(bytes)
      ->check(positive);
  app.add_option("--max-connections", http.max_connections,
                 "Connections at a time, and calls of gRPC (1024)")
      ->type_name("N")
      ->check(positive);
  app.add_option("--read-timeout", wishes.read_timeout_s,
                 "Seconds for a body or a reply, and one more for each 64 KiB (30)")
      ->type_name("N")
      ->check(seconds);
  app.add_option("--drain", wishes.drain_s, "Seconds that answers may take after SIGTERM (30)")
      ->type_name("N")
      ->check(quiet(CLI::Range(0, 86400)));
  app.add_option("--access-log", wishes.access_log,
                 "File for a line of JSON a request; - is the standard output")
      ->type_name("FILE");
}

constexpr const char* kFooter = R"(Examples:
  morton serve models/lenet5.onnx
  morton serve digits=models/lenet5.onnx --port 9000 --max-batch 16 --max-delay-us 500
  morton serve models/lenet5.onnx --grpc-port 8001
  morton serve /srv/models --host 0.0.0.0 --token-file /etc/morton/token --access-log -
  curl http://127.0.0.1:8000/v2/models/lenet5)";

/// gRPC is served as HTTP is: none where no port is given.
std::unique_ptr<GrpcServer> grpc_server(const Wishes& wishes, Service& service,
                                        MemoryBudget& budget) {
  if (!wishes.grpc_port) return nullptr;
  const HttpOptions& http = wishes.http;
  if (!http.over_tcp) throw UsageError("--grpc-port: with --no-tcp there is no port");
  return std::make_unique<GrpcServer>(
      GrpcOptions{http.address, *wishes.grpc_port, http.token, http.certificate, http.key,
                  http.max_request_bytes, http.max_connections, http.read_timeout},
      service, budget);
}

int serve(Wishes& wishes) {
  if (!wishes.token_file.empty()) wishes.http.token = first_line_of(wishes.token_file);
  if (!wishes.devices.empty()) wishes.serving.devices = wishes.devices;
  for (const std::string& text : wishes.shapes) wishes.serving.shapes.insert(shape_of(text));
  if (wishes.memory_limit > 0) set_memory_limit(wishes.memory_limit);
  wishes.serving.precision = parse_dtype(wishes.precision);
  wishes.serving.max_delay = std::chrono::microseconds(wishes.delay_us);
  wishes.http.read_timeout = std::chrono::seconds(wishes.read_timeout_s);
  std::vector<ModelSource> sources;
  for (const std::string& word : wishes.models) {
    for (ModelSource& source : model_sources(word)) sources.push_back(std::move(source));
  }
  AccessLog log(wishes.access_log);
  Metrics metrics;
  std::unique_ptr<Routes> routes;
  MemoryBudget budget(wishes.max_memory_bytes);
  HttpServer server(
      wishes.http, budget,
      [&](HttpRequest request, Routes::Done done) {
        routes->take(std::move(request), std::move(done));
      },
      [&](const HttpRequest& request, int status) { routes->refused(request, status); });
  ModelRepository repository(std::move(sources), wishes.serving, say);
  Service service(repository, metrics, log);
  routes = std::make_unique<Routes>(service);
  std::unique_ptr<GrpcServer> grpc = grpc_server(wishes, service, budget);
  routes->before_metrics = [&] {
    metrics.set_connections(server.connections());
    if (grpc) metrics.set_grpc_calls(grpc->calls());
    std::map<std::string, std::size_t> waiting;
    std::map<std::string, std::int64_t> bytes;
    for (const auto& [name, served] : repository.served()) {
      waiting[name] = served->waiting();
      for (const Device& device : served->devices()) bytes[device.id()] += device.used_bytes();
    }
    metrics.set_waiting(waiting);
    metrics.set_device_bytes(bytes);
  };
  const char* const scheme = wishes.http.certificate.empty() ? "http" : "https";
  if (wishes.http.over_tcp)
    say(fmt::format("listening on {}://{}:{}", scheme, wishes.http.address, server.port()));
  if (!wishes.http.unix_socket.empty()) say("listening on " + wishes.http.unix_socket);
  if (grpc) say(fmt::format("listening on grpc://{}:{}", wishes.http.address, grpc->port()));
  const std::chrono::seconds drain(wishes.drain_s);
  server.run(drain, [&] {
    service.begin_draining();
    if (grpc) grpc->begin_draining(drain);
    say("stopping: answering what was asked");
  });
  if (grpc) grpc->wait_drained();
  // A model that is being loaded may take minutes, and a run seconds.
  std::thread([] {
    std::this_thread::sleep_for(kLastSeconds);
    std::_Exit(0);
  }).detach();
  repository.stop();  // no model's thread calls `routes` from now on
  grpc.reset();
  service.wait_changes();
  routes.reset();
  return 0;
}

}  // namespace
}  // namespace morton::serve

int main(int argc, char** argv) {
  using namespace morton;
  CLI::App app("Serve models by HTTP and gRPC, as the Open Inference Protocol (KServe v2) says",
               "morton serve");
  app.get_formatter()->column_width(34);
  serve::Wishes wishes;
  serve::add_model_options(app, wishes);
  serve::add_http_options(app, wishes);
  app.footer(serve::kFooter);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& request) {
    return app.exit(request);  // --help
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "morton: serve: {}\n  `morton serve --help` shows what is possible.\n",
               error.what());
    return serve::kUsageStatus;
  }
  try {
    return serve::serve(wishes);
  } catch (const Error& error) {
    fmt::print(stderr, "morton: {}\n", error.what());
    switch (error.error_class()) {
      case ErrorClass::usage:
        return serve::kUsageStatus;
      case ErrorClass::device:
        return 4;
      case ErrorClass::internal:
        return 70;
      default:
        return 3;
    }
  } catch (const std::exception& error) {  // of the system: a folder that cannot be read
    std::fprintf(stderr, "morton: serve: %s\n", error.what());
    return serve::kUsageStatus;
  }
}
