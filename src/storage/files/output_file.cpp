#include "sidestream/kit/storage/files/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/files.hpp"
#include "sidestream/kit/base/text.hpp"
#include "storage/files/output_directory.hpp"

namespace sidestream {

namespace {

constexpr std::size_t buffer_size = 1u << 20;

std::string_view remedy(int error_number) {
  switch (error_number) {
    case ENOSPC:
      return "free space on that disk or name another one in `output: directory`";
    case EDQUOT:
      return "your quota there is used up: free space or name another place in `output: directory`";
    case EACCES:
    case EPERM:
      return "make the place writable for this user or name another one in `output: directory`";
    case EROFS:
      return "it is mounted read-only: name another place in `output: directory`";
    case ENOENT:
      return "it, or a directory above it, went away during the run or is a dangling link";
    case ENOTDIR:
    case EEXIST:
      return "a file stands where a directory is needed: move it away or choose another name";
    case EISDIR:
      return "a directory stands where a file is needed: move it away or choose another name";
    case EMFILE:
    case ENFILE:
      return "too many files are open: raise the limit (ulimit -n)";
    case ENAMETOOLONG:
      return "choose a shorter file name";
    case ELOOP:
      return "a symbolic link stands where a file is needed: remove it, or name what it leads to";
    case ENXIO:
      return "a pipe or a device stands where a file is needed: remove it or choose another name";
    case EFBIG:
      return "it would exceed the limit on the size of files: raise it (ulimit -f)";
    case EIO:
      return "the disk or its connection failed: check the system's log";
    default:
      return "check the place and the name";
  }
}

std::string directory_of(const std::string& path) {
  const std::string directory = std::filesystem::path(path).parent_path().string();
  return directory.empty() ? "." : directory;
}

}  // namespace

void fail_file(std::string_view action, const std::string& path, int error_number) {
  fail(Code::file, "cannot {} '{}': {}; {}", action, path, system_text(error_number), remedy(error_number));
}

void make_directory_of(const std::string& path) {
  const std::string directory = directory_of(path);
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  // Versions of the library differ in reporting that a path component is a file. A second query gives the same answer
  // everywhere.
  if (!error && !std::filesystem::is_directory(directory)) error = std::make_error_code(std::errc::not_a_directory);
  if (error) fail_file("make the directory", directory, error.value());
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  descriptor_ = create_anew(path_, O_WRONLY);
  if (descriptor_ < 0) fail_file("create", path_, errno);
  buffer_.reserve(buffer_size);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::write(std::string_view text) {
  if (buffer_.size() + text.size() > buffer_size) flush();
  if (text.size() < buffer_size) {
    buffer_.append(text);
    return;
  }
  write_at(flushed_, text.data(), text.size());
  flushed_ += text.size();
}

void OutputFile::write(std::span<const std::byte> bytes) {
  write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

void OutputFile::patch(std::uint64_t position, std::string_view text) {
  flush();
  write_at(position, text.data(), text.size());
}

void OutputFile::flush() {
  write_at(flushed_, buffer_.data(), buffer_.size());
  flushed_ += buffer_.size();
  buffer_.clear();
}

void OutputFile::write_at(std::uint64_t position, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::pwrite(descriptor_, data, size, static_cast<off_t>(position));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_file("write", path_, errno);
    data += written;
    size -= static_cast<std::size_t>(written);
    position += static_cast<std::uint64_t>(written);
  }
}

void OutputFile::close() {
  flush();
  const int descriptor = descriptor_;
  descriptor_ = -1;
  // Network file systems report a full disk or an exceeded quota only here.
  if (::close(descriptor) != 0 && errno != EINTR) fail_file("finish writing", path_, errno);
}

void append_to_file(const std::string& path, std::string_view text) {
  const Descriptor file(open_or_create(path, O_WRONLY | O_APPEND));
  if (file.get() < 0) fail_file("open for appending", path, errno);
  struct stat before {};
  if (::fstat(file.get(), &before) != 0) fail_file("examine", path, errno);
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int error = errno;
      if (::ftruncate(file.get(), before.st_size) != 0) fail_file("write, nor undo a write to,", path, error);
      fail_file("write", path, error);
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void overwrite_start(const std::string& path, std::string_view text) {
  const Descriptor file(open_or_create(path, O_WRONLY));
  if (file.get() < 0) fail_file("open", path, errno);
  ssize_t written = 0;
  do {
    written = ::pwrite(file.get(), text.data(), text.size(), 0);
  } while (written < 0 && errno == EINTR);
  if (written != static_cast<ssize_t>(text.size())) fail_file("write", path, written < 0 ? errno : ENOSPC);
}

InputFile::InputFile(std::string path) : path_(std::move(path)), descriptor_(open_to_read(path_)) {
  if (descriptor_ < 0) fail_file("open", path_, errno);
}

InputFile::~InputFile() { ::close(descriptor_); }

std::size_t InputFile::read(char* data, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(descriptor_, data + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_file("read", path_, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::uint64_t size_of_file(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0) fail_file("examine", path, errno);
  return static_cast<std::uint64_t>(facts.st_size);
}

void cut_file(const std::string& path, std::uint64_t size) {
  const Descriptor file(open_existing(path, O_WRONLY));
  if (file.get() < 0 || ::ftruncate(file.get(), static_cast<off_t>(size)) != 0) fail_file("shorten", path, errno);
}

std::string read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_file("open", path, errno);
  std::ostringstream content;
  content << file.rdbuf();
  if (file.bad()) fail_file("read", path, errno);
  return std::move(content).str();
}

void flush_to_disk(const std::string& path) {
  const Descriptor file(open_existing(path, O_WRONLY));
  if (file.get() < 0) fail_file("open", path, errno);
  if (::fsync(file.get()) != 0) fail_file("flush", path, errno);
}

void rename_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail_file("give the finished file its name", to, errno);
}

void flush_directory(const std::string& path) {
  const std::string name = path.empty() ? "." : path;
  const Descriptor directory(open_folder(name));
  if (directory.get() < 0) fail_file("open the directory", name, errno);
  // Some network file systems refuse to flush a directory (EINVAL); the rename cannot be made safer there.
  if (::fsync(directory.get()) != 0 && errno != EINVAL && errno != ENOTSUP) {
    fail_file("flush the directory", name, errno);
  }
}

void rename_durably(const std::string& from, const std::string& to) {
  rename_file(from, to);
  flush_directory(directory_of(to));
}

void replace_file(const OutputDirectory& directory, const std::string& path,
                  const std::function<void(const std::string& temporary)>& put) {
  try {
    put(begin_file(directory, path));
    directory.commit(path);
  } catch (...) {
    directory.discard(path);
    throw;
  }
}

void write_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.close();
}

void replace_file(const OutputDirectory& directory, const std::string& path, std::string_view text) {
  replace_file(directory, path, [&](const std::string& temporary) { write_file(temporary, text); });
}

void replace_file(const std::string& path, std::string_view text) {
  const std::filesystem::path whole(path);
  const auto directory = open_output_directory(whole.parent_path().string(), {}, Continuation::nothing, false);
  replace_file(*directory, path, text);
}

void write_at(const std::string& path, std::uint64_t position, std::string_view text) {
  const Descriptor file(open_existing(path, O_WRONLY));
  if (file.get() < 0) fail_file("open", path, errno);
  write_at(file.get(), path, position, text);
}

void write_at(int descriptor, const std::string& path, std::uint64_t position, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::pwrite(descriptor, text.data(), text.size(), static_cast<off_t>(position));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_file("write", path, errno);
    text.remove_prefix(static_cast<std::size_t>(written));
    position += static_cast<std::uint64_t>(written);
  }
}

std::size_t read_at(int descriptor, const std::string& path, std::uint64_t position, char* data, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(descriptor, data + done, size - done, static_cast<off_t>(position + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_file("read", path, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void copy_file(const std::string& from, const std::string& to) {
  constexpr std::size_t most = 1u << 20;  // bytes per call
  InputFile in(from);
  OutputFile out(to);
  std::string piece(most, '\0');
  while (const std::size_t got = in.read(piece.data(), piece.size())) out.write(std::string_view(piece.data(), got));
  out.close();
}

}  // namespace sidestream
