// Translates XML of SENSEI's ConfigurableAnalysis and of its in transit transports. Elements and attributes are those
// of its documentation and of the configurations that come with it (versions 2 to 4).
#include "translate/sensei.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <set>

namespace sidestream::sensei {

namespace {

constexpr const char* look_instead =
    "the analyses render, isosurface and slice make pictures and files that it can open";

class Translator {
 public:
  explicit Translator(Remarks& remarks) : remarks_(remarks) {}

  std::string translate(const tinyxml2::XMLElement& xml) {
    XmlElement root(xml, remarks_);
    root.each_child([this](XmlElement& child) {
      if (child.name() == "analysis") return analysis(child);
      if (child.name() == "transport" || child.name() == "data_adaptor") return transport(child);
      return false;
    });
    return text();
  }

 private:
  std::string text() const {
    std::string all = "# Made by `sidestream translate sensei " + remarks_.file() +
                      "`. Its messages say what it could not translate.\n";
    if (!placement_.empty()) all += "placement: " + placement_ + "\n";
    if (!variables_.empty()) {
      all += "# The meshes are declared by the program, or here: their sizes are not in SENSEI's file.\nvariables:\n";
      for (const auto& [name, entries] : variables_) all += fmt::format("  {}: {{{}}}\n", name, entries);
    }
    if (!analyses_.empty()) all += "analyses:\n" + analyses_;
    if (!outputs_.empty()) all += "outputs:\n" + outputs_;
    return all;
  }

  bool analysis(XmlElement& element) {
    using Handle = bool (Translator::*)(XmlElement&);
    static const std::map<std::string, Handle> kinds{
        {"histogram", &Translator::histogram},  {"PosthocIO", &Translator::posthoc},
        {"VTKPosthocIO", &Translator::posthoc}, {"SliceExtract", &Translator::slice_extract},
        {"catalyst", &Translator::catalyst},    {"vtkmcontour", &Translator::contour},
        {"adios", &Translator::adios},          {"adios1", &Translator::adios},
        {"adios2", &Translator::adios},         {"hdf5", &Translator::hdf5}};
    static const std::map<std::string, const char*> reasons{{"autocorrelation", "write it as an analysis"},
                                                            {"libsim", look_instead},
                                                            {"ascent", look_instead},
                                                            {"python", "write it as an analysis"}};
    const std::string type = element.get("type"), enabled = element.get("enabled", "1");
    if (enabled == "0" || enabled == "false") {
      element.remark("<analysis type=\"" + type + "\"> is not enabled and was left out");
      element.omit_silently();
      return true;
    }
    every_ = element.get("frequency");
    element.ignore({"verbose", "comment"});
    const auto kind = kinds.find(type);
    if (kind != kinds.end()) return (this->*kind->second)(element);
    const auto reason = reasons.find(type);
    element.remark(fmt::format("<analysis type=\"{}\"> has no counterpart and was left out{}{}", type,
                               reason == reasons.end() ? "" : ": ", reason == reasons.end() ? "" : reason->second));
    element.omit_silently();
    return true;
  }

  /// The variable of that array, declared.
  std::string variable(const std::string& array, const std::string& mesh, const std::string& association) {
    const std::string name = plain_name(array);
    const bool node = association == "point";
    variables_[name] =
        fmt::format("mesh: {}, centering: {}", plain_name(mesh.empty() ? "mesh" : mesh), node ? "node" : "cell");
    return name;
  }

  std::string array_of(XmlElement& element) {
    const std::string array = element.need("array");
    return variable(array, element.get("mesh"), element.get("association", "point"));
  }

  /// Parses `<mesh name><cell_arrays>a, b</cell_arrays><point_arrays>...</mesh>`.
  std::vector<std::string> arrays_of(XmlElement& mesh) {
    std::vector<std::string> names;
    const std::string on = mesh.get("name", "mesh");
    mesh.ignore({"structure_only", "ghost_cells", "ghost_nodes"});
    mesh.each_child([&](XmlElement& child) {
      if (child.name() != "cell_arrays" && child.name() != "point_arrays") return false;
      for (const std::string& array : parts_of(child.text(), ", \t\r\n")) {
        names.push_back(variable(array, on, child.name() == "point_arrays" ? "point" : "cell"));
      }
      return true;
    });
    return names;
  }

  std::string every() const { return every_.empty() ? "" : ", every: " + every_; }

  bool histogram(XmlElement& element) {
    const std::string file = element.get("file");
    const std::string name = array_of(element), bins = element.get("bins", "10"), usual = "histogram.csv";
    const std::string own = file.empty() ? own_file(usual) : given_file(element, file + "-{cycle:06}.csv");
    const std::string to = own == usual ? "" : ", file: '" + own + "'";
    analyses_ += fmt::format("  - histogram: {{variable: {}, bins: {}{}{}}}\n", name, bins, to, every());
    return true;
  }

