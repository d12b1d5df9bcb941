// Damaged bytes give a sentence or other numbers, and nothing else.
#include "modules/bounded_codec/chunks.hpp"
#include "sidestream/error.hpp"

using namespace sidestream;
using namespace sidestream::testing;

namespace {

/// Decodes; true if the bytes are refused.
template <class Real>
bool refuses(const Bytes& stream, std::size_t count) {
  try {
    static_cast<void>(decoded<Real>(stream, count));
  } catch (const Error& error) {
    CHECK(error.code() == Code::file);
    return true;
  }
  return false;
}

template <class Real>
void check_damage(const ChunkPlace& place, std::size_t count, const std::string& bound) {
  std::vector<Real> values = smooth<Real>(place, count);
  for (std::size_t n = 0; n < values.size() / 3; ++n) values[n] = 0;
  const Bytes stream = encoded(values, place, bound);
  REQUIRE(!stream.empty());
  std::mt19937 random(11);
  int refused = 0;
  for (int n = 0; n < 800; ++n) {
    Bytes bad = stream;
    const std::size_t at = random() % 2 ? random() % 90 : random() % bad.size();
    bad[at] ^= static_cast<std::byte>(1u << random() % 8);
    if (n % 5 == 0) bad.resize(random() % bad.size());
    if (refuses<Real>(bad, count)) ++refused;
  }
  CHECK(refused > 250);
}

}  // namespace

TEST_CASE("damaged bytes are errors, or other numbers, and nothing else") {
  for (const char* const bound : {"1e-3", "each:1e-3"}) {
    check_damage<double>({5, {13, 7, 30}, 3}, 3000, bound);
    check_damage<float>({0, {40, 1, 1}, 1}, 40 * 40, bound);
  }
}

namespace {

void check_lengths(const std::string& bound) {
  const ChunkPlace place{0, {16, 16, 16}, 1};
  const Bytes stream = encoded(smooth<double>(place, 4096), place, bound);
  REQUIRE(!stream.empty());
  for (std::size_t size = 0; size < stream.size(); ++size) {
    CHECK(refuses<double>(Bytes(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size)), 4096));
  }
  Bytes longer = stream;
  longer.push_back(std::byte{0});
  CHECK(refuses<double>(longer, 4096));
  CHECK(refuses<double>(stream, 4096 * 8));
}

/// The chunk with other bytes from `at` on, whose last head is at byte 33.
template <class T>
Bytes with(Bytes stream, std::size_t at, T value) {
  std::memcpy(stream.data() + at, &value, sizeof value);
  return stream;
}

}  // namespace

TEST_CASE("bytes that are cut or too long, and another number of values, are errors") {
  check_lengths("1e-3");
  check_lengths("each:1e-3");
  std::mt19937 random(2);
  for (int n = 0; n < 300; ++n) {
    Bytes noise(1 + random() % 400);
    for (std::byte& byte : noise) byte = static_cast<std::byte>(random() % (n % 2 == 0 ? 256 : 3));
    refuses<double>(noise, 1000);
  }
}

TEST_CASE("heads of logarithms that no encoder makes are errors") {
  const ChunkPlace place{0, {16, 16, 16}, 1};
  const Bytes stream = encoded(smooth<double>(place, 4096), place, "each:1e-3");
  CHECK_FALSE(refuses<double>(stream, 4096));
  for (const double base : {0.5, 1e15, -1e300, std::nan(""), std::nan("") + 1, HUGE_VAL}) {
    CHECK(refuses<double>(with(stream, 33, base), 4096));
  }
  for (const std::int16_t exponent : {-37, 1, -1000, 32767}) {
    CHECK(refuses<double>(with(stream, 41, exponent), 4096));
  }
  for (const std::uint8_t states : {6, 7, 8, 255}) CHECK(refuses<double>(with(stream, 33 + 26, states), 4096));
  for (const std::uint8_t version : {0, 3, 255}) CHECK(refuses<double>(with(stream, 0, version), 4096));
}
