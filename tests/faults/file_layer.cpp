// SPDX-License-Identifier: Apache-2.0
//
// Stands between a program and the C library (LD_PRELOAD=/path/libmorton_file_layer.so): counts the
// calls that change files in one folder, lets one of them fail, and lets clocks jump. Worker
// processes inherit it, and the count is common to all.
//   MORTON_FILE_LAYER_FOLDER=FOLDER   the folder that is meant, with all below it
//   MORTON_FILE_LAYER_COUNT=FILE      of 8 bytes, which hold the count (made by who starts the
//   program) MORTON_FILE_LAYER_LOG=FILE        gets a line for each call that counts
//   MORTON_FILE_LAYER_FAULT=N:HOW     of call N, from 1: "kill" ends its process (SIGKILL) before
//   it, "kill-all" the whole
//                                     process group, "short" writes half, "EIO" or another name
//                                     fails with that
//   MORTON_FILE_LAYER_CLOCK=HOW       "wall" jumps years to and fro, "steady" leaps by an hour, at
//   each look
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

namespace {

/// The C library's function of that name.
template <typename Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}
#define MORTON_REAL(name) real<decltype(&::name)>(#name)

constexpr std::size_t kMostFiles = 4096;

struct Layer {
  std::string_view folder;
  std::atomic<long>* count = nullptr;
  int log = -1;
  long failing = 0;
  const char* how = "";
  std::string_view clock;
  std::array<std::atomic<bool>, kMostFiles> is_watched{};  ///< by descriptor
  std::atomic<long> looks{0};                              ///< at clocks
};

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Layer* made_layer() {
  auto* const layer = new Layer;
  layer->folder = variable("MORTON_FILE_LAYER_FOLDER");
  layer->clock = variable("MORTON_FILE_LAYER_CLOCK");
  const int file =
      MORTON_REAL(open)(variable("MORTON_FILE_LAYER_COUNT").data(), O_RDWR | O_CLOEXEC);
  if (file >= 0) {
    void* const shared = ::mmap(nullptr, sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared != MAP_FAILED) layer->count = static_cast<std::atomic<long>*>(shared);
  }
  const std::string_view log = variable("MORTON_FILE_LAYER_LOG");
  if (!log.empty())
    layer->log = MORTON_REAL(open)(log.data(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  const std::string_view fault = variable("MORTON_FILE_LAYER_FAULT");
  if (const char* const how = std::strchr(fault.data(), ':')) {
    layer->failing = std::atol(fault.data());
    layer->how = how + 1;
  }
  return layer;
}

Layer& layer() {
  static Layer* const one = made_layer();
  return *one;
}

bool is_inside(const char* path) {
  if (path == nullptr || layer().folder.empty() || layer().count == nullptr) return false;
  char whole[PATH_MAX];
  if (path[0] != '/') {
    char here[PATH_MAX / 2] = "";
    if (::getcwd(here, sizeof(here)) == nullptr) return false;
    std::snprintf(whole, sizeof(whole), "%s/%s", here, path);
    path = whole;
  }
  return std::string_view(path).starts_with(layer().folder);
}

bool is_inside(int file) {
  return file >= 0 && static_cast<std::size_t>(file) < kMostFiles &&
         layer().is_watched[static_cast<std::size_t>(file)];
}

void watch(int file, bool watched) {
  if (file >= 0 && static_cast<std::size_t>(file) < kMostFiles) {
    layer().is_watched[static_cast<std::size_t>(file)] = watched;
  }
}

int number_of(std::string_view error) {
  if (error == "EIO") return EIO;
  if (error == "ENOSPC") return ENOSPC;
  if (error == "EINTR") return EINTR;
  if (error == "EROFS") return EROFS;
  if (error == "EACCES") return EACCES;
  if (error == "EMFILE") return EMFILE;
  if (error == "EDQUOT") return EDQUOT;
  return EINVAL;
}

enum class Way { go_on, shorten, fail };

/// Counts a call, and says how it goes on; errno is set where it fails.
Way counted(const char* function, const char* path) {
  const long number = ++*layer().count;
  if (layer().log >= 0) {
    char line[PATH_MAX];
    const int length = std::snprintf(line, sizeof(line), "%s %s\n", function, path);
    static_cast<void>(!MORTON_REAL(write)(layer().log, line, static_cast<std::size_t>(length)));
  }
  if (number != layer().failing) return Way::go_on;
  const std::string_view how = layer().how;
  if (how == "kill") ::kill(::getpid(), SIGKILL);
  if (how == "kill-all") ::kill(0, SIGKILL);
  if (how == "short") return Way::shorten;
  errno = number_of(how);
  return Way::fail;
}

bool fails(const char* function, const char* path) {
  return is_inside(path) && counted(function, path) == Way::fail;
}

bool fails(const char* function, int file) {
  return is_inside(file) && counted(function, "-") == Way::fail;
}

/// A folder is opened to flush it.
bool writes(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_DIRECTORY)) != 0; }

