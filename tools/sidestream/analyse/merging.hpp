// One set of meshes and variables for iterations that may lack some.
#pragma once

#include <map>
#include <string>

#include "sidestream/data/metadata.hpp"

namespace sidestream::analysing {

class Merging {
 public:
  /// `where` names the iteration in messages. Throws Error(file) where it has a mesh or variable otherwise than another
  /// one. What is of 32 bits in one and of 64 in another is of 64.
  void add(const Metadata& metadata, const std::string& where);
  [[nodiscard]] const Metadata& result() const noexcept { return all_; }

 private:
  void add_mesh(const Mesh& mesh, const std::string& where);
  void add_variable(const Variable& variable, const std::string& mesh, const std::string& where);

  Metadata all_;
  std::map<std::string, std::string> first_;  ///< where a mesh or variable was seen first
};

}  // namespace sidestream::analysing
