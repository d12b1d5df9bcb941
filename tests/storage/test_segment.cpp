// A segment reserves space before it is written, and readers see no difference.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <string>

#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/database/segment.hpp"
#include "support/scratch.hpp"

using sidestream::read_file;
using sidestream::database::GrowingFile;
using sidestream::testing::Scratch;

namespace {

constexpr std::uint64_t mebibyte = 1u << 20;

std::uint64_t bytes_on_disk(const std::string& path) {
  struct stat facts {};
  REQUIRE(::stat(path.c_str(), &facts) == 0);
  return static_cast<std::uint64_t>(facts.st_blocks) * 512;
}

/// True if the file system that holds the path can reserve space.
bool can_reserve(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT, 0666);
  REQUIRE(descriptor >= 0);
  struct statfs system {};
  const bool can = ::fstatfs(descriptor, &system) == 0 && system.f_type != TMPFS_MAGIC &&
                   ::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, 1) == 0;
  ::close(descriptor);
  return can;
}

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

TEST_CASE("room that is reserved is there, and the file ends where it did") {
  const Scratch directory;
  const std::string path = directory.path + "/segment";
  GrowingFile file(path, GrowingFile::Open::fresh);
  file.write(0, bytes_of("kept"));
  file.reserve(4, 8 * mebibyte);
  CHECK(read_file(path) == "kept");
  if (can_reserve(directory.path + "/probe")) {
    CHECK(bytes_on_disk(path) >= 8 * mebibyte);
  } else {
    MESSAGE("NOT TESTED: the file system of temporary files reserves no room");
  }
  file.write(4 + mebibyte, bytes_of("end"));
  file.close();
  CHECK(read_file(path) == "kept" + std::string(mebibyte, '\0') + "end");
}

TEST_CASE("room that no file can have: nothing is kept of it, and nothing fails") {
  const Scratch directory;
  const std::string path = directory.path + "/segment";
  GrowingFile file(path, GrowingFile::Open::fresh);
  file.write(0, bytes_of("kept"));
  const std::uint64_t before = bytes_on_disk(path);
  file.reserve(4, std::uint64_t{1} << 62);
  file.close();
  CHECK(bytes_on_disk(path) == before);
  CHECK(read_file(path) == "kept");
}
