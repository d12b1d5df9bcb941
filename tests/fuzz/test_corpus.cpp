// Tests stored inputs that fuzzing found, and changed copies of them, without libFuzzer.
#include <doctest/doctest.h>

#include <filesystem>
#include <random>

#include "sidestream/kit/storage/files/output_file.hpp"
#include "targets.hpp"

using namespace sidestream;

namespace {

/// Changes an input as a fuzzer does, on a small scale, and in the same way each time.
void change(Bytes& bytes, std::mt19937& random) {
  if (bytes.empty()) bytes.resize(1);
  const std::size_t at = random() % bytes.size();
  switch (random() % 6) {
    case 0:
      bytes.resize(at);
      break;
    case 1:
      bytes.insert(bytes.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end());
      break;
    case 2:
      for (std::size_t n = at; n < std::min(at + 8, bytes.size()); ++n) bytes[n] = std::byte{0xff};
      break;
    default:
      bytes[at] ^= static_cast<std::byte>(1u << random() % 8);
  }
}

}  // namespace

TEST_CASE("whatever a reader is given, it reads or refuses") {
  std::mt19937 random(23);
  for (const fuzz::Target& target : fuzz::targets()) {
    CAPTURE(target.name);
    std::size_t inputs = 0;
    for (const auto& file : std::filesystem::directory_iterator(std::string(SIDESTREAM_FUZZ_CORPUS) + target.name)) {
      CAPTURE(file.path().string());
      const std::string text = read_file(file.path().string());
      const BytesView whole = std::as_bytes(std::span(text));
      CHECK_NOTHROW(target.run(whole));
      for (int round = 0; round < 50; ++round) {
        Bytes bytes(whole.begin(), whole.end());
        for (int step = 0; step < 4; ++step) {
          change(bytes, random);
          REQUIRE_NOTHROW(target.run(bytes));
        }
      }
      ++inputs;
    }
    CHECK(inputs > 3);
  }
}
