// A run that is coupled through Catalyst: what `initialize`, `execute`, `finalize` and `results` do.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <sidestream/sidestream.hpp>
#include <string>
#include <utility>
#include <vector>

#include "agreement.hpp"
#include "conduit.hpp"
#include "piece.hpp"
#include "ranks.hpp"

namespace sidestream::catalyst {

/// The state of a coupled run. The session opens in the first `execute` with a mesh, since nobody knows the meshes
/// before.
///
/// `execute` is collective up to that one; later ones communicate only with `placement: inline`. Meshes and fields that
/// no task needs are not copied. What is left out is said on standard error, each sentence once.
class Coupling {
 public:
  /// `parameters` is the node of `initialize`. Not collective.
  explicit Coupling(const Node& parameters);
  ~Coupling();
  Coupling(const Coupling&) = delete;
  Coupling& operator=(const Coupling&) = delete;

  /// Publishes the channels of one iteration. Nothing refers to the host's arrays afterwards. False, once and on all
  /// ranks, if the session cannot start; later calls then do nothing. Throws Error if an analysis failed and `on_error:
  /// stop`.
  [[nodiscard]] bool execute(const Node& parameters);
  /// Closes the session. Collective.
  void finalize();
  /// Writes the steered parameters into a node of `results`.
  void report(const Node& results) const;

 private:
  /// Reads cycle and time; false if they are missing or wrong.
  [[nodiscard]] bool read_state(const Node& catalyst);
  [[nodiscard]] std::vector<MeshPiece> read_channels(const Node& catalyst);
  [[nodiscard]] std::vector<MeshPiece> read_channel(const std::string& name, const Node& channel, Problems& problems);
  /// True if a task may read the variable, or anything on the mesh, in this iteration. After the start.
  [[nodiscard]] bool needs(const std::string& variable);
  [[nodiscard]] bool needs(const AgreedMesh& mesh);
  [[nodiscard]] const AgreedMesh* find(const std::string& mesh) const;
  /// False if no rank has a mesh yet.
  [[nodiscard]] bool start(const std::vector<MeshPiece>& pieces);
  void declare(const AgreedMesh& mesh);
  void declare_lists(const AgreedMesh& mesh);
  void publish(const std::vector<MeshPiece>& pieces);
  void publish_mesh(const AgreedMesh& mesh, const std::vector<const MeshPiece*>& pieces);
  void publish_piece(const AgreedMesh& mesh, const MeshPiece& piece, const Block& block);
  void publish_lists(const AgreedMesh& mesh, const MeshPiece& piece, std::int64_t block);
  void publish_field(const AgreedField& field, const MeshPiece& piece, const FieldPiece& values, const Block& block);
  [[nodiscard]] std::int64_t block_of(const MeshPiece& piece) const;
  void say(const Problems& problems) { sentences_.say(problems); }

  std::string configuration_;
  std::unique_ptr<Ranks> ranks_;
  std::optional<Session> session_;
  std::vector<AgreedMesh> meshes_;
  std::int64_t cycle_ = 0;
  double time_ = 0;
  interop::Sentences sentences_;
  bool failed_ = false;
};

}  // namespace sidestream::catalyst
