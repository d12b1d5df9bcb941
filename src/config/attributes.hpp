// Free attributes of meshes and variables: what users want to find in files besides what Sidestream knows.
#pragma once

#include <string>
#include <vector>

#include "sidestream/data/variable.hpp"
#include "sidestream/extend/option_table.hpp"

namespace sidestream {

/// An attribute of that text: a whole or real number if all of the text is one.
[[nodiscard]] Attribute attribute_of(const std::string& name, const std::string& text);

/// The reason why no attribute may have the name, and what to do; empty if it may. Files have names of their own.
[[nodiscard]] std::string wrong_attribute(const std::string& name);

/// The entries of the option `attributes`, by name. Throws Error(configuration).
[[nodiscard]] std::vector<Attribute> read_attributes(const Settings& settings);

/// The option `attributes`.
[[nodiscard]] Option attributes_option(const char* text);

/// Adds attributes to others, and replaces attributes of the same name.
void set_attributes(std::vector<Attribute>& all, const std::vector<Attribute>& more);

}  // namespace sidestream