  bool posthoc(XmlElement& element) {
    std::vector<std::string> names;
    const std::string directory = element.get("output_dir", "."), file = element.get("file_name", "output");
    if (element.has("array")) names.push_back(array_of(element));
    if (element.has("period")) every_ = element.get("period");
    element.ignore({"mode", "writer"});
    element.each_child([&](XmlElement& child) {
      if (child.name() != "mesh") return false;
      for (const std::string& name : arrays_of(child)) names.push_back(name);
      return true;
    });
    outputs_ += fmt::format("  - vtk: {{variables: [{}], file: '{}'{}}}\n", fmt::join(names, ", "),
                            given_file(element, folder(directory) + file + "-{cycle:06}.pvti"), every());
    return true;
  }

  /// The name, with a number if it is used already. Each analysis and output has files of its own, and an index over
  /// time named after the part before the number of the iteration.
  std::string own_file(const std::string& name) {
    const std::string ending = std::filesystem::path(name).extension().string();
    const std::string index = ending.starts_with(".vt") || ending.starts_with(".pvt") ? ".pvd" : ending;
    const std::string head = name.substr(0, std::min(name.find('{'), name.size() - ending.size()));
    const std::string stem = head.substr(0, head.find_last_not_of("-_") + 1), rest = name.substr(stem.size());
    const std::string many = rest.find('{') == std::string::npos ? "" : "*";
    if (files_.insert(stem + many + index).second) return name;
    int n = 2;
    while (!files_.insert(fmt::format("{}-{}{}{}", stem, n, many, index)).second) ++n;
    return fmt::format("{}-{}{}{}", stem, n, rest.starts_with('{') ? "-" : "", rest);
  }

  /// Makes a file name of the configuration unique; a change is remarked.
  std::string given_file(XmlElement& element, const std::string& name) {
    std::string own = own_file(name);
    if (own != name) {
      element.remark(fmt::format("<{} type=\"{}\"> has files of the name that others have: '{}' became '{}'",
                                 element.name(), element.get("type"), name, own));
    }
    return own;
  }

  static std::string folder(std::string directory) {
    if (directory.rfind("./", 0) == 0) directory.erase(0, 2);
    if (directory.empty() || directory == ".") return "";
    return directory + (directory.back() == '/' ? "" : "/");
  }

  bool slice_extract(XmlElement& element) {
    const std::string operation = element.get("operation", "planar_slice");
    std::vector<std::string> names, point, normal, values;
    std::string directory, surface;
    element.each_child([&](XmlElement& child) {
      if (child.name() == "mesh") {
        names = arrays_of(child);
      } else if (child.name() == "point") {
        point = numbers_of(child, child.text(), remarks_);
      } else if (child.name() == "normal") {
        normal = numbers_of(child, child.text(), remarks_);
      } else if (child.name() == "iso_values") {
        values = numbers_of(child, child.text(), remarks_);
        surface = variable(child.need("array_name"), child.get("mesh_name"), child.get("array_centering", "cell"));
      } else if (child.name() == "writer") {
        directory = folder(child.get("output_dir", "."));
        child.ignore({"mode", "writer"});
      } else {
        return false;
      }
      return true;
    });
    if (operation == "iso_surface" || operation == "isosurface") {
      isosurface(surface, values, directory);
    } else if (operation != "planar_slice" && operation != "slice") {
      element.remark("<analysis type=\"SliceExtract\" operation=\"" + operation +
                     "\"> has no counterpart and was left out; planar_slice and iso_surface have one");
    } else if (names.empty()) {
      element.remark("<analysis type=\"SliceExtract\"> names no array and was left out; name what is to be seen");
    } else {
      std::string fields;
      for (std::size_t n = 1; n < names.size(); ++n) fields += (n > 1 ? ", " : "") + names[n];
      analyses_ += fmt::format("  - slice: {{variable: {}{}{}, file: '{}'{}}}\n", names.front(),
                               fields.empty() ? "" : ", fields: [" + fields + "]", plane(point, normal),
                               own_file(directory + "slice-{cycle:06}.vtp"), every());
    }
    return true;
  }

  static std::string plane(const std::vector<std::string>& point, const std::vector<std::string>& normal) {
    std::string text =
        fmt::format(", normal: [{}]", normal.size() == 3 ? fmt::format("{}", fmt::join(normal, ", ")) : "0, 0, 1");
    if (point.size() == 3) text += fmt::format(", origin: [{}]", fmt::join(point, ", "));
    return text;
  }

  void isosurface(const std::string& name, const std::vector<std::string>& values, const std::string& directory) {
    analyses_ += fmt::format("  - isosurface: {{variable: {}, values: [{}], file: '{}'{}}}\n", name,
                             fmt::join(values, ", "), own_file(directory + "isosurface-{cycle:06}.vtp"), every());
  }

