#include "base/expressions/parse.hpp"
#include "data/relation_text.hpp"
#include "targets.hpp"

namespace sidestream::fuzz {

void run_expressions(BytesView input) {
  const std::string text(reinterpret_cast<const char*>(input.data()), input.size());
  try {
    static_cast<void>(parse_expression(text, {.of_names = {"max", "cic"}, .negation = true}));
  } catch (const SyntaxError&) {
    // refused
  }
  try {
    static_cast<void>(parse_products(text));
  } catch (const Error& error) {
    if (error.code() != Code::configuration) throw;
  }
}

}  // namespace sidestream::fuzz
