#include "base/formula.hpp"

#include <muParser.h>

#include <algorithm>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

struct Formula::Parser {
  mu::Parser parser;
  std::vector<double> values;  ///< by name: the parser reads them
};

namespace {

/// A sentence about a parser error. muParser's own sentences speak of the variables in the text that it was given; the
/// user needs the position in the text that the user wrote, and the problem there.
std::string sentence_of(const mu::ParserError& error) {
  switch (error.GetCode()) {
    case mu::ecUNEXPECTED_EOF:
    case mu::ecEMPTY_EXPRESSION:
      return "which ends too early";
    case mu::ecMISSING_PARENS:
      return "in which a ')' is missing";
    case mu::ecUNEXPECTED_PARENS:
      return "in which a parenthesis is not expected here";
    case mu::ecUNEXPECTED_OPERATOR:
      return "in which an operator is not expected here";
    case mu::ecUNEXPECTED_VAL:
    case mu::ecUNEXPECTED_VAR:
    case mu::ecUNEXPECTED_FUN:
      return "in which an operator is missing here";
    case mu::ecTOO_MANY_PARAMS:
      return "in which a function has too many arguments";
    case mu::ecTOO_FEW_PARAMS:
      return "in which a function has too few arguments";
    case mu::ecUNEXPECTED_ARG_SEP:
    case mu::ecUNEXPECTED_ARG:
      return "in which a ',' is not expected here";
    case mu::ecUNEXPECTED_CONDITIONAL:
    case mu::ecMISSING_ELSE_CLAUSE:
    case mu::ecMISPLACED_COLON:
      return "in which '?' and ':' do not go together";
    default:
      return "which cannot be read here";
  }
}

}  // namespace

std::string why_no_formulas() { return {}; }

std::vector<std::string> formula_functions() {
  const mu::Parser parser;
  std::vector<std::string> names;
  for (const auto& [name, function] : parser.GetFunDef()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

Formula::Formula(const std::string& text, const std::vector<std::string>& names, const Constants& constants)
    : parser_(std::make_unique<Parser>()) {
  parser_->values.resize(names.size());
  try {
    for (std::size_t n = 0; n < names.size(); ++n) parser_->parser.DefineVar(names[n], &parser_->values[n]);
    for (const auto& [name, value] : constants) parser_->parser.DefineConst(name, value);
    parser_->parser.SetExpr(text);
    static_cast<void>(parser_->parser.Eval());  // the first one parses
    if (parser_->parser.GetNumResults() != 1) throw FormulaError("which has several parts", 0);
  } catch (const mu::ParserError& error) {
    const bool ends = error.GetCode() == mu::ecUNEXPECTED_EOF || error.GetCode() == mu::ecMISSING_PARENS;
    const int at = static_cast<int>(error.GetPos());
    const std::size_t position = ends || at < 0 ? text.size() : std::min(text.size(), static_cast<std::size_t>(at));
    throw FormulaError(sentence_of(error), position);
  }
}

Formula::Formula(Formula&& other) noexcept = default;
Formula& Formula::operator=(Formula&& other) noexcept = default;
Formula::~Formula() = default;

void Formula::evaluate(std::span<const double* const> values, std::int64_t count, double* out) {
  // Evaluates one at a time: muParser's call for many of them starts threads, for which a server has no cores.
  try {
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::size_t n = 0; n < values.size(); ++n) parser_->values[n] = values[n][i];
      out[i] = parser_->parser.Eval();
    }
  } catch (const mu::ParserError& error) {
    fail(Code::analysis, "the formula '{}' can not be evaluated: {}", parser_->parser.GetExpr(), error.GetMsg());
  }
}

}  // namespace sidestream
