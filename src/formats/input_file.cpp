// SPDX-License-Identifier: Apache-2.0
#include "formats/input_file.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace morton::formats {
namespace {

// O_NONBLOCK: opening a FIFO must not wait for a writer; regular files ignore it.
constexpr int kOpenFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

[[noreturn]] void fail_input(const std::string& where, const Message& what) {
  throw ModelError(where + ": " + what);
}

/// As the kernel has it for a path.
constexpr int kMostLinks = 40;
/// openat2 gives up where somebody moves folders meanwhile.
constexpr int kMostTries = 16;

/// Opens paths one component after the other, each by its own name, and follows symbolic links
/// itself: the folders on the way are open, so ".." leads back to where the path came from.
class Walk {
 public:
  Walk(int folder, Links links) : links_(links) { opened_.push_back(::dup(folder)); }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;
  ~Walk() {
    for (const int descriptor : opened_) ::close(descriptor);
  }

  /// Returns -1 and sets errno as openat2 with RESOLVE_BENEATH does.
  int open(const std::filesystem::path& relative) {
    if (!push(relative)) return -1;
    while (!rest_.empty()) {
      const std::string part = rest_.back();
      rest_.pop_back();
      if (part.empty() || part == ".") continue;
      if (part == ".." ? !leave() : !enter(part)) return -1;
    }
    return ::dup(opened_.back());
  }

 private:
  /// Puts the path before what is left of the way. False for one that begins at the root.
  bool push(const std::filesystem::path& path) {
    errno = path.empty() ? ENOENT : EXDEV;
    if (path.empty() || path.is_absolute()) return false;
    std::vector<std::string> parts(path.begin(), path.end());
    rest_.insert(rest_.end(), parts.rbegin(), parts.rend());
    return true;
  }

  bool leave() {
    errno = EXDEV;
    if (opened_.size() == 1) return false;
    ::close(opened_.back());
    opened_.pop_back();
    return true;
  }

  bool enter(const std::string& part) {
    const int flags = kOpenFlags | O_NOFOLLOW | (rest_.empty() ? 0 : O_DIRECTORY);
    const int next = ::openat(opened_.back(), part.c_str(), flags);
    if (next >= 0) {
      opened_.push_back(next);
      return true;
    }
    // A link where a folder is asked for is no folder to the kernel.
    const bool may_be_link = errno == ELOOP || errno == ENOTDIR;
    return may_be_link && follow(part);
  }

  bool follow(const std::string& part) {
    const int status = errno;
    std::string target(PATH_MAX, '\0');
    const ssize_t length = ::readlinkat(opened_.back(), part.c_str(), target.data(), target.size());
    errno = length < 0 ? status : ELOOP;
    if (length < 0 || links_ == Links::refuse || ++followed_ > kMostLinks) return false;
    target.resize(static_cast<std::size_t>(length));
    return push(target);
  }

  Links links_;
  std::vector<int> opened_;  ///< the folder, and those on the way that were entered and not left
  std::vector<std::string> rest_;  ///< of the way, the next part last
  int followed_ = 0;
};

int open_confined(int folder, const std::string& relative, Links links, Confinement confinement) {
  struct open_how how {};
  how.flags = static_cast<std::uint64_t>(kOpenFlags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  if (links == Links::refuse) how.resolve |= RESOLVE_NO_SYMLINKS;
  const int tries = confinement == Confinement::walk ? 0 : kMostTries;
  for (int i = 0; i < tries; ++i) {
    const long opened = ::syscall(SYS_openat2, folder, relative.c_str(), &how, sizeof(how));
    if (opened < 0 && errno == EAGAIN) continue;
    if (opened < 0 && (errno == ENOSYS || errno == EPERM)) break;
    return static_cast<int>(opened);
  }
  return Walk(folder, links).open(relative);
}

bool climbs(const std::filesystem::path& relative) {
  return std::find(relative.begin(), relative.end(), "..") != relative.end();
}

[[noreturn]] void fail_confined(const std::string& relative, const std::string& folder, Links links,
                                int status) {
  if (status == ENOENT) {
    fail_input(in_quotes(relative), "there is no such file beneath the folder " + folder);
  }
  if (status == EXDEV || (status == ELOOP && links == Links::inside)) {
    fail_input(in_quotes(relative), "leads out of the folder " + folder);
  }
  if (status == ELOOP) {
    fail_input(in_quotes(relative), "leads through a symbolic link; put the file itself beneath " +
                                        folder + ", or name the folder of all such files (" +
                                        setting("weights_folder") + ")");
  }
  fail_input(in_quotes(relative), std::string("cannot open: ") + std::strerror(status));
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path)
    : InputFile(::open(path.c_str(), kOpenFlags), path.string(), Links::inside) {}

InputFile::InputFile(int descriptor, std::string where, Links links)
    : descriptor_(descriptor), where_(std::move(where)) {
  if (descriptor_ < 0) fail_input(where_, std::string("cannot open: ") + std::strerror(errno));
  struct stat facts {};
  const int status = ::fstat(descriptor_, &facts);
  const bool has_other_names = links == Links::refuse && facts.st_nlink > 1;
  if (status == 0 && S_ISREG(facts.st_mode) && !has_other_names) {
    bytes_ = facts.st_size;
    return;
  }
  const std::string reason = std::strerror(errno);
  ::close(descriptor_);
  if (status != 0) fail_input(where_, "cannot examine: " + reason);
  if (!S_ISREG(facts.st_mode)) fail_input(where_, "is not a regular file");
  fail_input(where_, "has " + std::to_string(facts.st_nlink) +
                         " names (hard links), so it may be a file from elsewhere; copy it, or "
                         "name the folder of all such files (" +
                         setting("weights_folder") + ")");
}

InputFile InputFile::beneath(const std::filesystem::path& folder, const std::string& relative,
                             Links links, Confinement confinement) {
  if (relative.find('\0') != std::string::npos) {
    fail_input(in_quotes(relative), "is not a file name");
  }
  const std::filesystem::path start = folder.empty() ? "." : folder;
  const int parent = ::open(start.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent < 0) fail_input(start.string(), std::string("cannot open: ") + std::strerror(errno));
  int opened = -1;
  errno = EXDEV;
  if (links == Links::inside || !climbs(relative)) {
    opened = open_confined(parent, relative, links, confinement);
  }
  const int status = errno;
  ::close(parent);
  if (opened < 0) fail_confined(relative, start.string(), links, status);
  return {opened, (folder / relative).string(), links};
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

std::shared_ptr<const MappedFile> MappedFile::copy_of(InputFile& file) {
  const auto size = static_cast<std::size_t>(file.bytes());
  if (size == 0) return std::make_shared<const MappedFile>(file);
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    fail_input(file.where(), std::string("no memory for a copy: ") + std::strerror(errno));
  }
  const std::shared_ptr<const MappedFile> copy(
      new MappedFile(std::string_view(static_cast<const char*>(memory), size)));
  file.read(static_cast<std::byte*>(memory), size);
  ::mprotect(memory, size, PROT_READ);
  return copy;
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

}  // namespace morton::formats
