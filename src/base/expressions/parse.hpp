// The parser of all expressions: one grammar, from the text to the syntax tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/expressions/tokens.hpp"

namespace sidestream {

enum class Operator {
  either,  ///< `or`, `||`
  both,    ///< `and`, `&&`
  negation,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  unequal,
  add,
  subtract,
  multiply,
  divide,
  power,
  minus,  ///< a sign before an operand
  plus
};

/// The operator as it is written: "<=", "and" ...
[[nodiscard]] std::string_view name_of(Operator sign) noexcept;

/// A node of the syntax tree.
struct SyntaxNode {
  enum class Kind {
    number,       ///< `text`: its digits
    parameter,    ///< `text`: its name
    name,         ///< `text`: a variable or anything else that has a name
    component,    ///< number `index` of the child
    unary,        ///< `sign` before the child
    binary,       ///< `sign` between two children
    conditional,  ///< condition, value if it holds, value if not
    call          ///< `text` of the children
  };
  Kind kind = Kind::number;
  Operator sign = Operator::add;
  std::size_t begin = 0, end = 0;  ///< its characters in the text, with parentheses around it
  std::size_t at = 0;              ///< position of its operator, or of the text after its name
  std::string_view text{};         ///< part of the text that was parsed
  std::int32_t index = 0;
  bool quoted = false;   ///< true for a name in quotes
  bool subject = false;  ///< true for the name that a function in SyntaxRules::of_names has, and for its component
  std::vector<std::size_t> children{};
};

/// Nodes in postorder: children come before their parents, in the order of the text, and the root is last. Users loop
/// over them, so that long sums need no deep recursion.
using SyntaxTree = std::vector<SyntaxNode>;

struct SyntaxRules {
  std::vector<std::string_view> of_names{};  ///< functions whose first argument is a name, whatever it looks like
  bool negation = false;                     ///< `not` is an operator; otherwise it is a name
  int deepest = 200;  ///< nested parentheses, calls and signs: bounds the recursion of the parser
  std::size_t longest = std::size_t{1} << 20;
};

/// Parses an expression. The grammar has these lines, from the lowest precedence to the highest; operators are
/// left-associative, except `^`:
///     a ? b : c
///     a or b       a || b
///     a and b      a && b
///     not a
///     a < b        <= > >= == !=
///     a + b        a - b
///     a * b        a / b
///     -a           +a
///     a ^ b        right-associative; the exponent may have a sign
///     a.x          .y .z [0] [1] ... behind names, calls and parentheses
///     1.5e3        $parameter   name   'name'   "name"   function(a, b)   (a)
/// The text must outlive the tree. Throws SyntaxError.
[[nodiscard]] SyntaxTree parse_expression(std::string_view text, const SyntaxRules& rules);

}  // namespace sidestream
