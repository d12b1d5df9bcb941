#include "importers/ramses/fortran_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::ramses {

namespace {

constexpr std::uint64_t marker_bytes = 4, buffer_bytes = 1u << 18;

void reverse_elements(std::span<std::byte> bytes, std::size_t width) {
  if (width < 2) return;
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                 bytes.begin() + static_cast<std::ptrdiff_t>(at + width));
  }
}

template <class From, class To>
std::vector<To> converted(BytesView bytes) {
  std::vector<To> values(bytes.size() / sizeof(From));
  for (std::size_t n = 0; n < values.size(); ++n) {
    From value;
    std::memcpy(&value, bytes.data() + n * sizeof(From), sizeof(From));
    values[n] = static_cast<To>(value);
  }
  return values;
}

}  // namespace

FortranFile::FortranFile(std::string path) : file_(std::move(path)), size_(file_.size()) {
  const std::int32_t first = size_ >= 3 * marker_bytes ? marker_at(0) : 0;
  swapped_ = first == 0x04000000;
  if (first == 4 || swapped_) return;
  fail(
      Code::file,
      "'{}' does not begin with a record of four bytes, in either byte order, as unformatted files of RAMSES do; it is "
      "damaged or of something else",
      this->path());
}

void FortranFile::complain(const char* what, const std::string& sentence) const {
  fail(Code::file, "'{}', record {} ({}): {}; the file is damaged, or not what this version of RAMSES writes", path(),
       record_, what, sentence);
}

void FortranFile::fetch(std::uint64_t offset, std::span<std::byte> out) {
  if (out.size() > buffer_bytes) {
    file_.read(offset, out);
    return;
  }
  if (offset < buffer_begin_ || offset + out.size() > buffer_begin_ + buffer_.size()) {
    buffer_.resize(std::min(buffer_bytes, size_ - offset));
    file_.read(offset, buffer_);
    buffer_begin_ = offset;
  }
  std::memcpy(out.data(), buffer_.data() + (offset - buffer_begin_), out.size());
}

std::int32_t FortranFile::marker_at(std::uint64_t offset) {
  std::uint32_t marker = 0;
  fetch(offset, std::as_writable_bytes(std::span(&marker, 1)));
  return static_cast<std::int32_t>(swapped_ ? __builtin_bswap32(marker) : marker);
}

/// gfortran marks a part that is continued by a negative length in front, and a continuation by one behind.
FortranFile::Part FortranFile::part_at(std::uint64_t offset, const char* what) {
  if (offset > size_ || size_ - offset < 2 * marker_bytes) {
    complain(what, fmt::format("the file ends at byte {}, where a record was expected", size_));
  }
  const std::int64_t ahead = marker_at(offset);
  const auto bytes = static_cast<std::uint64_t>(ahead < 0 ? -ahead : ahead);
  if (bytes > size_ - offset - 2 * marker_bytes) {
    complain(what, fmt::format("found a length of {} bytes, but the file ends {} bytes later", bytes,
                               size_ - offset - marker_bytes));
  }
  const std::int64_t behind = marker_at(offset + marker_bytes + bytes);
  if (static_cast<std::uint64_t>(behind < 0 ? -behind : behind) != bytes) {
    complain(what, fmt::format("found a length of {} in front and one of {} behind", ahead, behind));
  }
  return {offset + marker_bytes, bytes, ahead < 0};
}

FortranFile::Extent FortranFile::next(const char* what) {
  ++record_;
  Extent found;
  found.end = offset_;
  do {
    found.parts.push_back(part_at(found.end, what));
    found.bytes += found.parts.back().bytes;
    found.end = found.parts.back().begin + found.parts.back().bytes + marker_bytes;
  } while (found.parts.back().goes_on);
  return found;
}

std::uint64_t FortranFile::next_size() {
  const std::uint64_t bytes = next("the length of the next one").bytes;
  --record_;
  return bytes;
}

bool FortranFile::at_end() { return offset_ >= size_; }

void FortranFile::skip(std::uint64_t records) {
  for (std::uint64_t n = 0; n < records; ++n) offset_ = next("passed over").end;
}

BytesView FortranFile::read(const char* what, std::size_t width) {
  const Extent extent = next(what);
  if (extent.bytes % width != 0) {
    complain(what, fmt::format("found {} bytes, expected a multiple of {}", extent.bytes, width));
  }
  values_.resize(extent.bytes);
  std::span<std::byte> rest(values_);
  for (const Part& part : extent.parts) {
    fetch(part.begin, rest.first(part.bytes));
    rest = rest.subspan(part.bytes);
  }
  if (swapped_) reverse_elements(values_, width);
  offset_ = extent.end;
  return values_;
}

BytesView FortranFile::read(const char* what, Type type, std::uint64_t count) {
  const BytesView bytes = read(what, size_of(type));
  if (bytes.size() / size_of(type) != count) {
    complain(what, fmt::format("found {} bytes, expected {} values of type {}", bytes.size(), count, name_of(type)));
  }
  return bytes;
}

std::vector<std::int64_t> FortranFile::integers(const char* what, std::int64_t count) {
  const std::uint64_t bytes = next_size();
  const auto wanted = static_cast<std::uint64_t>(count);
  if (count < 0 || bytes == wanted * 4) return converted<std::int32_t, std::int64_t>(read(what, 4));
  if (bytes == wanted * 8) return converted<std::int64_t, std::int64_t>(read(what, 8));
  ++record_;
  complain(what, fmt::format("found {} bytes, expected {} whole numbers", bytes, count));
}

Type FortranFile::real_type(const char* what, std::uint64_t count) {
  const std::uint64_t bytes = next_size();
  if (bytes == count * 4) return Type::float32;
  if (bytes == count * 8) return Type::float64;
  ++record_;
  complain(what, fmt::format("found {} bytes, expected {} real numbers", bytes, count));
}

std::vector<double> FortranFile::reals(const char* what, std::uint64_t count) {
  if (count > 0 && real_type(what, count) == Type::float32) return converted<float, double>(read(what, 4));
  return converted<double, double>(read(what, 8));
}

}  // namespace sidestream::ramses
