#include "storage/files/file_parts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.hpp"
#include "storage/files/output_file.hpp"

namespace sidestream {

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

void copy_file(const std::string& from, const std::string& to) {
  constexpr std::size_t most = 1u << 20;  // bytes per call
  InputFile in(from);
  OutputFile out(to);
  std::string piece(most, '\0');
  while (const std::size_t got = in.read(piece.data(), piece.size())) out.write(std::string_view(piece.data(), got));
  out.close();
}

}  // namespace sidestream
