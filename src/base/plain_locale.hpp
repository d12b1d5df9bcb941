// The C locale, for libraries that read numbers by the program's.
#pragma once

#include <locale.h>

namespace sidestream {

/// The C locale in this thread for the lifetime of the object; then the one that it had.
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

}  // namespace sidestream
