// SPDX-License-Identifier: Apache-2.0
//
// Load: does a thing very often, and says whether memory grows, files stay open or an answer
// differs in a bit.
//
//     load inferences N    N runs of a session
//     load sessions N      N sessions of a compiled model, each with a run
//     load loads N         N times a model is read, compiled from the cache, run and closed
//     load threads T N     T threads, each with a session of one compiled model and N runs
//     load processes P N   P processes that start at the same moment on one empty cache folder,
//     each with N runs
//
// The status is 1 where an answer differs, memory grows by more than the limit, or an entry of the
// cache is lost. Growth is that of the resident set over the last half, as the median of slopes
// between samples says.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <morton/morton.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
using morton::CompiledModel;
using morton::NamedTensor;

constexpr int kSamples = 20;
/// A resident set may grow so much in a whole phase: drivers and allocators settle. What leaks a
/// page each time grows by more in each of the phases that `./dev check --load` runs.
constexpr double kMostGrowthBytes = 4.0 * 1024 * 1024;
const char* const kNetwork = "lenet5";

long resident_bytes() {
  std::ifstream file("/proc/self/statm");
  long pages = 0, resident = 0;
  file >> pages >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

long open_files() {
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

/// The resident set in the course of a phase.
class Watch {
 public:
  Watch(std::string what, long count) : what_(std::move(what)), count_(count) {}

  /// Called when `done` are done; takes a sample from time to time.
  void done(long done) {
    if (done * kSamples / count_ == static_cast<long>(samples_.size())) return;
    samples_.push_back({done, resident_bytes()});
    if (samples_.size() == kSamples / 2) files_ = open_files();
  }

  /// Prints a line; false where memory or open files have grown.
  [[nodiscard]] bool report() const {
    using Seconds = std::chrono::duration<double>;
    const double seconds = Seconds(std::chrono::steady_clock::now() - begin_).count();
    std::vector<double> slopes;  // bytes for each that is done
    for (std::size_t a = samples_.size() / 2; a < samples_.size(); ++a) {
      for (std::size_t b = a + 1; b < samples_.size(); ++b) {
        slopes.push_back(static_cast<double>(samples_[b].bytes - samples_[a].bytes) /
                         static_cast<double>(samples_[b].done - samples_[a].done));
      }
    }
    std::nth_element(slopes.begin(), slopes.begin() + static_cast<long>(slopes.size() / 2),
                     slopes.end());
    const double slope = slopes.empty() ? 0.0 : slopes[slopes.size() / 2];
    const long files = open_files();
    const bool flat = slope * static_cast<double>(count_) <= kMostGrowthBytes && files <= files_;
    std::printf(
        "%-24s %8ld in %7.1f s; resident %.1f MiB at half, %.1f MiB at the end; %+.1f bytes each; "
        "open files %ld, then %ld%s\n",
        what_.c_str(), count_, seconds, mebibytes(samples_[samples_.size() / 2].bytes),
        mebibytes(samples_.back().bytes), slope, files_, files, flat ? "" : ": GROWS");
    std::fflush(stdout);
    return flat;
  }

 private:
  struct Sample {
    long done, bytes;
  };
  static double mebibytes(long bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

  std::string what_;
  long count_;
  long files_ = 0;
  std::vector<Sample> samples_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::vector<NamedTensor> inputs_of(const CompiledModel& compiled) {
  std::vector<NamedTensor> inputs;
  for (const auto& port : compiled.inputs()) {
    morton::Tensor tensor = morton::Tensor::allocate(port.dtype, port.shape);
    unsigned state = 1;
    for (std::int64_t i = 0; i < tensor.size(); ++i) {
      state = state * 1664525U + 1013904223U;
      tensor.set(i, static_cast<double>(state >> 16U) / 65536.0);
    }
    inputs.push_back({port.name, std::move(tensor)});
  }
  return inputs;
}

std::string bytes_of(const std::vector<NamedTensor>& tensors) {
  std::string bytes;
  for (const auto& [name, tensor] : tensors) {
    bytes.append(reinterpret_cast<const char*>(tensor.data()), tensor.bytes());
  }
  return bytes;
}

/// Runs and compares; counts answers that differ.
struct Judge {
  explicit Judge(const CompiledModel& compiled) : inputs(inputs_of(compiled)) {
    morton::Session session(compiled);
    expected = bytes_of(session.run(inputs));
  }
  void run(morton::Session& session) {
    if (bytes_of(session.run(inputs)) != expected) ++different;
  }
  [[nodiscard]] bool right() const {
    if (different > 0) std::printf("%ld answers DIFFER\n", different);
    return different == 0;
  }

  std::vector<NamedTensor> inputs;
  std::string expected;
  long different = 0;
};

CompiledModel compiled_in(const std::string& cache) {
  return morton::compile(morton::new_model(kNetwork, 1), morton::Device::open("cpu", {cache}));
}

bool inferences(const std::string& cache, long count) {
  const CompiledModel compiled = compiled_in(cache);
  Judge judge(compiled);
  morton::Session session(compiled);
  Watch watch("inferences", count);
  for (long i = 1; i <= count; ++i) {
    judge.run(session);
    watch.done(i);
  }
  return watch.report() & judge.right();
}

bool sessions(const std::string& cache, long count) {
  const CompiledModel compiled = compiled_in(cache);
  Judge judge(compiled);
  Watch watch("sessions", count);
  for (long i = 1; i <= count; ++i) {
    morton::Session session(compiled);
    judge.run(session);
    watch.done(i);
  }
  return watch.report() & judge.right();
}

bool loads(const std::string& cache, long count) {
  const std::string file = cache + "/model.onnx";
  morton::new_model(kNetwork, 1).save(file);
  Judge judge(compiled_in(cache));
  Watch watch("loads", count);
  for (long i = 1; i <= count; ++i) {
    const CompiledModel compiled =
        morton::compile(morton::Model::load(file), morton::Device::open("cpu", {cache}));
    morton::Session session(compiled);
    judge.run(session);
    watch.done(i);
  }
  return watch.report() & judge.right();
}

bool threads(const std::string& cache, long threads, long count) {
  const CompiledModel compiled = compiled_in(cache);
  const Judge one(compiled);
  std::vector<Judge> judges(static_cast<std::size_t>(threads), one);
  Watch watch(std::to_string(threads) + " threads' inferences", count);
  std::vector<std::jthread> all;
  for (Judge& judge : judges) {
    const bool is_first = &judge == &judges.front();
    all.emplace_back([&compiled, &judge, &watch, count, is_first] {
      morton::Session session(compiled);
      for (long i = 1; i <= count; ++i) {
        judge.run(session);
        if (is_first) watch.done(i);
      }
    });
  }
  all.clear();
  bool right = watch.report();
  for (const Judge& judge : judges) right &= judge.right();
  return right;
}

/// The status of a process of the crowd: what `body` returns, or 2 for an exception.
template <typename Body>
pid_t start(const std::string& driver_cache, const Body& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int status = 2;
  try {
    // PoCL 3.1 is not for several processes on one cache of its own.
    fs::create_directories(driver_cache);
    ::setenv("POCL_CACHE_DIR", driver_cache.c_str(), 1);
    status = body() ? 0 : 1;
  } catch (const std::exception& error) {
    std::printf("a process ended: %s\n", error.what());
  }
  std::fflush(stdout);
  std::_Exit(status);
}

long wrong_of(const std::vector<pid_t>& children) {
  long wrong = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    if (status != 0) ++wrong;
  }
  return wrong;
}

/// This process itself must not have opened a device: it forks.
bool processes(const std::string& cache, long processes, long count) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string crowd = cache + "/crowd", answer = cache + "/answer";
  const auto bytes_in = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto alone = [&] {
    std::ofstream(answer, std::ios::binary) << Judge(compiled_in(cache + "/alone")).expected;
    return true;
  };
  if (wrong_of({start(cache + "/driver", alone)}) != 0) return false;
  std::vector<pid_t> children;
  for (long p = 0; p < processes; ++p) {
    children.push_back(start(cache + "/driver" + std::to_string(p), [&] {
      const CompiledModel compiled = compiled_in(crowd);
      Judge judge(compiled);
      morton::Session session(compiled);
      for (long i = 0; i < count; ++i) judge.run(session);
      return judge.right() && judge.expected == bytes_in(answer);
    }));
  }
  const long wrong = wrong_of(children);
  const auto entries = [](const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& file : fs::directory_iterator(folder + "/programs")) {
      if (file.path().extension() == ".bin") names.push_back(file.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  };
  const bool none_lost = entries(crowd) == entries(cache + "/alone");
  const auto starts_warm = [&] { return compiled_in(crowd).report().kernels.built == 0; };
  const bool warm = wrong_of({start(cache + "/driver_after", starts_warm)}) == 0;
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf(
      "%-24s %8ld in %7.1f s, with %ld inferences each; %ld wrong; %zu entries in the cache%s%s\n",
      "processes", processes, seconds.count(), count, wrong, entries(crowd).size(),
      none_lost ? "" : ": other ones than ALONE", warm ? "" : ": a later start BUILDS");
  return wrong == 0 && none_lost && warm;
}

int run(const std::vector<std::string>& words) {
  const auto number = [&](std::size_t i) {
    const long value = i < words.size() ? std::atol(words[i].c_str()) : 0;
    if (value < 1)
      throw std::invalid_argument(
          "usage: load inferences|sessions|loads N, load threads|processes COUNT N");
    return value;
  };
  std::string folder = (fs::temp_directory_path() / "morton_load_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  bool good = false;
  const std::string what = words.empty() ? "" : words[0];
  if (what == "inferences") good = inferences(folder, number(1));
  if (what == "sessions") good = sessions(folder, number(1));
  if (what == "loads") good = loads(folder, number(1));
  if (what == "threads") good = threads(folder, number(1), number(2));
  if (what == "processes") good = processes(folder, number(1), number(2));
  fs::remove_all(folder);
  return good ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  try {
    return run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "load: %s\n", error.what());
    return 2;
  }
}
