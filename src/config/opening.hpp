// Parts of reading a configuration, shared by opening and starting a session.
#pragma once

#include "config/expressions/expression.hpp"
#include "config/options/document.hpp"
#include "config/options/read_settings.hpp"

namespace sidestream {

/// Throws Error(configuration) if the file has an unknown section.
void check_sections(const Document& document);

/// The values under `parameters:`, which are plain numbers.
[[nodiscard]] Parameters read_parameters(const Document& document);

/// Reads a section of one option: the content of a map, or Settings with only that option.
[[nodiscard]] Settings read_section(const Document& document, const std::string& name, const ReadContext& context);

/// True if texts of the program's calls that are not UTF-8 are ISO 8859-1.
[[nodiscard]] bool reads_latin_1(const Document& document);

/// Checks a user's name for a mesh or a variable, which becomes part of file names and of paths in files.
void check_name(const std::string& name, const std::string& what, const Location& where);

/// The file's meshes, then those of `declared` that the file lacks; likewise for variables. Ids count from 0. Both
/// declarations of a name must agree. Throws Error(configuration).
[[nodiscard]] Metadata read_declarations(const Document& document, const ExpressionContext& expressions,
                                         const Metadata& declared);

}  // namespace sidestream