template <typename Real>
int opened(Real real_open, const char* path, int flags, mode_t mode) {
  const bool watched = writes(flags) && is_inside(path);
  if (watched && counted("open", path) == Way::fail) return -1;
  const int file = real_open(path, flags, mode);
  watch(file, watched);
  return file;
}

ssize_t write_some(int file, const void* bytes, size_t size) {
  if (is_inside(file)) {
    const Way way = counted("write", "-");
    if (way == Way::fail) return -1;
    if (way == Way::shorten && size > 1) size /= 2;
  }
  return MORTON_REAL(write)(file, bytes, size);
}

void jump(clockid_t clock, timespec* time) {
  constexpr long kYearS = 365L * 24 * 3600, kHourS = 3600;
  const bool is_wall = clock == CLOCK_REALTIME;
  const long look = ++layer().looks;
  if (is_wall && layer().clock == "wall") time->tv_sec += (look % 7 - 3) * 3 * kYearS;
  if (!is_wall && layer().clock == "steady") time->tv_sec += look * kHourS;
}

}  // namespace

// flock is a struct too.
#pragma GCC diagnostic ignored "-Wshadow"

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return opened(MORTON_REAL(open), path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return opened(MORTON_REAL(open64), path, flags, mode);
}

int mkostemp(char* pattern, int flags) {
  const bool watched = is_inside(pattern);
  if (watched && counted("mkostemp", pattern) == Way::fail) return -1;
  const int file = MORTON_REAL(mkostemp)(pattern, flags);
  watch(file, watched);
  return file;
}

FILE* fopen(const char* path, const char* mode) {
  const bool watched = mode[0] != 'r' && is_inside(path);
  if (watched && counted("fopen", path) == Way::fail) return nullptr;
  FILE* const file = MORTON_REAL(fopen)(path, mode);
  if (file != nullptr) watch(::fileno(file), watched);
  return file;
}

ssize_t write(int file, const void* bytes, size_t size) { return write_some(file, bytes, size); }

int close(int file) {
  const bool failing = fails("close", file);
  watch(file, false);
  const int result = MORTON_REAL(close)(file);
  return failing ? -1 : result;
}

int fsync(int file) { return fails("fsync", file) ? -1 : MORTON_REAL(fsync)(file); }
int fdatasync(int file) { return fails("fdatasync", file) ? -1 : MORTON_REAL(fdatasync)(file); }
int chmod(const char* path, mode_t mode) {
  return fails("chmod", path) ? -1 : MORTON_REAL(chmod)(path, mode);
}
int fchmod(int file, mode_t mode) {
  return fails("fchmod", file) ? -1 : MORTON_REAL(fchmod)(file, mode);
}
int ftruncate(int file, off_t size) {
  return fails("ftruncate", file) ? -1 : MORTON_REAL(ftruncate)(file, size);
}
int flock(int file, int operation) {
  return fails("flock", file) ? -1 : MORTON_REAL(flock)(file, operation);
}
int rename(const char* from, const char* to) {
  return fails("rename", to) ? -1 : MORTON_REAL(rename)(from, to);
}
int unlink(const char* path) { return fails("unlink", path) ? -1 : MORTON_REAL(unlink)(path); }
int remove(const char* path) { return fails("remove", path) ? -1 : MORTON_REAL(remove)(path); }
int mkdir(const char* path, mode_t mode) {
  return fails("mkdir", path) ? -1 : MORTON_REAL(mkdir)(path, mode);
}

int clock_gettime(clockid_t clock, timespec* time) {
  const int result = MORTON_REAL(clock_gettime)(clock, time);
  if (result == 0) jump(clock, time);
  return result;
}
}
