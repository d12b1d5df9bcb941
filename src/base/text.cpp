#include <fmt/format.h>
#include <algorithm>
#include <cstring>

#include "sidestream/kit/base/text.hpp"

namespace sidestream {

namespace {

/// Length of the well-formed sequence at the front of `text`; 0 if there is none.
std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t n) { return static_cast<unsigned char>(text[n]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return 0;
  for (std::size_t n = 1; n < length; ++n) {
    if ((byte(n) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and values past U+10FFFF show in the second byte.
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) > 0x9f)) return 0;
  if ((lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) > 0x8f)) return 0;
  return length;
}

}  // namespace

std::optional<std::size_t> first_invalid_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::size_t count_code_points(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string utf8_of_latin_1(std::string_view text) {
  std::string made;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) made += static_cast<char>(0xc0 | byte >> 6);
    made += static_cast<char>(byte < 0x80 ? byte : 0x80 | (byte & 0x3f));
  }
  return made;
}

std::string escaped_utf8(std::string_view text) {
  std::string made;
  while (const auto bad = first_invalid_utf8(text)) {
    made += text.substr(0, *bad);
    made += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(text[*bad])));
    text.remove_prefix(*bad + 1);
  }
  return made += text;
}

}  // namespace sidestream

// Other C libraries do not even have the macro that gives the version.
#ifdef __GLIBC_PREREQ
#define SIDESTREAM_HAS_DESCRIPTIONS __GLIBC_PREREQ(2, 32)
#else
#define SIDESTREAM_HAS_DESCRIPTIONS 0
#endif

#if !SIDESTREAM_HAS_DESCRIPTIONS
#include <locale.h>

#include <memory>
#include <type_traits>
#endif

namespace sidestream {

namespace {

#if SIDESTREAM_HAS_DESCRIPTIONS

std::string untranslated(int error_number) {
  const char* const text = ::strerrordesc_np(error_number);
  return text ? text : "";
}

#else

std::string untranslated(int error_number) {
  const std::unique_ptr<std::remove_pointer_t<locale_t>, void (*)(locale_t)> plain(
      ::newlocale(LC_ALL_MASK, "C", static_cast<locale_t>(nullptr)), ::freelocale);
  const char* const text = plain ? ::strerror_l(error_number, plain.get()) : nullptr;
  return text ? text : "";
}

#endif

}  // namespace

std::string line_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(key) || !line.substr(key.size()).starts_with(": ")) continue;
    return std::string(line.substr(key.size() + 2));
  }
  return {};
}

std::string system_text(int error_number) {
  const std::string text = untranslated(error_number);
  return text.empty() ? fmt::format("error {} of the system", error_number) : text;
}

}  // namespace sidestream
