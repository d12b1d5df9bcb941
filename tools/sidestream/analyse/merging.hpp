// Collects the meshes and variables of iterations that may each lack some.
#pragma once

#include <map>
#include <string>

#include "sidestream/data/metadata.hpp"

namespace sidestream::analysing {

class Merging {
 public:
  /// `where` names the iteration in messages. Throws Error(file) if a mesh or variable differs from that of another
  /// iteration. Mixed 32-bit and 64-bit reals become 64-bit.
  void add(const Metadata& metadata, const std::string& where);
  [[nodiscard]] const Metadata& result() const noexcept { return all_; }

 private:
  void add_mesh(const Mesh& mesh, const std::string& where);
  void add_variable(const Variable& variable, const std::string& mesh, const std::string& where);

  Metadata all_;
  std::map<std::string, std::string> first_;  ///< iteration in which a mesh or variable was first seen
};

}  // namespace sidestream::analysing
