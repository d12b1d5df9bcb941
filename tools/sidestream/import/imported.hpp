// A database that is made of files, part by part.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "import/import.hpp"
#include "sidestream/extend/communicator.hpp"
#include "storage/codecs/packing.hpp"
#include "storage/database/stored_trees.hpp"
#include "storage/database/storing.hpp"

namespace sidestream::importing {

/// What is put into the database, and how. Meshes and variables are declared first; then come parts.
class Imported {
 public:
  Imported(const ImportOptions& options, std::string provenance);

  /// Ids count from 0. A variable with a role becomes an array of its mesh.
  std::int32_t add(Mesh mesh);
  std::int32_t add(Variable variable, VariableRelations relations = {});
  /// Of a mesh whose levels have times of their own, from level 0 on.
  void set_level_times(std::int32_t mesh, std::vector<double> times) { schema_.level_times[mesh] = std::move(times); }
  [[nodiscard]] const Metadata& metadata() const noexcept { return schema_.metadata; }

  /// What a part has: values stay until the part is written.
  class Part {
   public:
    Part(Imported& imported, database::Domain& domain) : imported_(imported), domain_(domain) {}
    /// All of a variable on a block, gapless. Returns the bytes that it takes in the database.
    std::uint64_t add(std::int32_t variable, const Block& block, Bytes values);
    /// All of a block of an octree: values by variable, flags among them. What it takes in the database.
    struct StoredBlock {
      Index cells = 0;
      std::map<std::int32_t, std::uint64_t> bytes;  ///< by variable
    };
    StoredBlock add_tree(const Block& block, std::vector<std::pair<std::int32_t, Bytes>> values);

   private:
    Imported& imported_;
    database::Domain& domain_;
  };

  /// Collective: one context of `parts` parts, which processes take in turn: `fill` is called for those of this
  /// process. Says on a terminal how far it is ("domain 3 of 8"), and ends with an error where `stop` is true.
  void store(Communicator& all, int parts, const char* unit, const std::function<void(int part, Part& to)>& fill,
             const Iteration& iteration, const std::function<bool()>& stop);

 private:
  [[nodiscard]] bool goes_as_tree(const Variable& variable) const;
  /// Of all points of a block, gapless. Both stay until the part is written.
  [[nodiscard]] const BlockView& keep(std::int32_t variable, const Block& block, Bytes values);
  void give_up();

  ImportOptions options_;
  CodecKinds kinds_;
  database::Schema schema_;
  std::vector<Packing> packings_;
  WorkerPool pool_{1};
  database::Encoding encoding_;
  std::vector<std::unique_ptr<BlockView>> views_;  ///< of the part that is written
  std::vector<Bytes> values_;
  database::StoredTrees trees_;  ///< of the part
};

/// Each import: returns what it says on standard output; collective, the text counts on process 0. `stop`: whether it
/// is asked to end.
[[nodiscard]] std::string import_ramses(Communicator& all, const ImportOptions& options,
                                        const std::function<bool()>& stop);
[[nodiscard]] std::string import_amrex(Communicator& all, const ImportOptions& options,
                                       const std::function<bool()>& stop);

}  // namespace sidestream::importing
