#include "base/system_text.hpp"

#include <fmt/format.h>

#include <cstring>

// Other C libraries do not even have the macro that tells the version.
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

std::string system_text(int error_number) {
  const std::string text = untranslated(error_number);
  return text.empty() ? fmt::format("error {} of the system", error_number) : text;
}

}  // namespace sidestream
