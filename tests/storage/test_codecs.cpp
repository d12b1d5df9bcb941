// Codecs, and the choice among them: they keep every bit or the bound for any input, with damaged bytes, and on several
// threads.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include "sidestream/error.hpp"
#include "storage/codecs/packing.hpp"
#include "storage/database/domain.hpp"
#include "support/chunk_places.hpp"

using namespace sidestream;

namespace {

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> values_of(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class T>
std::vector<T> waves(std::size_t count, double scale = 1) {
  std::vector<T> values(count);
  for (std::size_t n = 0; n < count; ++n) values[n] = static_cast<T>(scale * std::sin(1e-3 * static_cast<double>(n)));
  return values;
}

Bytes noise(std::size_t count) {
  std::mt19937_64 random(3);
  Bytes bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

bool has(const char* codec) { return built_in_codecs().contains(codec); }

template <class T>
void check_bound(const std::vector<T>& values, const std::string& bound) {
  const Type type = sizeof(T) == 4 ? Type::float32 : Type::float64;
  const Packing packing({{"zfp:" + bound}}, type, built_in_codecs());
  CHECK_FALSE(packing.lossless());
  const Bytes raw = bytes_of(values);
  Bytes out;
  const std::uint32_t list = packing.encode(raw, out);
  bool finite = true;
  for (const T value : values) finite = finite && std::isfinite(value);
  if (list == 0) return;  // kept as it is, without any error
  REQUIRE(finite);
  Bytes back(raw.size());
  packing.decode(list, out, back);
  const std::vector<T> again = values_of<T>(back);
  for (std::size_t n = 0; n < values.size(); ++n) {
    REQUIRE(std::fabs(static_cast<double>(again[n]) - static_cast<double>(values[n])) <= std::stod(bound));
  }
}

}  // namespace

TEST_CASE("zfp keeps its bound") {
  if (!has("zfp")) {
    WARN_MESSAGE(false, "NOT TESTED: this build has no zfp");
    return;
  }
  for (const char* bound : {"10", "0.1", "1e-3", "1e-9", "1e-15", "1e-300"}) {
    for (const std::size_t count : {1u, 2u, 3u, 4u, 5u, 4096u, 10001u}) {
      check_bound(waves<double>(count), bound);
      check_bound(waves<float>(count), bound);
      check_bound(waves<double>(count, 1e200), bound);
      check_bound(waves<double>(count, 1e-310), bound);
      check_bound(values_of<double>(noise(8 * count)), bound);
      check_bound(values_of<float>(noise(4 * count)), bound);
    }
  }
  std::vector<double> odd = waves<double>(100);
  odd[50] = std::numeric_limits<double>::quiet_NaN();
  Bytes out;
  const Packing packing({{"zfp:1e-3"}}, Type::float64, built_in_codecs());
  CHECK(packing.encode(bytes_of(odd), out) == 0);
  odd[50] = std::numeric_limits<double>::infinity();
  CHECK(packing.encode(bytes_of(odd), out) == 0);
  const Bytes raw = bytes_of(waves<double>(1 << 17));
  CHECK(packing.encode(raw, out) == 1);
  CHECK(out.size() < raw.size() / 4);
}

TEST_CASE("damaged bytes of zfp are errors, or other numbers, and nothing else") {
  if (!has("zfp")) return;
  const Packing packing({{"zfp:1e-3"}}, Type::float64, built_in_codecs());
  const Bytes raw = bytes_of(waves<double>(3000));
  Bytes out, back(raw.size());
  REQUIRE(packing.encode(raw, out) == 1);
  std::mt19937 random(11);
  int refused = 0;
  for (int n = 0; n < 5000; ++n) {
    Bytes bad = out;
    // The header is damaged more often than the rest.
    const std::size_t at = random() % 2 ? random() % 16 : random() % bad.size();
    bad[at] ^= static_cast<std::byte>(1u << random() % 8);
    if (n % 5 == 0) bad.resize(random() % bad.size());
    try {
      packing.decode(1, bad, back);
    } catch (const Error& error) {
      CHECK(error.code() == Code::file);
      ++refused;
    }
  }
  CHECK(refused > 500);
}

namespace {

/// Encodes and decodes a part of an array and compares it with the bound. Returns the encoded size, 0 if it was kept.
template <class T>
std::size_t check_part(const std::vector<T>& values, const ChunkPlace& place, double bound) {
  const Type type = sizeof(T) == 4 ? Type::float32 : Type::float64;
  const Packing packing({{"zfp:" + std::to_string(bound)}}, type, built_in_codecs());
  const Bytes raw = bytes_of(values);
  Bytes out, back(raw.size());
  const std::uint32_t list = packing.encode(raw, out, {}, place);
  if (list == 0) return 0;
  packing.decode(list, out, back);
  const std::vector<T> again = values_of<T>(back);
  for (std::size_t n = 0; n < values.size(); ++n) {
    REQUIRE(std::fabs(static_cast<double>(again[n]) - static_cast<double>(values[n])) <= bound);
  }
  return out.size();
}

/// A smooth field of `components` components, from element `first` on.
template <class T>
std::vector<T> field(const ChunkPlace& place, std::size_t count) {
  std::vector<T> values;
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint64_t element = place.first + n, point = element / place.components;
    const auto x = static_cast<double>(point % place.points[0]);
    const auto y = static_cast<double>(point / place.points[0] % place.points[1]);
    const auto z = static_cast<double>(point / place.points[0] / place.points[1]);
    const auto c = static_cast<double>(element % place.components);
    values.push_back(static_cast<T>(std::sin(0.1 * x + c) * std::cos(0.07 * y) + std::sin(0.05 * z) + 100 * c));
  }
  return values;
}

}  // namespace

TEST_CASE("zfp keeps its bound in any part of an array of one to three dimensions and several components") {
  if (!has("zfp")) return;
  std::mt19937 random(5);
  for (int n = 0; n < 300; ++n) {
    const auto [place, count] = testing::random_part(random);
    CHECK((check_part(field<double>(place, count), place, 1e-3) > 0) == (count > 0));
    CHECK((check_part(field<float>(place, count), place, 1e-3) > 0) == (count > 0));
  }
}

TEST_CASE("zfp is denser in three dimensions than along a line") {
  if (!has("zfp")) return;
  const ChunkPlace line, body{0, {64, 64, 32}, 1}, vectors{0, {64, 32, 16}, 3};
  const auto values = field<double>(body, 64 * 64 * 32), of_vectors = field<double>(vectors, 64 * 32 * 16 * 3);
  CHECK(2 * check_part(values, body, 1e-3) < check_part(values, line, 1e-3));
  CHECK(2 * check_part(of_vectors, vectors, 1e-3) < check_part(of_vectors, line, 1e-3));
}

TEST_CASE("damaged runs of zfp are errors, or other numbers, and nothing else") {
  if (!has("zfp")) return;
  const ChunkPlace place{5, {13, 7, 30}, 3};
  const Packing packing({{"zfp:1e-3"}}, Type::float64, built_in_codecs());
  const Bytes raw = bytes_of(field<double>(place, 3000));
  Bytes out, back(raw.size());
  REQUIRE(packing.encode(raw, out, {}, place) == 1);
  std::mt19937 random(11);
  int refused = 0;
  for (int n = 0; n < 5000; ++n) {
    Bytes bad = out;
    const std::size_t at = random() % 2 ? random() % 60 : random() % bad.size();
    bad[at] ^= static_cast<std::byte>(1u << random() % 8);
    if (n % 5 == 0) bad.resize(random() % bad.size());
    try {
      packing.decode(1, bad, back);
    } catch (const Error& error) {
      CHECK(error.code() == Code::file);
      ++refused;
    }
  }
  CHECK(refused > 500);
}

TEST_CASE("rounded values come back rounded, and pack better") {
  const std::vector<double> values = waves<double>(1 << 14);
  const Bytes raw = bytes_of(values);
  Bytes plain, out, back(raw.size());
  const CodecKinds kinds = built_in_codecs();
  REQUIRE(Packing({{"byte-shuffle", "gzip"}}, Type::float64, kinds).encode(raw, plain) == 1);
  for (const char* word : {"bit-round:12", "round:1e-4", "single", "half"}) {
    const Packing packing = Packing::chosen({"byte-shuffle", "gzip"}, Type::float64, kinds, word);
    CHECK_FALSE(packing.lossless());
    REQUIRE(packing.encode(raw, out) == 1);
    CHECK(3 * out.size() < 2 * plain.size());
    packing.decode(1, out, back);
    const std::vector<double> again = values_of<double>(back);
    for (std::size_t n = 0; n < values.size(); ++n) REQUIRE(std::fabs(again[n] - values[n]) <= 5e-4);
  }
  const std::vector<double> large{1e300, 2};
  CHECK(Packing({{"single"}}, Type::float64, kinds).encode(bytes_of(large), out) == 0);
  CHECK(Packing::chosen({"auto"}, Type::float64, kinds, "bit-round:3").lists().size() == 2);
  CHECK(Packing::chosen({"auto"}, Type::float64, kinds, "half").lists().front().front() == "half");
  if (has("zfp")) CHECK(Packing::chosen({"zstd"}, Type::float64, kinds, "zfp:1").lists().front().size() == 1);
  CHECK_THROWS_AS(static_cast<void>(Packing({{"bit-round:30"}}, Type::float32, kinds)), Error);
}

TEST_CASE("arguments of codecs are checked") {
  const auto message = [](const std::string& codec) -> std::string {
    try {
      static_cast<void>(Packing({{codec}}, Type::float64, built_in_codecs()));
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  };
  CHECK(message("nothing:3").find("the codec 'nothing' is not in this build") != std::string::npos);
  CHECK(message("half:3").find("expected 'half'") != std::string::npos);
  CHECK(message("gzip:").find("expected 'gzip'") != std::string::npos);
  if (!has("zfp")) return;
  CHECK(message("zfp").find("expected 'zfp:BOUND'") != std::string::npos);
  for (const char* wrong : {"zfp:0", "zfp:-1", "zfp:nan", "zfp:inf", "zfp:1e-3x", "zfp:1e999", "zfp: 1"}) {
    CHECK_MESSAGE(message(wrong).find("a number above 0") != std::string::npos, wrong);
  }
  CHECK(message("zfp:1e-3").empty());
  CHECK_THROWS_AS(static_cast<void>(Packing({{"zfp:1"}}, Type::int32, built_in_codecs())), Error);
}

TEST_CASE("auto packs what gets smaller, in the way that suits it, and keeps the rest") {
  const CodecKinds kinds = built_in_codecs();
  const Packing packing = Packing::chosen({"auto"}, Type::float64, kinds);
  CHECK(packing.lossless());
  CHECK_FALSE(packing.empty());
  REQUIRE(packing.lists().size() == 2);
  const auto chosen = [&](const Bytes& raw, const PackingPace& pace) {
    Bytes out;
    const std::uint32_t list = packing.encode(raw, out, pace);
    if (list > 0) {
      CHECK(out.size() < raw.size());
      Bytes back(raw.size());
      packing.decode(list, out, back);
      CHECK(back == raw);
    }
    return list;
  };
  const std::size_t count = 1 << 17;
  const Bytes smooth = bytes_of(waves<double>(count)), random = noise(8 * count), zeros(8 * count);
  std::vector<double> words(count);
  for (std::size_t n = 0; n < count; ++n) words[n] = std::sqrt(static_cast<double>(n % 50));
  CHECK(chosen(smooth, {}) == 2);  // bytes of elements are separated
  CHECK(chosen(random, {}) == 0);
  CHECK(chosen(zeros, {}) > 0);
  CHECK(chosen(bytes_of(words), {}) == 1);  // whole words repeat
  for (const std::size_t size : {0u, 8u, 64u, 32760u, 32768u, 32776u}) {
    CHECK_NOTHROW(static_cast<void>(chosen(Bytes(smooth.begin(), smooth.begin() + size), {})));
  }
  // A server that is behind packs nothing if the disk takes no time. If the disk takes for ever, it packs whatever
  // saves time.
  CHECK(chosen(smooth, {true, 0, 1}) == 0);
  CHECK(chosen(smooth, {true, 1e3, 1}) == 2);
  CHECK(chosen(random, {true, 1e3, 1}) == 0);
  CHECK_THROWS_AS(static_cast<void>(Packing::chosen({"auto", "zstd"}, Type::float64, kinds)), Error);
  Bytes back(8);
  CHECK_THROWS_AS(packing.decode(3, zeros, back), Error);
}

TEST_CASE("a pool does each piece of work once, and hands on what fails") {
  for (const int threads : {1, 2, 3, 8}) {
    WorkerPool pool(threads);
    CHECK(pool.threads() <= threads);
    for (const std::size_t count : {0u, 1u, 2u, 7u, 1000u}) {
      std::vector<std::atomic<int>> done(count);
      pool.for_each(count, [&](std::size_t n) { ++done[n]; });
      for (const auto& times : done) REQUIRE(times == 1);
    }
    CHECK_THROWS_WITH_AS(pool.for_each(50,
                                       [](std::size_t n) {
                                         if (n == 33) throw std::runtime_error("planned");
                                       }),
                         "planned", std::runtime_error);
    int after = 0;
    pool.for_each(1, [&](std::size_t) { ++after; });
    CHECK(after == 1);
  }
}

TEST_CASE("chunks come in order, the same for any number of threads") {
  const Bytes smooth = bytes_of(waves<double>(5 << 17)), random = noise(1 << 20);
  for (const auto& lists : {std::vector<std::string>{"gzip"}, {"byte-shuffle", "gzip"}, {"quantise-2"}}) {
    const Packing packing({lists}, Type::float64, built_in_codecs());
    std::vector<database::ChunkRow> expected;
    Bytes bytes;
    for (const int threads : {1, 2, 5}) {
      WorkerPool pool(threads);
      const database::Encoding encoding{&pool, {}};
      std::vector<database::ChunkRow> rows;
      Bytes out;
      database::ChunkBatch batch(encoding, packing, rows, out);
      Bytes passing;  // bytes that are deleted after each call
      for (std::size_t at = 0; at < smooth.size(); at += database::chunk_bytes) {
        const BytesView chunk = BytesView(smooth).subspan(at, database::chunk_bytes);
        batch.add(chunk, true);
        passing.assign(at % (2 * database::chunk_bytes) == 0 ? random.begin() : smooth.begin(),
                       at % (2 * database::chunk_bytes) == 0 ? random.begin() + 8000 : smooth.begin() + 8000);
        batch.add(passing, false);
      }
      batch.finish();
      if (threads == 1) {
        expected = rows;
        bytes = out;
        CHECK(rows.size() == 10);
      }
      CHECK(out == bytes);
      REQUIRE(rows.size() == expected.size());
      CHECK(std::memcmp(rows.data(), expected.data(), rows.size() * sizeof rows[0]) == 0);
    }
  }
}
