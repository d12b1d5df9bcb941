#include "session/made/result_catcher.hpp"

#include <algorithm>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

bool ResultCatcher::is_named(const std::string& file) const {
  return std::find(named_.begin(), named_.end(), file) != named_.end();
}

template <class Result>
void ResultCatcher::take(std::optional<Result>& mine, const Result& result, bool here) {
  if (!here) return;
  if (mine) {
    fail(Code::analysis,
         "it makes a mesh of its result, and gives two results of one form; expected one, so that it is clear which "
         "becomes the mesh");
  }
  mine = result;
}

void ResultCatcher::add(const std::string& file, const Table& whole) {
  if (is_named(file)) files_.add(file, whole);
  take(table, whole, first_);
}
void ResultCatcher::add(const std::string& file, const Image& image) {
  if (is_named(file)) files_.add(file, image);
}
void ResultCatcher::add(const std::string& file, const Surface& whole) {
  if (is_named(file)) files_.add(file, whole);
  take(surface, whole, first_);
}
void ResultCatcher::add(const std::string& file, const CellSet& whole) {
  if (is_named(file)) files_.add(file, whole);
  take(cells, whole, first_);
}
void ResultCatcher::add(const std::string& file, const DataSet& whole) {
  if (is_named(file)) files_.add(file, whole);
  if (first_) arrays.insert(arrays.end(), whole.arrays.begin(), whole.arrays.end());
}

void ResultCatcher::keep_state(const std::string& name, BytesView mine, Communicator& servers, int most) {
  if (auto* const kept = dynamic_cast<KeptStates*>(&files_)) kept->keep_state(name, mine, servers, most);
}
std::vector<Bytes> ResultCatcher::earlier_state(const std::string& name, Communicator& servers) {
  auto* const kept = dynamic_cast<KeptStates*>(&files_);
  return kept ? kept->earlier_state(name, servers) : std::vector<Bytes>();
}

void ResultCatcher::add_parts(const std::string& file, const Table& mine, Communicator& servers, Pieces how) {
  if (is_named(file)) files_.add_parts(file, mine, servers, how);
  take(table, mine, true);
}
void ResultCatcher::add_parts(const std::string& file, const Surface& mine, Communicator& servers, Pieces how) {
  if (is_named(file)) files_.add_parts(file, mine, servers, how);
  take(surface, mine, true);
}
void ResultCatcher::add_parts(const std::string& file, const CellSet& mine, Communicator& servers, Pieces how) {
  if (is_named(file)) files_.add_parts(file, mine, servers, how);
  take(cells, mine, true);
}
void ResultCatcher::add_parts(const std::string& file, const DataSet& mine, Communicator& servers, Pieces how) {
  if (is_named(file)) files_.add_parts(file, mine, servers, how);
  arrays.insert(arrays.end(), mine.arrays.begin(), mine.arrays.end());
}

}  // namespace sidestream
