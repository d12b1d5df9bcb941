// Reader of Damaris configurations: elements and attributes as in its schema (Model.xsd) and its user guide, 1.0 to
// 1.12.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/numbers.hpp"
#include "sidestream/kit/base/text.hpp"
#include "translate/damaris.hpp"

namespace sidestream::damaris {

namespace {

const std::map<std::string, std::string> types{{"short", "int16"},    {"int", "int32"},     {"integer", "int32"},
                                               {"long", "int64"},     {"float", "float32"}, {"real", "float32"},
                                               {"double", "float64"}, {"char", "int8"},     {"character", "int8"}};

/// Prefixes names in an expression with `$`.
std::string expression(const std::string& text) {
  std::string made;
  for (std::size_t n = 0; n < text.size(); ++n) {
    const char c = text[n], before = n > 0 ? text[n - 1] : ' ';
    const bool inside = is_letter_or_digit(before) || before == '_' || before == '$' || before == '.';
    if ((is_letter(c) || c == '_') && !inside) made += '$';
    made += text[n];
  }
  return made;
}

class Reader {
 public:
  explicit Reader(Remarks& remarks) : remarks_(remarks) {}
  Model read(const tinyxml2::XMLElement& root) {
    XmlElement simulation(root, remarks_);
    simulation.ignore({"name", "xsi:schemaLocation", "comment"});
    model_.fortran = simulation.get("language", "c") == "fortran";
    simulation.each_child([this](XmlElement& child) { return section(child); });
    return std::move(model_);
  }

 private:
  bool section(XmlElement& child) {
    if (child.name() == "architecture") return architecture(child);
    if (child.name() == "data") return data(child, "");
    if (child.name() == "storage") return storage(child);
    if (child.name() == "actions") return actions(child);
    if (child.name() == "log") {
      child.leave_out("messages go to standard error");
    } else if (child.name() == "scripts" || child.name() == "python") {
      child.each_child([this](XmlElement& script) { return this->script(script, false); });
    } else if (child.name() == "visit" || child.name() == "paraview") {
      child.leave_out(
          "pictures are made by the analyses render, isosurface and slice; ParaView and VisIt open what the output vtk "
          "writes, while the run goes on");
    } else {
      return false;
    }
    return true;
  }

  bool architecture(XmlElement& element) {
    element.ignore({"name"});
    int cores = 0, nodes = 0;
    std::string buffer;
    element.each_child([&](XmlElement& child) {
      if (child.name() == "domains") {
        if (child.get("count", "1") != "1")
          child.remark("<domains count>: clients declare as many blocks as they like");
      } else if (child.name() == "dedicated") {
        cores = whole_of<int>(child.get("cores", "0")).value_or(0);
        nodes = whole_of<int>(child.get("nodes", "0")).value_or(0);
        if (cores > 0 && nodes > 0) {
          child.remark(fmt::format(
              "<dedicated>: with both, the nodes are servers and the cores were left out; `forward: blocks, per_node: {}` "
              "beside whole_nodes has cores of the other nodes pass their blocks on",
              cores));
        }
      } else if (child.name() == "buffer") {
        child.ignore({"name", "type", "enabled"});
        buffer = child.get("size");
      } else if (child.name() == "queue") {
        child.ignore({"name", "size"});
        child.remark(
            "<queue>: messages to servers need no room of their own; placement.max_in_flight bounds iterations");
      } else if (child.name() == "placement") {
        if (child.has("location") || child.has("blocks")) return false;
      } else {
        return false;
      }
      return true;
    });
    model_.placement = nodes > 0   ? fmt::format("{{mode: nodes, whole_nodes: {}", nodes)
                       : cores > 0 ? fmt::format("{{mode: cores, per_node: {}", cores)
                                   : "{mode: inline";
    if (!buffer.empty() && nodes + cores > 0) model_.placement += ", buffer: " + buffer;
    model_.placement += "}";
    return true;
  }

  /// Reads variables and, recursively, groups, with their path.
  bool data(XmlElement& element, const std::string& group) {
    element.each_child([&](XmlElement& child) {
      child.ignore({"comment"});
      if (child.name() == "parameter") return parameter(child);
      if (child.name() == "layout") return layout(child);
      if (child.name() == "mesh") return mesh(child);
      if (child.name() == "variable") return variable(child, group);
      if (child.name() != "group") return false;
      if (child.get("enabled", "true") == "false") {
        child.leave_out("it is not enabled");
        return true;
      }
      child.ignore({"store"});
      const std::string name = child.need("name");
      return data(child, group.empty() ? name : group + "/" + name);
    });
    return true;
  }

  bool parameter(XmlElement& element) {
    const std::string name = element.need("name"), type = element.get("type"), value = element.need("value");
    const auto known = types.find(type);
    if (known == types.end() || known->second == "int8") {
      element.leave_out("parameters are numbers");
      return true;
    }
    // Parameters that use the last one twice would double at each step.
    constexpr std::size_t longest = 4096;
    const std::string made = with_values(value);
    if (made.size() > longest) {
      element.leave_out(
          fmt::format("with the values of the parameters that it names, its own has {} characters, expected at most {}",
                      made.size(), longest));
      return true;
    }
    model_.parameters[name] = made;
    return true;
  }

  /// Replaces names of earlier parameters by their values, since our parameters are numbers and do not refer to each
  /// other.
  std::string with_values(const std::string& text) const {
    std::string made;
    for (std::size_t n = 0; n < text.size();) {
      const auto is_of_name = [&](std::size_t at) {
        return at < text.size() && (is_letter_or_digit(text[at]) || text[at] == '_');
      };
      std::size_t end = n;
      while (is_of_name(end)) ++end;
      const auto known = model_.parameters.find(text.substr(n, end - n));
      if (end == n) {
        made += text[n++];
      } else {
        made += known == model_.parameters.end() ? text.substr(n, end - n) : "(" + known->second + ")";
        n = end;
      }
    }
    return made;
  }

