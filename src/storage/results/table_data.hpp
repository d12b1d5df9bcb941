// Tables as data sets, for formats that have those.
#pragma once

#include <string>

#include "sidestream/extend/results.hpp"

namespace sidestream {

/// An array of one axis, `row`, for each column, with the rows of `mine` at `first` of `all`. Throws
/// Error(configuration) for columns of texts, naming the file.
[[nodiscard]] DataSet data_set_of(const std::string& file, const Table& mine, Index first, Index all);

/// Collective: gives the rows of all servers away as one data set.
void add_as_data(Results& results, const std::string& file, const Table& mine, Communicator& servers, Pieces how);

}  // namespace sidestream
