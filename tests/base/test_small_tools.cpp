// Tests of the back-off, the hash and the serialiser.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sidestream/kit/base/fields.hpp"
#include "sidestream/kit/base/hash.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/base/waiting.hpp"

using namespace sidestream;
using std::chrono::microseconds;

TEST_CASE("pauses grow by half up to the longest, and are short again after a reset") {
  Backoff backoff(microseconds(10), microseconds(40));
  std::vector<std::int64_t> lengths;
  for (int n = 0; n < 5; ++n) lengths.push_back(backoff.next().count());
  CHECK(lengths == std::vector<std::int64_t>{10, 16, 25, 38, 40});
  backoff.reset();
  CHECK(backoff.next() == microseconds(10));
  CHECK(backoff.next(microseconds(5)) == microseconds(5));
}

TEST_CASE("the first looks cost no pause") {
  Backoff backoff(microseconds(2'000'000), microseconds(2'000'000), 1000);
  const auto start = std::chrono::steady_clock::now();
  for (int n = 0; n < 1000; ++n) backoff.pause();
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
}

TEST_CASE("hashes are FNV-1a") {
  const auto of = [](std::string_view text) {
    Hash hash;
    hash.add(text);
    return hash.value();
  };
  // These are the values that the hash's authors publish.
  CHECK(of("") == 0xcbf29ce484222325ull);
  CHECK(of("a") == 0xaf63dc4c8601ec8cull);
  CHECK(of("foobar") == 0x85944171f73967e8ull);
  Hash number, bytes;
  number.add(std::uint64_t{0x0807060504030201});
  bytes.add(std::string_view("\1\2\3\4\5\6\7\10"));
  CHECK(number.value() == bytes.value());
  CHECK(hash_of_sizes({'f', 'o', 'o', 'b', 'a', 'r'}) == 0xbf9cf968u);
}

namespace {

struct Pair {
  std::int64_t a = 0;
  std::int32_t b = 0, c = 0;
  bool operator==(const Pair&) const = default;
};

}  // namespace

TEST_CASE("records become bytes and records again") {
  const std::vector<Pair> pairs{{1, 2, 3}, {-4, 5, 6}};
  CHECK(records_of<Pair>(bytes_of(pairs)) == pairs);
  CHECK(record_of<Pair>(bytes_of(pairs[1])) == pairs[1]);
  CHECK(records_of<Pair>({}).empty());
  const Bytes odd(sizeof(Pair) + 1);
  CHECK_THROWS_AS(static_cast<void>(records_of<Pair>(odd)), Error);
  CHECK_THROWS_AS(static_cast<void>(record_of<Pair>(odd)), Error);
}

TEST_CASE("values of several kinds come back in their order, and no more of them than there are") {
  ByteWriter out;
  out.put(std::int32_t{7});
  out.put(std::string("text"));
  out.put(std::vector<double>{1, 2});
  out.put(std::vector<std::string>{"a", ""});
  const std::vector<Pair> pairs{{1, 2, 3}};
  out.put_all(std::span(pairs));
  const Bytes bytes = out.take();
  ByteReader in(bytes);
  CHECK(in.get<std::int32_t>() == 7);
  std::string text;
  in.get(text);
  CHECK(text == "text");
  std::vector<double> numbers;
  in.get(numbers);
  CHECK(numbers == std::vector<double>{1, 2});
  std::vector<std::string> texts;
  in.get(texts);
  CHECK(texts == std::vector<std::string>{"a", ""});
  std::vector<Pair> back;
  in.get_all(back, 1);
  CHECK(back == pairs);
  CHECK(in.at_end());

  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ByteReader cut(BytesView(bytes).first(size), Code::file, "it is cut off");
    bool whole = true;
    try {
      static_cast<void>(cut.get<std::int32_t>());
      cut.get(text);
      cut.get(numbers);
      cut.get(texts);
      cut.get_all(back, 1);
    } catch (const Error& error) {
      whole = false;
      CHECK(error.code() == Code::file);
      CHECK(std::string(error.what()) == "it is cut off");
    }
    CHECK_FALSE(whole);
  }
  // A length that nobody has memory for.
  Bytes lie(16, std::byte{0x7f});
  ByteReader liar(lie);
  CHECK_THROWS_AS(liar.get(numbers), Error);
}

namespace {

struct Inner {
  std::string name;
  std::variant<std::int64_t, double, std::string> value;
  bool operator==(const Inner&) const = default;
};

struct Outer {
  std::int32_t number = 0;
  std::vector<Inner> list;
  std::vector<double> reals;
  bool operator==(const Outer&) const = default;
};

}  // namespace

template <>
inline constexpr std::size_t sidestream::field_count<Inner> = 2;
template <>
inline constexpr std::size_t sidestream::field_count<Outer> = 3;

TEST_CASE("structs are sent field by field, with what is in their fields") {
  const Outer sent{7, {{"a", std::int64_t{1}}, {"b", 0.5}, {"c", std::string("text")}}, {1, 2}};
  const Bytes bytes = packed_fields(sent);
  CHECK(unpacked_fields<Outer>(ByteReader(bytes)) == sent);
  CHECK_THROWS_AS(static_cast<void>(unpacked_fields<Outer>(ByteReader(BytesView(bytes).first(20)))), Error);
}