  void say_visualizable(XmlElement& element) const {
    if (element.get("visualizable", "true") != "false") return;
    element.remark(
        "<" + element.name() +
        " visualizable=\"false\">: nothing is shown that no analysis or output names; without `variables` the "
        "outputs write it too");
  }

  bool layout(XmlElement& element) {
    Layout layout;
    const std::string name = element.need("name"), type = element.get("type");
    const auto known = types.find(type);
    if (known == types.end()) {
      element.leave_out("there are no values of the type '" + type + "'");
      return true;
    }
    layout.type = known->second;
    const std::string global = element.get("global"), own = element.need("dimensions");
    layout.whole = !global.empty();
    for (const std::string& part : parts_of(layout.whole ? global : own)) layout.dimensions.push_back(expression(part));
    for (const char* attribute : {"ghosts", "ghost"}) {
      if (element.get(attribute).find_first_not_of("0:, ") == std::string::npos) continue;
      element.remark(fmt::format(
          "<layout {}>: call set_allocated for each block, or publish the section without ghosts", attribute));
    }
    say_visualizable(element);
    element.ignore({"language"});
    model_.layouts[name] = layout;
    return true;
  }

  bool mesh(XmlElement& element) {
    Mesh mesh;
    mesh.line = element.line();
    mesh.name = plain_name(element.need("name"));
    mesh.type = element.get("type", "rectilinear");
    element.ignore({"time-varying"});
    mesh.dimensions = whole_of<int>(element.get("topology", "2")).value_or(0);
    element.each_child([&](XmlElement& child) {
      child.ignore({"comment", "offset"});
      if (child.name() == "coord") {
        mesh.coordinates.push_back(child.need("name"));
        mesh.units.push_back(child.get("unit"));
        mesh.labels.push_back(child.get("label"));
        return true;
      }
      mesh.arrays[child.name()] = child.need("name");
      return child.name() == "vertex_global_id" || child.name().rfind("section_", 0) == 0;
    });
    if (mesh.type == "rectilinear" || mesh.type == "curvilinear" || mesh.coordinates.size() > 1) {
      mesh.dimensions = static_cast<int>(mesh.coordinates.size());
    }
    model_.meshes.push_back(std::move(mesh));
    return true;
  }

  bool variable(XmlElement& element, const std::string& group) {
    Variable variable;
    variable.line = element.line();
    const std::string name = element.need("name");
    if (element.get("enabled", "true") == "false") {
      element.leave_out("it is not enabled");
      return true;
    }
    variable.path = group.empty() ? name : group + "/" + name;
    variable.name = plain_name(name);
    variable.group = group;
    variable.layout = element.need("layout");
    variable.mesh = element.get("mesh", "#");
    variable.centering = element.get("centering", "zonal") == "nodal" ? "node" : "cell";
    variable.unit = element.get("unit");
    variable.store = element.get("store");
    const std::string type = element.get("type", "scalar");
    variable.vector = type == "vector" || element.has("vectorlength");
    if (type != "scalar" && type != "vector") {
      element.remark("<variable type=\"" + type + "\"> was taken for one of so many components as its layout has");
    }
    variable.varies = element.get("time-varying", "true") != "false";
    say_visualizable(element);
    element.ignore({"vectorlength"});
    model_.variables.push_back(std::move(variable));
    return true;
  }

  bool script(XmlElement& element, bool on_event) {
    const std::string language = element.get("language", "python");
    if (element.name() != "script" && element.name() != "pyscript") return false;
    if (language != "python") {
      element.leave_out("write it as an analysis in Python, C or C++");
      return true;
    }
    model_.scripts.push_back({element.need("name"), element.need("file"), element.get("frequency", "1"), on_event});
    element.remark(
        "<" + element.name() +
        ">: the analysis 'python' calls a function of it with blocks as arrays (docs/python-analyses.md): see the comment "
        "under 'analyses:'");
    return true;
  }

  bool storage(XmlElement& element) {
    element.ignore({"basename"});
    element.each_child([&](XmlElement& child) {
      if (child.name() != "store") return false;
      Store store{child.need("name"), "", child.get("frequency")};
      if (child.get("type", "HDF5") != "HDF5") {
        child.leave_out("stores are HDF5; the output vtk is another choice");
        return true;
      }
      child.each_child([&](XmlElement& option) {
        const std::string key = option.get("key"), value = option.text();
        if (key == "FilesPath") {
          store.path = value;
        } else if (key == "FileMode") {
          option.remark("<option key=\"FileMode\">: each server writes a file, and one more shows all of them");
        } else {
          option.leave_out("");
        }
        return true;
      });
      model_.stores.push_back(std::move(store));
      return true;
    });
    return true;
  }

  bool actions(XmlElement& element) {
    element.each_child([&](XmlElement& child) {
      if (child.name() == "script") return script(child, true);
      if (child.name() != "event") return false;
      Action action{child.need("name"), child.need("action"), child.get("using", child.get("library"))};
      const std::string scope = child.get("scope", "core");
      if (scope != "core") {
        child.remark("<event scope=\"" + scope + "\">: an event that any client signals reaches all servers once");
      } else {
        child.remark("<event>: the action runs once for all clients that signalled it, not once for each");
      }
      child.ignore({"execution", "external"});
      model_.actions.push_back(std::move(action));
      return true;
    });
    return true;
  }

  Remarks& remarks_;
  Model model_;
};

}  // namespace

Model read_model(const XmlFile& file, Remarks& remarks) { return Reader(remarks).read(file.root()); }

}  // namespace sidestream::damaris
