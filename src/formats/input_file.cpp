// SPDX-License-Identifier: Apache-2.0
#include "formats/input_file.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace morton::formats {
namespace {

// O_NONBLOCK: opening a FIFO must not wait for a writer; regular files ignore it.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;

[[noreturn]] void fail_input(const std::string& where, const std::string& what) {
  throw ModelError(where + ": " + what);
}

/// Opens `relative` one component after the other, following no symbolic link. Returns -1 and sets
/// errno as openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS does.
int open_by_walk(int folder, const std::filesystem::path& relative) {
  if (relative.empty() || relative.is_absolute()) {
    errno = EXDEV;
    return -1;
  }
  int current = ::dup(folder);
  for (auto part = relative.begin(); part != relative.end() && current >= 0; ++part) {
    const bool last = std::next(part) == relative.end();
    int next = -1;
    if (*part == "..") {
      errno = EXDEV;
    } else {
      next = ::openat(current, part->c_str(), kOpenFlags | O_NOFOLLOW | (last ? 0 : O_DIRECTORY));
    }
    const int status = errno;
    ::close(current);
    errno = status;
    current = next;
  }
  return current;
}

int open_confined(int folder, const std::string& relative, Confinement confinement) {
  if (confinement == Confinement::openat2_or_walk) {
    struct open_how how {};
    how.flags = static_cast<std::uint64_t>(kOpenFlags);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    const long opened = ::syscall(SYS_openat2, folder, relative.c_str(), &how, sizeof(how));
    if (opened >= 0 || (errno != ENOSYS && errno != EPERM)) return static_cast<int>(opened);
  }
  return open_by_walk(folder, relative);
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path)
    : InputFile(::open(path.c_str(), kOpenFlags), path.string()) {}

InputFile::InputFile(int descriptor, std::string where)
    : descriptor_(descriptor), where_(std::move(where)) {
  if (descriptor_ < 0) fail_input(where_, std::string("cannot open: ") + std::strerror(errno));
  struct stat facts {};
  const int status = ::fstat(descriptor_, &facts);
  if (status == 0 && S_ISREG(facts.st_mode)) {
    bytes_ = facts.st_size;
    return;
  }
  const std::string reason = std::strerror(errno);
  ::close(descriptor_);
  fail_input(where_, status != 0 ? "cannot examine: " + reason : "is not a regular file");
}

InputFile InputFile::beneath(const std::filesystem::path& folder, const std::string& relative,
                             Confinement confinement) {
  const std::string where = (folder / relative).string();
  if (relative.find('\0') != std::string::npos)
    fail_input(in_quotes(relative), "is not a file name");
  const std::filesystem::path start = folder.empty() ? "." : folder;
  const int parent = ::open(start.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent < 0) fail_input(start.string(), std::string("cannot open: ") + std::strerror(errno));
  const int opened = open_confined(parent, relative, confinement);
  const int status = errno;
  ::close(parent);
  if (opened < 0 && (status == EXDEV || status == ELOOP)) {
    fail_input(in_quotes(relative),
               "leads out of the folder " + start.string() +
                   ", or through a symbolic link; put the file itself beneath it");
  }
  errno = status;
  return {opened, where};
}

InputFile::InputFile(InputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      bytes_(other.bytes_),
      where_(std::move(other.where_)) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void InputFile::read(std::byte* to, std::size_t count) {
  while (count > 0) {
    const ssize_t got = ::read(descriptor_, to, count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_input(where_, std::string("cannot read: ") + std::strerror(errno));
    if (got == 0)
      fail_input(where_, "is cut short: " + std::to_string(count) + " more bytes expected");
    to += got;
    count -= static_cast<std::size_t>(got);
  }
}

MappedFile::MappedFile(const InputFile& file) {
  if (file.bytes() == 0) return;  // mmap refuses a length of 0
  const auto size = static_cast<std::size_t>(file.bytes());
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
  if (memory == MAP_FAILED) {
    fail_input(file.where(), std::string("cannot map: ") + std::strerror(errno));
  }
  bytes_ = {static_cast<const char*>(memory), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace morton::formats
