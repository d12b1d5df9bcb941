// The iterations of a database in sequence.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/mpi/communicator.hpp"
#include "storage/database/context.hpp"
#include "storage/database/layout.hpp"

namespace sidestream {

class StoredIterations {
 public:
  /// Collective. Throws the same Error(file) on all if there is none, or one has other meshes or variables than the
  /// first.
  StoredIterations(Communicator& clients, const std::string& directory);

  [[nodiscard]] std::size_t count() const noexcept { return entries_.size(); }
  /// Metadata of the first context, with the declared relations between its variables.
  [[nodiscard]] const Metadata& metadata() const noexcept { return metadata_; }
  /// Cycle and time of iteration `n`. After the last context, it continues with the first one at later times.
  [[nodiscard]] Iteration at(std::size_t n) const;
  /// Not collective; throws Error(file). Valid until the next call.
  [[nodiscard]] database::Context& open(std::size_t number);

 private:
  std::string directory_;
  std::vector<database::Entry> entries_;
  Metadata metadata_;
  std::unique_ptr<database::Context> context_;
  std::size_t number_ = 0;
};

}  // namespace sidestream
