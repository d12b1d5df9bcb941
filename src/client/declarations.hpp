// What a program declares before the session starts.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Blocks and allocated boxes are this client's own; all else is the same on every client. Names of meshes are resolved
/// when the session starts, because the file may declare them.
struct Declarations {
  Parameters parameters;
  Metadata metadata;

  struct BlockDeclaration {
    std::string mesh;
    std::int64_t id;
    Box cells;
    bool removed;
  };
  struct AllocatedDeclaration {
    std::string variable;
    std::int64_t id;
    Box box;
  };
  struct AttributeDeclaration {
    std::string variable, attribute, value;
  };
  std::vector<BlockDeclaration> blocks;
  std::vector<AllocatedDeclaration> allocated;
  std::vector<AttributeDeclaration> attributes;

  void set(const std::string& name, std::variant<std::int64_t, double> value);
  void add_mesh(Mesh mesh);
  void add_variable(const std::string& mesh, Variable variable);
  /// Applies `attributes` to the final metadata. Throws Error(usage).
  void apply_attributes(Metadata& final) const;

  /// The part that is the same on every client, as bytes; and back.
  [[nodiscard]] Bytes encode() const;
  static Declarations decode(BytesView bytes);
};

}  // namespace sidestream
