#include "storage/files/row_spool.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/own_environment.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"

namespace sidestream {

RowSpool::RowSpool(std::string path, int member, int members)
    : path_(std::move(path)),
      member_(static_cast<std::uint64_t>(member)),
      members_(static_cast<std::uint64_t>(members)) {}

void RowSpool::add(std::string_view rows) {
  while (!rows.empty() && failure_.empty()) {
    const std::size_t free_bytes = chunk - buffer_.size();
    // The end of the last row that fits; `rows` ends with a row.
    const std::size_t end = rows.size() <= free_bytes ? rows.size() : rows.rfind('\n', free_bytes - 1) + 1;
    if (free_bytes == 0 || end == 0) {
      spill();
      continue;
    }
    retry_while_out_of_memory([&] { buffer_.append(rows.substr(0, end)); });
    rows.remove_prefix(end);
  }
  lost_ += std::count(rows.begin(), rows.end(), '\n');
}

std::uint64_t RowSpool::position(std::size_t number) const noexcept { return (number * members_ + member_) * chunk; }

void RowSpool::spill() {
  try {
    if (buffer_.empty()) fail(Code::file, "cannot write '{}': a row is longer than {} bytes", path_, chunk);
    const FileSizeSignalHeld held;
    if (file_.get() < 0) open();
    retry_while_out_of_memory([&] { sizes_.reserve(sizes_.size() + 1); });
    write_at(file_.get(), path_, position(sizes_.size()), buffer_);
    sizes_.push_back(static_cast<std::uint32_t>(buffer_.size()));
    spilled_ += buffer_.size();
    buffer_.clear();
    shown_ = 0;
  } catch (const Error& e) {
    failure_ = e.what();
  }
}

void RowSpool::show() {
  if (!shows_ || !failure_.empty() || buffer_.size() == shown_) return;
  try {
    const FileSizeSignalHeld held;
    if (file_.get() < 0) open();
    write_at(file_.get(), path_, position(sizes_.size()) + shown_, std::string_view(buffer_).substr(shown_));
    shown_ = buffer_.size();
  } catch (const Error&) {
    shows_ = false;  // the rows are in memory; losses are reported when they no longer fit
  }
}

/// Opens the file; creates the folder if needed. Refuses a file that another user has put there.
void RowSpool::open() {
  Descriptor file(open_or_create(path_, O_RDWR));
  if (file.get() < 0 && errno == ENOENT) {
    make_directory_of(path_);
    file = Descriptor(open_or_create(path_, O_RDWR));
  }
  if (file.get() < 0) fail_file("open", path_, errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) fail_file("examine", path_, errno);
  if (facts.st_uid != ::geteuid()) {
    fail(Code::file, "found '{}', a file of another user, expected none, or one of this run; remove it", path_);
  }
  file_ = std::move(file);
}

void RowSpool::read_spilled(const std::function<void(std::string_view)>& take) const {
  std::string text;
  for (std::size_t n = 0; n < sizes_.size(); ++n) {
    text.resize(sizes_[n]);
    const std::size_t got = read_at(file_.get(), path_, position(n), text.data(), text.size());
    if (got < text.size() || text.back() != '\n') {
      fail(Code::file, "cannot read '{}': somebody has changed it while the run went on", path_);
    }
    take(text);
  }
}

void read_part_file(const std::string& path, const std::function<void(std::string_view)>& take) {
  const Descriptor file(open_existing(path, O_RDONLY));
  if (file.get() < 0 && errno == ENOENT) return;
  if (file.get() < 0) fail_file("open", path, errno);
  std::string text;
  for (std::uint64_t at = 0;; at += RowSpool::chunk) {
    // Skip holes: in the file of many processes they may be far longer than the rows.
    const off_t next = ::lseek(file.get(), static_cast<off_t>(at), SEEK_DATA);
    if (next < 0 && errno == ENXIO) return;
    if (next > 0) at = static_cast<std::uint64_t>(next) / RowSpool::chunk * RowSpool::chunk;
    text.resize(RowSpool::chunk);
    text.resize(read_at(file.get(), path, at, text.data(), text.size()));
    if (text.empty()) return;
    text.resize(std::min(text.find('\0'), text.size()));
    text.resize(text.rfind('\n') + 1);  // a process may have been killed within a row
    if (!text.empty()) take(text);
  }
}

}  // namespace sidestream
