// The part of a stored iteration that a client publishes: its share of each mesh.
#pragma once

#include <string>
#include <vector>

#include "resolution.hpp"
#include "sidestream/sidestream.hpp"
#include "storage/database/context.hpp"

namespace sidestream {

/// A share of the clients.
struct Share {
  int number = 0, of = 1;
};

/// Reads values of one client and publishes them. Boxes on one level are divided anew among the clients. Levels and
/// lists keep their blocks, which are distributed evenly.
class Replayer {
 public:
  /// `as_stored`: boxes keep their blocks, too.
  Replayer(const Metadata& metadata, const Resolution& resolution, bool as_stored, Share share);

  /// Declares all meshes and variables. Throws Error(usage) if that is impossible.
  void declare(Session& session) const;
  /// Reads the values that this client will publish, and declares its blocks from now on.
  void read(database::Context& context, Session& session);
  void publish(Session& session) const;
  [[nodiscard]] std::uint64_t bytes() const noexcept;

 private:
  struct Piece {
    std::string variable;
    std::int64_t block = 0;
    Type type = Type::float64;
    Bytes values;
  };
  [[nodiscard]] bool is_divided(const Mesh& mesh) const;
  void divide(database::Context& context, Session& session, const Mesh& mesh);
  void take_blocks(database::Context& context, Session& session, const Mesh& mesh);
  void read_share(database::Context& context, const Variable& variable, const Box& cells, const Resampling& how);

  const Metadata& metadata_;
  Resolution resolution_;
  bool as_stored_;
  Share share_;
  std::vector<Piece> pieces_;
};

/// Part `share` of a box of cells, cut along all axes; empty if there are too few cells.
[[nodiscard]] Box part_of(const Index3& size, Share share);

}  // namespace sidestream
