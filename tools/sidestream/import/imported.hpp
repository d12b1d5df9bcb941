// A database made from files, part by part.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "sidestream/extend/communicator.hpp"
#include "storage/codecs/packing.hpp"
#include "storage/database/stored_trees.hpp"
#include "storage/database/storing.hpp"

namespace sidestream::importing {

/// The content of the database. Meshes and variables are declared first, then parts are added.
class Imported {
 public:
  Imported(const ImportOptions& options, std::string provenance);

  /// Ids count from 0. A variable with a role becomes an array of its mesh.
  std::int32_t add(Mesh mesh);
  std::int32_t add(Variable variable, VariableRelations relations = {});
  /// Sets the times of a mesh's levels, from level 0 on.
  void set_level_times(std::int32_t mesh, std::vector<double> times) { schema_.level_times[mesh] = std::move(times); }
  [[nodiscard]] const Metadata& metadata() const noexcept { return schema_.metadata; }

  /// The content of a part; values stay in memory until the part is written.
  class Part {
   public:
    Part(Imported& imported, database::Domain& domain) : imported_(imported), domain_(domain) {}
    /// Adds all values of a variable on a block, contiguous. Returns their size in the database in bytes.
    std::uint64_t add(std::int32_t variable, const Block& block, Bytes values);
    /// Result for a block of an octree: number of stored cells and size in the database.
    struct StoredBlock {
      Index cells = 0;
      std::map<std::int32_t, std::uint64_t> bytes;  ///< by variable
    };
    StoredBlock add_tree(const Block& block, std::vector<std::pair<std::int32_t, Bytes>> values);

   private:
    Imported& imported_;
    database::Domain& domain_;
  };

  /// Collective: writes one context of `parts` parts, which processes take in turn; `fill` is called for those of this
  /// process. Shows progress on a terminal ("domain 3 of 8"). Ends with an error if `stop` is true.
  void store(Communicator& all, int parts, const char* unit, const std::function<void(int part, Part& to)>& fill,
             const Iteration& iteration, const std::function<bool()>& stop);

 private:
  [[nodiscard]] bool goes_as_tree(const Variable& variable);
  [[nodiscard]] bool has_tree_codec(bool by_name);
  /// Keeps the values of all points of a block, contiguous. View and values stay until the part is written.
  [[nodiscard]] const BlockView& keep(std::int32_t variable, const Block& block, Bytes values);
  void give_up();

  ImportOptions options_;
  CodecKinds kinds_;
  database::Schema schema_;
  std::vector<Packing> packings_;
  WorkerPool pool_{1};
  database::Encoding encoding_;
  std::vector<std::unique_ptr<BlockView>> views_;  ///< of the current part
  std::vector<Bytes> values_;
  database::StoredTrees trees_;  ///< of the current part
};

/// Collective. Each import returns its message for standard output; the message of process 0 counts. `stop`: true if it
/// is asked to end.
[[nodiscard]] std::string import_ramses(Communicator& all, const ImportOptions& options,
                                        const std::function<bool()>& stop);
[[nodiscard]] std::string import_amrex(Communicator& all, const ImportOptions& options,
                                       const std::function<bool()>& stop);

}  // namespace sidestream::importing
