// SPDX-License-Identifier: Apache-2.0
//
// Clients of morton-serve: each sends the same request again as soon as its answer is there.
//
//     serve_load PORT|SOCKET CLIENTS SECONDS PATH BODY JSON_BYTES
//
// One thread serves all clients. BODY is a file; JSON_BYTES of it are JSON, and the rest binary
// inputs. Prints a line of JSON: requests, those that were answered otherwise than by 200, those
// whose answer is not that of the first, seconds, and the latencies' percentiles in microseconds.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

int connect_to(const std::string& place) {
  int port = 0;
  const auto [end, problem] = std::from_chars(place.data(), place.data() + place.size(), port);
  const bool is_port = problem == std::errc() && end == place.data() + place.size();
  const int socket = ::socket(is_port ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int status = -1;
  if (is_port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    status = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    const int one = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  } else {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, place.c_str(), sizeof(address.sun_path) - 1);
    status = ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  if (status != 0) throw std::runtime_error(place + ": " + std::strerror(errno));
  ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
  return socket;
}

/// A client: sends `request`, reads an answer, and again.
class Client {
 public:
  Client(const std::string& place, const std::string& request)
      : socket_(connect_to(place)), request_(request), begun_(Clock::now()) {}

  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] short events() const { return sent_ < request_.size() ? POLLOUT : POLLIN; }

  /// Sends as much as the socket takes; true where all is sent.
  bool send() {
    while (sent_ < request_.size()) {
      const ssize_t bytes =
          ::send(socket_, request_.data() + sent_, request_.size() - sent_, MSG_NOSIGNAL);
      if (bytes < 0) return would_wait("send");
      sent_ += static_cast<std::size_t>(bytes);
    }
    return true;
  }
  /// Goes on as far as it can; true where an answer is whole.
  bool go_on() {
    if (!send()) return false;
    char piece[65536];
    const ssize_t bytes = ::recv(socket_, piece, sizeof(piece), 0);
    if (bytes < 0) return would_wait("recv");
    if (bytes == 0) throw std::runtime_error("the server has closed a connection");
    answer_.append(piece, static_cast<std::size_t>(bytes));
    return is_whole();
  }

  [[nodiscard]] bool is_good() const { return answer_.starts_with("HTTP/1.1 200 "); }
  /// What the answer holds, JSON and then numbers of f32; the number of the first one's bytes.
  [[nodiscard]] std::pair<std::string_view, std::size_t> body() const {
    const std::size_t head = answer_.find("\r\n\r\n");
    return {std::string_view(answer_).substr(head + 4),
            field("\r\ninference-header-content-length: ").value_or(0)};
  }
  [[nodiscard]] double us() const {
    return std::chrono::duration<double, std::micro>(Clock::now() - begun_).count();
  }
  void begin() {
    answer_.clear();
    sent_ = 0;
    begun_ = Clock::now();
  }

 private:
  static bool would_wait(const char* what) {
    if (errno == EAGAIN || errno == EINTR) return false;
    throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
  }
  /// The number behind a field of the answer's head.
  [[nodiscard]] std::optional<std::size_t> field(std::string_view name) const {
    std::string fields = answer_.substr(0, answer_.find("\r\n\r\n"));
    std::ranges::transform(fields, fields.begin(), [](unsigned char c) { return std::tolower(c); });
    const std::size_t at = fields.find(name);
    if (at == std::string::npos) return std::nullopt;
    return std::strtoull(answer_.c_str() + at + name.size(), nullptr, 10);
  }
  [[nodiscard]] bool is_whole() const {
    const std::size_t head = answer_.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    const auto length = field("\r\ncontent-length: ");
    if (!length) throw std::runtime_error("no Content-Length");
    return answer_.size() >= head + 4 + *length;
  }

  int socket_;
  const std::string& request_;
  std::size_t sent_ = 0;
  std::string answer_;
  Clock::time_point begun_;
};

/// Batches of other sizes may add in another order, so numbers may differ by so much.
constexpr float kMostApart = 1e-4F;

/// Whether two answers are alike: the same JSON, and numbers close to each other.
bool are_alike(const std::pair<std::string_view, std::size_t>& a,
               const std::pair<std::string_view, std::size_t>& b) {
  if (a.second != b.second || a.first.size() != b.first.size()) return false;
  const std::size_t json = a.second == 0 ? a.first.size() : a.second;
  if (a.first.substr(0, json) != b.first.substr(0, json)) return false;
  for (std::size_t at = json; at + sizeof(float) <= a.first.size(); at += sizeof(float)) {
    float one = 0;
    float other = 0;
    std::memcpy(&one, a.first.data() + at, sizeof(float));
    std::memcpy(&other, b.first.data() + at, sizeof(float));
    if (!(std::fabs(one - other) <= kMostApart)) return false;
  }
  return true;
}

double percentile(const std::vector<double>& sorted, double share) {
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(share * last)];
}

int measure(char** words) {
  const std::string place = words[0];
  const int count = std::atoi(words[1]);
  const double seconds = std::atof(words[2]);
  std::ifstream file(words[4], std::ios::binary);
  const std::string body{std::istreambuf_iterator<char>(file), {}};
  if (body.empty() || count < 1) throw std::runtime_error("no body, or no clients");
  const std::string request =
      std::string("POST ") + words[3] +
      " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\nInference-Header-Content-Length: " + words[5] + "\r\n\r\n" + body;
  std::vector<Client> clients;
  std::vector<pollfd> polled;
  for (int i = 0; i < count; ++i) clients.emplace_back(place, request);
  for (Client& client : clients) {
    client.begin();
    polled.push_back({client.socket(), client.events(), 0});
  }
  std::vector<double> latencies;
  long refused = 0;
  long wrong = 0;
  std::string first;
  std::size_t first_json = 0;
  const auto begun = Clock::now();
  const auto until =
      begun + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  while (Clock::now() < until) {
    if (::poll(polled.data(), polled.size(), 1000) < 0 && errno != EINTR) {
      throw std::runtime_error(std::strerror(errno));
    }
    for (std::size_t i = 0; i < clients.size(); ++i) {
      if (polled[i].revents == 0) continue;
      Client& client = clients[i];
      if (client.go_on()) {
        latencies.push_back(client.us());
        const auto [answer, json] = client.body();
        if (!client.is_good()) {
          ++refused;
        } else if (first.empty()) {
          first = answer;
          first_json = json;
        } else if (!are_alike({answer, json}, {first, first_json})) {
          ++wrong;
        }
        client.begin();
        static_cast<void>(client.send());
      }
      polled[i].events = client.events();
    }
  }
  const double took = std::chrono::duration<double>(Clock::now() - begun).count();
  if (latencies.empty()) throw std::runtime_error("no answer came");
  std::ranges::sort(latencies);
  std::printf(
      "{\"requests\":%zu,\"refused\":%ld,\"wrong\":%ld,\"seconds\":%.3f,\"p50_us\":%.1f,\"p99_us\":"
      "%.1f,"
      "\"max_us\":%.1f}\n",
      latencies.size(), refused, wrong, took, percentile(latencies, 0.5),
      percentile(latencies, 0.99), latencies.back());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: serve_load PORT|SOCKET CLIENTS SECONDS PATH BODY JSON_BYTES\n");
    return 2;
  }
  try {
    return measure(argv + 1);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "serve_load: %s\n", error.what());
    return 1;
  }
}
