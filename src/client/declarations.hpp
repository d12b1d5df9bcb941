// Declarations that a program makes before the session starts.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "client/block_axes.hpp"
#include "client/spectral_blocks.hpp"
#include "config/config.hpp"
#include "sidestream/data/block.hpp"
#include "sidestream/data/metadata.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Declarations of one client. Blocks and allocated boxes are its own; all else must be the same on every client. Names
/// of meshes are resolved when the session starts, because the configuration file may declare them.
struct Declarations {
  Parameters parameters;
  Metadata metadata;

  struct BlockDeclaration {
    enum class What { box, list, bounds, removed, replaced } what;
    std::string mesh;
    Block block;               ///< the declared block; its mesh number is not known yet
    std::vector<Block> all{};  ///< the blocks of a `replaced` list
  };
  /// A role, by names that are resolved when all is declared.
  struct ArrayDeclaration {
    std::string mesh;
    Role role;
    std::string variable;
  };
  struct AllocatedDeclaration {
    std::string variable;
    std::int64_t id;
    Box box;
    std::size_t after;  ///< number of block declarations that preceded it
  };
  struct AttributeDeclaration {
    std::string variable, attribute, value;
  };
  /// A call that changes a mesh which is assembled from its blocks, and so does not exist yet.
  struct LaterDeclaration {
    std::string mesh;
    const char* call;
    std::function<void(Mesh&)> apply;
  };
  std::vector<BlockDeclaration> blocks;
  std::vector<AllocatedDeclaration> allocated;
  std::vector<AttributeDeclaration> attributes;
  std::vector<ArrayDeclaration> arrays;
  std::vector<BlockAxes> axes;  ///< axes of this client's blocks; meshes are made of them at the start
  std::vector<LaterDeclaration> later;
  std::vector<SpectralMesh> spectral_meshes;
  std::vector<SpectralBlock> spectral_blocks;  ///< of this client, until they are published at the start
  std::set<std::string> former_attributes;     ///< former names of attributes that this process has used; not encoded
  bool latin_1 = false;                        ///< texts that are not UTF-8 are ISO 8859-1; not encoded

  // The following calls throw Error(usage) for names that are not UTF-8, and for other texts that are not, unless
  // `latin_1` is set.
  void set(const std::string& name, std::variant<std::int64_t, double> value);
  void add_mesh(Mesh mesh);
  void add_variable(const std::string& mesh, Variable variable);
  void add_array(const std::string& mesh, Role role, const std::string& variable);
  void set_attribute(const std::string& variable, const std::string& attribute, const std::string& value);
  /// Changes the mesh of that name by `apply`: at once if a call declares it, otherwise in apply_later.
  void change_mesh(const std::string& name, const char* call, std::function<void(Mesh&)> apply);
  /// Changes the mesh of that name by `apply`, at once. Throws Error(usage) if no call has declared it so far.
  void change_declared_mesh(const std::string& name, const char* call, const std::function<void(Mesh&)>& apply);
  /// Applies the delayed changes; call it when the meshes of blocks exist. Throws Error(usage), which names the call,
  /// if a mesh is declared neither by a call nor by blocks.
  void apply_later();
  /// Applies `arrays` to the final metadata, and checks that all meshes have the arrays that they need. Throws
  /// Error(configuration).
  void apply_arrays(Metadata& final) const;
  /// Applies `attributes`. Throws Error(usage).
  void apply_attributes(Metadata& final) const;

  /// Converts `text` to UTF-8.
  [[nodiscard]] std::string in_utf8(const char* what, const std::string& of, std::string text) const;

  /// Encodes the part that is the same on every client; decode reverses it.
  [[nodiscard]] Bytes encode() const;
  static Declarations decode(BytesView bytes);
};

}  // namespace sidestream
