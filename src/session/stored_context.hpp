// The object behind a StoredContext.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sidestream/reader.hpp"
#include "storage/database/shared_opening.hpp"
#include "storage/database/stored_values.hpp"

namespace sidestream {

struct StoredContext::Implementation {
  Implementation(std::unique_ptr<database::Context> context, std::string place)
      : values(std::move(context), "context"), directory(std::move(place)) {}

  /// Runs `read`; an error says so if a run has removed the context meanwhile.
  template <class Read>
  auto reading(Read&& read) {
    return database::of_context(directory, values.context().entry(), std::forward<Read>(read));
  }
  /// The visible blocks of a mesh.
  [[nodiscard]] const std::vector<database::PlacedBlock>& blocks(const Mesh& mesh);
  /// One of them. Throws Error(usage).
  [[nodiscard]] const database::PlacedBlock& block(const Mesh& mesh, std::int64_t number);

  database::StoredValues values;
  std::string directory;
  std::map<std::int32_t, std::vector<database::PlacedBlock>> found{};  ///< of meshes that were asked for, by id
};

}  // namespace sidestream
