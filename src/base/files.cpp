#include "sidestream/kit/base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace sidestream {

namespace {

int opened(const std::string& path, int flags, mode_t mode = 0) noexcept {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return above_standard(descriptor);
}

/// Opens a regular file. O_NONBLOCK keeps a pipe of that name from blocking us.
int regular(const std::string& path, int flags, mode_t mode = 0) noexcept {
  const int descriptor = opened(path, flags | O_NONBLOCK, mode);
  if (descriptor < 0) return -1;
  struct stat facts {};
  const bool known = ::fstat(descriptor, &facts) == 0;
  if (known && S_ISREG(facts.st_mode)) return descriptor;
  const int error = known ? ENXIO : errno;
  ::close(descriptor);
  errno = error;
  return -1;
}

/// Removes a file or a link; anything else stays (EISDIR, ENXIO).
bool remove_file(const std::string& path) noexcept {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return false;
  if (S_ISREG(facts.st_mode) || S_ISLNK(facts.st_mode)) return ::unlink(path.c_str()) == 0;
  errno = S_ISDIR(facts.st_mode) ? EISDIR : ENXIO;
  return false;
}

/// Opens an empty file that this user made and that has no other name; -1 for anything else.
int empty_own(const std::string& path, int flags) noexcept {
  const int descriptor = regular(path, flags | O_NOFOLLOW);
  if (descriptor < 0) return -1;
  struct stat facts {};
  const bool known = ::fstat(descriptor, &facts) == 0;
  if (known && facts.st_size == 0 && facts.st_nlink == 1 && facts.st_uid == ::geteuid()) return descriptor;
  ::close(descriptor);
  return -1;
}

}  // namespace

int above_standard(int descriptor) noexcept {
  if (descriptor < 0 || descriptor > STDERR_FILENO) return descriptor;
  const int higher = ::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return higher;
}

int open_to_read(const std::string& path) noexcept { return opened(path, O_RDONLY); }

int open_file_to_read(const std::string& path) noexcept { return regular(path, O_RDONLY); }

int open_existing(const std::string& path, int flags) noexcept { return regular(path, flags | O_NOFOLLOW); }

int open_or_create(const std::string& path, int flags, mode_t mode) noexcept {
  return regular(path, flags | O_CREAT | O_NOFOLLOW, mode);
}

int create_new(const std::string& path, int flags, mode_t mode) noexcept {
  return opened(path, flags | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
}

int create_anew(const std::string& path, int flags, mode_t mode) noexcept {
  constexpr int tries = 100;  // gives up if somebody creates something there each time
  for (int n = 0; n < tries; ++n) {
    const int descriptor = create_new(path, flags, mode);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
    const int empty = empty_own(path, flags);
    if (empty >= 0) return empty;
    if (!remove_file(path) && errno != ENOENT) return -1;
  }
  errno = EEXIST;
  return -1;
}

int open_folder(const std::string& path, bool follow_link) noexcept {
  return opened(path, O_RDONLY | O_DIRECTORY | (follow_link ? 0 : O_NOFOLLOW));
}

}  // namespace sidestream
