// Parts of reading a configuration that opening a session and starting it share.
#pragma once

#include "config/expressions/expression.hpp"
#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"

namespace sidestream {

/// Throws Error(configuration) if the file has a key that is no section.
void check_sections(const Document& document);

/// The values under `parameters:`, plain numbers.
[[nodiscard]] Parameters read_parameters(const Document& document);

/// The value of a section of one option, as Settings with that option alone.
[[nodiscard]] Settings read_section(const Document& document, const std::string& name, const ReadContext& context);

/// Whether texts of the program's calls that are not UTF-8 are ISO 8859-1.
[[nodiscard]] bool reads_latin_1(const Document& document);

/// A name that the user chose for a mesh or a variable: it becomes part of file names and of paths in files.
void check_name(const std::string& name, const std::string& what, const Location& where);

}  // namespace sidestream
