// The simulation's side: publishes the content of files.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "analyse/demand.hpp"
#include "analyse/merging.hpp"
#include "analyse/sources.hpp"
#include "base/mpi/communicator.hpp"
#include "sidestream/sidestream.hpp"

namespace sidestream::analysing {

/// Statistics of this client.
struct Analysed {
  std::int64_t iterations = 0;
  std::uint64_t bytes = 0;  ///< bytes read
};

/// One of the clients. `selective`: blocks that no analysis needs are not read; otherwise all blocks of needed
/// variables are.
class Client {
 public:
  Client(Session& session, MpiCommunicator& clients, const Sources& sources, Demand& demand, bool selective)
      : session_(session), clients_(clients), sources_(sources), demand_(demand), selective_(selective) {}

  /// Declares the meshes and the needed variables.
  void declare(const Metadata& files);
  /// Collective over the clients: reads and publishes an iteration. For a file that cannot be read, throws the same
  /// Error(file) on all.
  void iterate(std::size_t number);
  [[nodiscard]] const Analysed& analysed() const noexcept { return analysed_; }

 private:
  struct Mapping {
    std::vector<std::int32_t> meshes, variables;  ///< ids in `demand` by ids in the snapshot; -1: not needed
  };
  [[nodiscard]] Mapping mapping_of(const Metadata& metadata) const;
  [[nodiscard]] std::vector<std::uint64_t> bytes_of_all(const std::vector<Piece>& pieces) const;
  void set_blocks(const std::vector<Piece>& pieces, const std::vector<int>& owner);
  void publish(Snapshot& snapshot, std::int32_t stored, const Variable& variable, const Piece& piece);
  void publish_all(std::size_t number);
  void warn_of_missing_points(std::size_t number, const std::map<std::int32_t, std::int64_t>& missing);

  Session& session_;
  MpiCommunicator& clients_;
  const Sources& sources_;
  Demand& demand_;
  bool selective_;
  std::set<std::int32_t> with_blocks_;            ///< meshes whose blocks this client has declared to the session
  std::map<std::int32_t, std::int64_t> missing_;  ///< number of blocks without values in the iteration, by variable
  Bytes values_;
  Analysed analysed_;
};

}  // namespace sidestream::analysing
