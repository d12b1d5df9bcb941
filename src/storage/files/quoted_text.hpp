// Text as others read it back: JSON, YAML.
#pragma once

#include <string>
#include <string_view>

namespace sidestream {

/// In double quotes, as JSON and YAML read it. Control characters are escaped; UTF-8 stays as it is.
[[nodiscard]] std::string quoted_text(std::string_view text);

/// The rest of a YAML entry behind `key: `, in lines of their own that people can read: a literal block whose lines
/// stand `indent` columns further in than the key, whatever they begin with. Ends with a line end. The block is the
/// text with one line end at its end; control characters, which YAML has no place for there, are left out.
[[nodiscard]] std::string literal_text(std::string_view text, int key_column, int indent);

}  // namespace sidestream
