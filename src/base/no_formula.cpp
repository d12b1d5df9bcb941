// Replaces formula.cpp where there is no muParser.
#include "base/formula.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

struct Formula::Parser {};

std::string why_no_formulas() {
  return "this build of Sidestream can not compute derived variables: it was made without muParser (Debian: "
         "libmuparser-dev)";
}

std::vector<std::string> formula_functions() { return {}; }

Formula::Formula(const std::string&, const std::vector<std::string>&, const Constants&) {
  fail(Code::configuration, "{}", why_no_formulas());
}
Formula::Formula(Formula&&) noexcept = default;
Formula& Formula::operator=(Formula&&) noexcept = default;
Formula::~Formula() = default;
void Formula::evaluate(std::span<const double* const>, std::int64_t, double*) {}

}  // namespace sidestream
