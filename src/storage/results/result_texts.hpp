// Texts in results: what analyses, plug-ins and functions of the program have named.
#pragma once

#include <string>

#include "sidestream/data/result.hpp"

namespace sidestream {

// Each throws Error(analysis) if a name, a unit or a text of a result for `file` is not UTF-8: files with it could not
// be read.
void check_texts(const std::string& file, const Table& table);
void check_texts(const std::string& file, const DataSet& data);
void check_texts(const std::string& file, const std::vector<Surface::Array>& arrays);

}  // namespace sidestream
