// Opening files, and descriptors that close themselves. Nothing else in the library calls `open`: what kind of file a
// name may refer to is decided here.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace sidestream {

// Each function returns a close-on-exec descriptor, or -1 with the reason in errno. It is never 0, 1 or 2: a program
// may have closed these, and printed text would go into the file. Links to folders on the way to a file are followed
// everywhere. A link as the last part of the path is followed only for reading: in a folder that others can write to it
// may have been planted, and we would overwrite its target (ELOOP). Only regular files are written to, no pipes and no
// devices (ENXIO).

/// Opens for reading, through links too.
[[nodiscard]] int open_to_read(const std::string& path) noexcept;
/// Opens a regular file for reading: ENXIO for a pipe, a device or a folder.
[[nodiscard]] int open_file_to_read(const std::string& path) noexcept;
/// Opens an existing file. `flags`: O_RDONLY, O_WRONLY or O_RDWR, perhaps with O_APPEND.
[[nodiscard]] int open_existing(const std::string& path, int flags) noexcept;
/// Opens an existing file or creates it.
[[nodiscard]] int open_or_create(const std::string& path, int flags, mode_t mode = 0666) noexcept;
/// Creates a new file; nothing of that name may exist (EEXIST).
[[nodiscard]] int create_new(const std::string& path, int flags, mode_t mode = 0666) noexcept;
/// Creates a new file and replaces the file or link of that name. An empty file that this user has made stays: it may
/// have been made with stripes.
[[nodiscard]] int create_anew(const std::string& path, int flags, mode_t mode = 0666) noexcept;
/// Opens a folder, for flushing its names or as the base of calls such as openat.
[[nodiscard]] int open_folder(const std::string& path, bool follow_link = true) noexcept;

/// Moves the descriptor to a number above 2; -1 stays.
[[nodiscard]] int above_standard(int descriptor) noexcept;

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) noexcept : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

}  // namespace sidestream
