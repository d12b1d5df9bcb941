// Implementation of option_fields.hpp.
#include <array>
#include <charconv>

#include "sidestream/extend/option_table.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

OptionDefault::OptionDefault(double number) {
  std::array<char, 32> digits{};
  text.assign(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

const Variable& variable_named(const Settings& settings, const std::string& option, const std::string& name,
                               const Metadata& metadata) {
  if (const Variable* variable = metadata.find_variable(name)) return *variable;
  settings.fail(option, fmt::format("there is no variable '{}'; declare it under `variables`", name));
}

void fail_unbound(const std::string& what) {
  fail(Code::internal, "a table of options is asked for {} which no option is bound to; add it", what);
}

}  // namespace sidestream
