// SPDX-License-Identifier: Apache-2.0
//
// Clients of morton-serve: each sends the same request again as soon as its answer is there.
//
//     serve_load PORT|SOCKET CLIENTS SECONDS PATH BODY JSON_BYTES
//
// One thread serves all clients. BODY is a file; JSON_BYTES of it are JSON, and the rest binary
// inputs. Prints a line of JSON: requests, those that were answered otherwise than by 200, seconds,
// and the latencies' percentiles in microseconds.
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
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
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
  [[nodiscard]] bool is_whole() const {
    const std::size_t head = answer_.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    constexpr std::string_view kLength = "\r\ncontent-length: ";
    std::string fields = answer_.substr(0, head);
    std::ranges::transform(fields, fields.begin(), [](unsigned char c) { return std::tolower(c); });
    const std::size_t at = fields.find(kLength);
    if (at == std::string::npos) throw std::runtime_error("no Content-Length");
    const auto length = std::strtoull(answer_.c_str() + at + kLength.size(), nullptr, 10);
    return answer_.size() >= head + 4 + length;
  }

  int socket_;
  const std::string& request_;
  std::size_t sent_ = 0;
  std::string answer_;
  Clock::time_point begun_;
};

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
        if (!client.is_good()) ++refused;
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
      "{\"requests\":%zu,\"refused\":%ld,\"seconds\":%.3f,\"p50_us\":%.1f,\"p99_us\":%.1f,"
      "\"max_us\":%.1f}\n",
      latencies.size(), refused, took, percentile(latencies, 0.5), percentile(latencies, 0.99),
      latencies.back());
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
