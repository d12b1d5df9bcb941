// Opening files. Nothing else in the library calls `open`: who opens by a name decides here what may have that name.
#pragma once

#include <sys/types.h>

#include <string>

namespace sidestream {

// Each returns a descriptor that programs started later do not inherit, or -1 with the reason in errno. It is none of
// 0, 1 and 2: a program may have closed these, and what it or we print would go into the file. Links to folders on the
// way to a file are followed everywhere. A link of the name itself is not, but for reading: in a folder that others can
// write to it may have been laid there, and would have us write over what it leads to (ELOOP). What is written to is a
// file, no pipe and no device (ENXIO).

/// For reading, through links too.
[[nodiscard]] int open_to_read(const std::string& path) noexcept;
/// Likewise, but a file only: ENXIO for a pipe, a device or a folder.
[[nodiscard]] int open_file_to_read(const std::string& path) noexcept;
/// A file that is there. `flags`: O_RDONLY, O_WRONLY or O_RDWR, perhaps with O_APPEND.
[[nodiscard]] int open_existing(const std::string& path, int flags) noexcept;
/// A file that is there, or a new one.
[[nodiscard]] int open_or_create(const std::string& path, int flags, mode_t mode = 0666) noexcept;
/// A new file; there must be nothing of that name (EEXIST).
[[nodiscard]] int create_new(const std::string& path, int flags, mode_t mode = 0666) noexcept;
/// A new file in place of the file or link that has the name.
[[nodiscard]] int create_anew(const std::string& path, int flags, mode_t mode = 0666) noexcept;
/// A folder, for flushing its names or as the place of calls such as openat.
[[nodiscard]] int open_folder(const std::string& path, bool follow_link = true) noexcept;

/// The same file under a descriptor above 2; -1 stays.
[[nodiscard]] int above_standard(int descriptor) noexcept;

}  // namespace sidestream
