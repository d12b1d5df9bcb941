#include "storage/files/json.hpp"

#include <fmt/format.h>
#include <locale.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/float_environment.hpp"
#include "sidestream/kit/base/text.hpp"

namespace sidestream {

namespace {

/// Sets the C locale, in which the library reads numbers, for this thread during the object's lifetime; then restores
/// the previous one.
class PlainLocale {
 public:
  PlainLocale() noexcept : plain_(::newlocale(LC_ALL_MASK, "C", locale_t{})), before_(::uselocale(plain_)) {}
  ~PlainLocale() {
    ::uselocale(before_);
    if (plain_ != locale_t{}) ::freelocale(plain_);
  }
  PlainLocale(const PlainLocale&) = delete;
  PlainLocale& operator=(const PlainLocale&) = delete;

 private:
  locale_t plain_, before_;
};

constexpr int most_depth = 16;
constexpr std::size_t longest_sentence = 300;  // the library quotes the text that it read last

/// The library's message without the leading name of the exception.
std::string sentence_of(const nlohmann::json::exception& error) {
  const std::string_view whole = error.what();
  const std::size_t name = whole.find("] ");
  return escaped_utf8(whole.substr(name == whole.npos ? 0 : name + 2, longest_sentence));
}

/// Checks the depth, and that there is no zero byte, which would end the text for the library. A callback of the
/// library's parser could check it too, but takes quadratic time in the length of a list.
void check_shape(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t n = 0; n < text.size(); ++n) {
    const char c = text[n];
    if (c == '\0') fail(Code::file, "no JSON: byte {} is zero", n);
    if (quoted && c == '\\') ++n;
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > most_depth) fail(Code::file, "no JSON: lists and objects are nested more than {} deep", most_depth);
  }
}

void empty(nlohmann::json& value) noexcept {
  if (!value.is_structured()) return;
  for (nlohmann::json& item : value) empty(item);
  value.clear();
}

}  // namespace

void DeleteJson::operator()(nlohmann::json* value) const noexcept {
  empty(*value);
  delete value;
}

JsonDocument parse_json(std::string_view text) {
  using nlohmann::json;
  check_shape(text);
  const PlainLocale locale;
  const FloatEnvironment environment;
  JsonDocument document(new json);
  try {
    *document = json::parse(text.begin(), text.end());
  } catch (const json::exception& error) {
    fail(Code::file, "no JSON: {}", sentence_of(error));
  }
  return document;
}

void JsonObject::put_real(double value) { text_ += std::isfinite(value) ? fmt::format("{}", value) : "null"; }

}  // namespace sidestream
