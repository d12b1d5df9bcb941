#include "config/options/syntax_message.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace sidestream {

namespace {

// Beginnings of the messages of yaml-cpp 0.7 and what to say instead.
using Pair = std::pair<std::string_view, std::string_view>;
constexpr Pair sentences[] = {
    {"end of map flow not found", "found a '{' without its '}'; add the '}'"},
    {"end of map not found",
     "found a line that does not fit the map before it, expected 'name: value' with the same "
     "indentation; indent it like the entries around it"},
    {"end of sequence flow not found", "found a '[' without its ']', or a missing comma; add it"},
    {"end of sequence not found",
     "found a line that does not fit the list before it, expected '- ...' with the same "
     "indentation; indent it like the entries around it"},
    {"illegal map value",
     "found a ':' where no value can start, expected one 'name: value' a line; check the "
     "indentation of this line and the one before, or put a text that contains ':' in quotes"},
    {"illegal block entry", "found a '-' where no list entry can start; put it on a line of its own"},
    {"illegal map key", "found a '?' where no key can start; put the text in quotes"},
    {"illegal flow end", "found a ']' or '}' without its beginning; remove it or add the '[' or '{'"},
    {"illegal EOF in scalar", "found a quote that is never closed; close it"},
    {"illegal document indicator in scalar", "found '---' or '...' inside quotes; close the quote before it"},
    {"unknown token",
     "found a character that cannot start a value (such as @ ` %), expected a value; put it in quotes"},
    {"unknown escape character", "found an unknown escape after '\\' in double quotes; use single quotes or '\\\\'"},
    {"the referenced anchor is not defined",
     "found a reference (*name) to a value that no '&name' before it defines; "
     "define it first, or put a text that begins with '*' in quotes"},
    {"alias not found after *", "found a '*' without a name; put a text that begins with '*' in quotes"},
    {"anchor not found after &", "found an '&' without a name; put a text that begins with '&' in quotes"},
    {"illegal character found while scanning alias", "found a '*' at the start of a text; put it in quotes"},
    {"illegal character found while scanning anchor", "found an '&' at the start of a text; put it in quotes"},
    {"unexpected character in block scalar", "found text after '|' or '>'; begin the text on the next line"},
    {"cannot assign multiple", "found two tags or anchors on one value; keep one"},
    {"bad file", "found lists or maps nested too deeply, expected a few levels; close their brackets"},
    {"repeated YAML directive", "found a second %YAML line; remove it"},
};

}  // namespace

std::string syntax_message(const std::string& yaml_message) {
  for (const auto& [from, to] : sentences) {
    if (yaml_message.rfind(from, 0) == 0) return std::string(to);
  }
  return fmt::format("found text that is not YAML ({}), expected 'name: value' lines; correct it", yaml_message);
}

}  // namespace sidestream
