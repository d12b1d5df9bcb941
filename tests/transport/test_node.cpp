// Pages that each process of a node enters into its page tables.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "sidestream/error.hpp"
#include "transport/sidecar.hpp"

using namespace sidestream;
using namespace sidestream::shared_memory;

namespace {

/// Bytes of the mapping of that name that are in this process' page tables.
std::uint64_t mapped(const std::string& name) {
  std::ifstream file("/proc/self/smaps");
  std::string line;
  bool here = false;
  std::uint64_t kib = 0;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first.find('-') != std::string::npos) here = line.find(name) != std::string::npos;
    std::uint64_t value = 0;
    if (here && first == "Rss:" && words >> value) kib += value;
  }
  return kib * 1024;
}

constexpr std::uint64_t buffer = 32 << 20, home = 1 << 20, keep = 1 << 16;

}  // namespace

TEST_CASE("few processes map all of the buffer, many map what is their own") {
  if (page_tables(buffer) < buffer / 1024) {
    MESSAGE("NOT TESTED: this kernel gives huge pages for shared memory, and everybody maps everything");
    return;
  }
  SUBCASE("few") {
    const auto node = test::make_node(2, {home, 1, 0, keep}, buffer);
    CHECK(mapped("sidestream-buffer") >= buffer);
  }
  SUBCASE("many") {
    const auto node = test::make_node(100, {home, 1, 0, keep}, buffer);
    CHECK(mapped("sidestream-buffer") >= home + keep);
    CHECK(mapped("sidestream-buffer") < home + keep + (1 << 18));
    // Pages that are not entered yet can be used all the same.
    node->buffer()[buffer - 1] = std::byte{1};
  }
}

TEST_CASE("there must be room for page tables too") {
  const std::uint64_t left = std::uint64_t{1} << 61;
  CHECK_THROWS_WITH_AS(static_cast<void>(Segment::create(1 << 20, 1, "test", left)), doctest::Contains("page tables"),
                       Error);
}
