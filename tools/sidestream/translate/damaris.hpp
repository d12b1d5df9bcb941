// Model of a Damaris configuration.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "translate/element.hpp"

namespace sidestream::damaris {

struct Layout {
  std::string type;                     ///< our type
  std::vector<std::string> dimensions;  ///< our expressions, in the file's order
  bool whole = false;                   ///< true for the whole mesh (`global`), false for one client
};

struct Variable {
  int line = 0;
  std::string path;  ///< path with groups: `coordinates/x3d`
  std::string name, group, layout, mesh, centering, unit, store;
  bool vector = false, varies = true;
};

struct Mesh {
  int line = 0;
  std::string name, type;
  int dimensions = 0;
  std::vector<std::string> coordinates;       ///< paths of variables
  std::vector<std::string> units, labels;     ///< for the coordinates, as many; empty: none
  std::map<std::string, std::string> arrays;  ///< for an unstructured mesh: element in the file to path
};

struct Action {
  std::string event, function, library;
};

/// A script in Python.
struct Script {
  std::string name, file, frequency;
  bool on_event = false;
};

struct Store {
  std::string name, path, frequency;
};

struct Model {
  std::string placement;  ///< YAML of the section
  bool fortran = false;   ///< true if the first of an array's dimensions is the fastest
  std::map<std::string, std::string> parameters;
  std::map<std::string, Layout> layouts;
  std::vector<Mesh> meshes;
  std::vector<Variable> variables;
  std::vector<Action> actions;
  std::vector<Script> scripts;
  std::vector<Store> stores;
};

[[nodiscard]] Model read_model(const XmlFile& file, Remarks& remarks);
/// YAML of the model; parts that cannot be translated are remarked.
[[nodiscard]] std::string written(const Model& model, Remarks& remarks);

}  // namespace sidestream::damaris