  bool contour(XmlElement& element) {
    const std::string value = element.need("value");
    element.ignore({"write_output"});
    isosurface(array_of(element), numbers_of(element, value, remarks_), "");
    return true;
  }

  bool catalyst(XmlElement& element) {
    if (element.get("pipeline") != "slice") {
      element.remark(fmt::format("<analysis type=\"catalyst\"> has no counterpart and was left out: {}", look_instead));
      element.omit_silently();
      return true;
    }
    const auto three = [&](const char* attribute) { return numbers_of(element, element.get(attribute), remarks_); };
    const std::vector<std::string> range = three("color-range");
    std::string image = element.get("image-filename", "slice-%ts.png");
    const std::size_t step = image.find("%ts");
    if (step != std::string::npos) image.replace(step, 3, "{cycle:06}");
    const std::string width = element.get("image-width", "1024"), height = element.get("image-height", "1024");
    const std::string name = array_of(element);
    analyses_ += fmt::format("  - render: {{slice: {{variable: {}{}{}}}, size: [{}, {}], file: '{}'{}}}\n", name,
                             plane(three("slice-origin"), three("slice-normal")),
                             range.size() == 2 ? fmt::format(", range: [{}]", fmt::join(range, ", ")) : "", width,
                             height, given_file(element, image), every());
    return true;
  }

  bool adios(XmlElement& element) {
    const std::string file = element.get("filename", "sensei.bp"), engine = element.get("engine");
    element.ignore({"method", "timeout", "debug_mode", "buffer_size"});
    const bool sst = engine == "sst" || engine == "SST";
    outputs_ +=
        fmt::format("  - stream: {{name: {}, engine: {}{}}}\n", plain_name(file), sst ? "sst" : "files", every());
    element.remark("<analysis type=\"" + element.get("type") +
                   "\"> is an output `stream`, or `placement: {mode: job}`: `sidestream endpoint` reads it");
    element.each_child([&](XmlElement& child) { return child.name() == "mesh" && (arrays_of(child), true); });
    return true;
  }

  bool hdf5(XmlElement& element) {
    element.ignore({"filename", "method", "mode"});
    outputs_ += fmt::format("  - hdf5: {{file: '{}'{}}}\n", own_file("fields-{cycle:06}.h5"), every());
    return true;
  }

  bool transport(XmlElement& element) {
    const std::string type = element.get("type"), file = element.get("filename", element.get("file_name", "stream"));
    const std::string engine = element.get("engine");
    element.ignore({"method", "timeout", "debug_mode", "mode", "file_name"});
    std::string partitioner;
    element.each_child([&](XmlElement& child) {
      if (child.name() != "partitioner") return false;
      partitioner = partitioner_of(child);
      return true;
    });
    const bool sst = engine == "sst" || engine == "SST";
    placement_ = fmt::format("{{mode: job, stream: {{name: {}, engine: {}}}{}}}", plain_name(file),
                             sst ? "sst" : "files", partitioner.empty() ? "" : ", partitioner: " + partitioner);
    if (type != "adios2" || !sst) {
      element.remark("<transport type=\"" + type + "\" engine=\"" + engine +
                     "\">: the stream goes through files; the simulation needs this section too");
    }
    return true;
  }

  std::string partitioner_of(XmlElement& element) {
    const std::string type = element.need("type");
    if (type == "block") return "block";
    if (type == "planar") return fmt::format("{{stripe: {{width: {}}}}}", element.get("plane_size", "1"));
    if (type == "iso_surface" || type == "planar_slice") {
      element.leave_out(
          "Sidestream moves no more than the analyses' isosurfaces and slices need, with any partitioner");
      return "";
    }
    if (type == "mapped") {
      std::string servers;
      element.each_child([&](XmlElement& child) {
        if (child.name() == "block_owner")
          servers = fmt::format("{}", fmt::join(parts_of(child.text(), ", \t\r\n"), ", "));
        return child.name() == "block_owner" || child.name() == "block_id";
      });
      element.remark(
          "<partitioner type=\"mapped\">: `servers` holds for blocks 0, 1, 2, ... of each mesh; correct it if "
          "block_id says otherwise");
      return fmt::format("{{mapped: {{servers: [{}]}}}}", servers);
    }
    element.leave_out("Sidestream has others, see `sidestream reference`");
    return "";
  }

  Remarks& remarks_;
  std::map<std::string, std::string> variables_;
  std::set<std::string> files_;  ///< with '*' for the number of the iteration
  std::string placement_, analyses_, outputs_, every_;
};

}  // namespace

std::string translated(const XmlFile& file, Remarks& remarks) { return Translator(remarks).translate(file.root()); }

}  // namespace sidestream::sensei
