// Fortran's unformatted sequential files, as gfortran and ifort write them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sidestream/data/type.hpp"
#include "sidestream/extend/communicator.hpp"
#include "storage/database/segment.hpp"

namespace sidestream::ramses {

/// A file of either byte order that is read record by record. A record's length is checked against the file before
/// memory is allocated. Records longer than 2 GiB are in parts, which are joined. Throws Error(file) with the file's
/// name, the number of the record (from 1) and its expected content. For one thread.
class FortranFile {
 public:
  /// Finds the byte order from the first record, which has four bytes: the number of domains at the start of RAMSES'
  /// files.
  explicit FortranFile(std::string path);

  /// Size of the next record in bytes, without reading it; 0 at the end.
  [[nodiscard]] std::uint64_t next_size();
  [[nodiscard]] bool at_end();
  void skip(std::uint64_t records = 1);

  /// Reads a record in the byte order of this machine, as elements of `width` bytes. Valid until the next call.
  [[nodiscard]] BytesView read(const char* what, std::size_t width);
  /// Reads a record of exactly `count` elements of `type`.
  [[nodiscard]] BytesView read(const char* what, Type type, std::uint64_t count);
  /// Reads integers of 4 or 8 bytes: `count`, or with -1 all in the record, of 4 bytes.
  [[nodiscard]] std::vector<std::int64_t> integers(const char* what, std::int64_t count);
  [[nodiscard]] std::int64_t integer(const char* what) { return integers(what, 1).front(); }
  /// Reads real numbers of 4 or 8 bytes.
  [[nodiscard]] std::vector<double> reals(const char* what, std::uint64_t count);
  /// The type of the real numbers in the next record, which has `count`, at least one.
  [[nodiscard]] Type real_type(const char* what, std::uint64_t count);

  /// Throws an error about the last record, beginning with the file and the record.
  [[noreturn]] void complain(const char* what, const std::string& sentence) const;
  [[nodiscard]] const std::string& path() const noexcept { return file_.path(); }

 private:
  struct Part {
    std::uint64_t begin = 0, bytes = 0;
    bool goes_on = false;
  };
  /// The parts of one record.
  struct Extent {
    std::vector<Part> parts;
    std::uint64_t bytes = 0, end = 0;
  };
  [[nodiscard]] Part part_at(std::uint64_t offset, const char* what);
  [[nodiscard]] Extent next(const char* what);
  void fetch(std::uint64_t offset, std::span<std::byte> out);
  [[nodiscard]] std::int32_t marker_at(std::uint64_t offset);

  database::PlacedFile file_;
  std::uint64_t size_ = 0, offset_ = 0, record_ = 0;
  bool swapped_ = false;
  Bytes buffer_, values_;
  std::uint64_t buffer_begin_ = 0;
};

}  // namespace sidestream::ramses
