// What a configuration of Damaris says.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "translate/element.hpp"

namespace sidestream::damaris {

struct Layout {
  std::string type;                     ///< ours
  std::vector<std::string> dimensions;  ///< expressions of ours, in the file's order
  bool whole = false;                   ///< of the whole mesh (`global`), not of one client
};

struct Variable {
  int line = 0;
  std::string path;  ///< with groups: `coordinates/x3d`
  std::string name, group, layout, mesh, centering, unit, store;
  bool vector = false, varies = true;
};

struct Mesh {
  int line = 0;
  std::string name, type;
  int dimensions = 0;
  std::vector<std::string> coordinates;       ///< paths of variables
  std::vector<std::string> units, labels;     ///< of the coordinates, as many; empty: none
  std::map<std::string, std::string> arrays;  ///< of an unstructured mesh: element in the file to path
};

struct Action {
  std::string event, function, library;
};

/// In Python.
struct Script {
  std::string name, file;
  bool on_event = false;
};

struct Store {
  std::string name, path, frequency;
};

struct Model {
  std::string placement;  ///< YAML of the section
  bool fortran = false;   ///< the first of an array's dimensions runs fastest
  std::map<std::string, std::string> parameters;
  std::map<std::string, Layout> layouts;
  std::vector<Mesh> meshes;
  std::vector<Variable> variables;
  std::vector<Action> actions;
  std::vector<Script> scripts;
  std::vector<Store> stores;
};

[[nodiscard]] Model read_model(const XmlFile& file, Remarks& remarks);
/// YAML of the model; what does not go over is remarked.
[[nodiscard]] std::string written(const Model& model, Remarks& remarks);

}  // namespace sidestream::damaris
