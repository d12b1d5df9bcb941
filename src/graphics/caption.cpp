#include "graphics/caption.hpp"

#include <fmt/format.h>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream::rendering {
namespace {

/// Refuses widths and precisions of more than two digits, and fields as widths. A width of a billion would make a text
/// of a billion characters, and a width that is a field (`{time:{cycle}}`) is known only during the run. Unpaired
/// braces are left to the formatting, which refuses them.
void check_caption_fields(const std::string& pattern) {
  constexpr std::size_t most_digits = 2;
  bool inside = false;
  std::size_t digits = 0;
  for (std::size_t n = 0; n < pattern.size(); ++n) {
    const char c = pattern[n];
    const bool doubled = n + 1 < pattern.size() && pattern[n + 1] == c;
    if (!inside && (c == '{' || c == '}') && doubled) {
      ++n;
      continue;
    }
    if (inside && c == '{') {
      fail(Code::configuration,
           "found the caption '{}' with a field inside a field, expected a number there; write one as in {{time:8.3f}}",
           pattern);
    }
    if (c == '{' || c == '}') inside = c == '{';
    digits = inside && c >= '0' && c <= '9' ? digits + 1 : 0;
    if (digits > most_digits) {
      fail(Code::configuration,
           "found the caption '{}' with a width or precision of more than {} digits, expected at most 99; shorten it",
           pattern, most_digits);
    }
  }
}

}  // namespace

std::string expand_caption(const std::string& pattern, const std::string& label, const Iteration& iteration) {
  check_caption_fields(pattern);
  try {
    return fmt::format(fmt::runtime(pattern), fmt::arg("label", label), fmt::arg("index", iteration.index),
                       fmt::arg("cycle", iteration.cycle), fmt::arg("time", iteration.time));
  } catch (const fmt::format_error& error) {
    fail(Code::configuration,
         "found the caption '{}' with a field that cannot be filled in ({}); expected {{label}}, {{time}}, "
         "{{cycle}} or "
         "{{index}}, perhaps with a format as in {{time:.3f}}; write '{{{{' for a brace",
         pattern, error.what());
  }
}

}  // namespace sidestream::rendering
