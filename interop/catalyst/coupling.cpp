#include "coupling.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <sidestream/error.hpp>
#include <sidestream/values.hpp>
#include <string_view>
#include <utility>

#include "read_mesh.hpp"

namespace sidestream::catalyst {

namespace {

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// The file that a child of `catalyst/scripts` names: a text, or an object with `filename`.
std::string script_name(const Node& script) {
  const Node file = script.is_text() ? script : script.find("filename");
  return file && file.is_text() ? file.text() : std::string();
}

/// A session has one cycle and time for all meshes.
void check_state(const Node& channel, std::int64_t cycle, double time, Problems& problems) {
  for (const char* const name : {"timestep", "cycle", "time"}) {
    const Node own = channel.find(std::string("state/") + name);
    if (!own || !own.is_number() || own.real() == (name == std::string("time") ? time : static_cast<double>(cycle))) {
      continue;
    }
    problems.push_back(own.path() + ": the channel's own number is left out; that of catalyst/state counts");
  }
}

}  // namespace

Coupling::Coupling(const Node& parameters) {
  Problems problems;
  const Node catalyst = parameters.find("catalyst");
  for (const auto& [name, script] : catalyst.find("scripts").children()) {
    const std::string file = script_name(script);
    if (configuration_.empty() && (ends_with(file, ".yaml") || ends_with(file, ".yml"))) {
      configuration_ = file;
    } else {
      problems.push_back(
          script.path() + ": '" + file +
          "' is left out: Sidestream takes one configuration, a .yaml file, instead of scripts of ParaView");
    }
  }
  for (const auto& [name, pipeline] : catalyst.find("pipelines").children()) {
    const Node type = pipeline.find("type"), file = pipeline.find("filename");
    problems.push_back(pipeline.path() + ": the pipeline" +
                       (type && type.is_text() ? " of type '" + type.text() + "'" : "") +
                       (file && file.is_text() ? " for '" + file.text() + "'" : "") +
                       " is left out; write files with `outputs:` of the configuration, such as `vtk`");
  }
  for (const char* const unused : {"proxies", "python_path", "viskores"}) {
    if (const Node node = catalyst.find(unused); node) {
      problems.push_back(node.path() + ": left out, as it is for ParaView");
    }
  }
  const Node comm = catalyst.find("mpi_comm");
  ranks_ = std::make_unique<Ranks>(comm ? comm.integer() : -1);
  say(problems);
}

Coupling::~Coupling() = default;

const AgreedMesh* Coupling::find(const std::string& mesh) const {
  const auto known = std::find_if(meshes_.begin(), meshes_.end(), [&](const AgreedMesh& m) { return m.name == mesh; });
  return known == meshes_.end() ? nullptr : &*known;
}

bool Coupling::needs(const std::string& variable) {
  try {
    return session_->is_needed(variable, cycle_);
  } catch (const Error& error) {
    say({error.what()});
    return false;  // the iteration is refused
  }
}

/// Arrays of a mesh are needed together, and with any of its variables.
bool Coupling::needs(const AgreedMesh& mesh) {
  const bool placed = mesh.kind != MeshKind::uniform && mesh.kind != MeshKind::rectilinear;
  if (placed && needs(mesh.name + "_coordinates")) return true;
  return std::any_of(mesh.fields.begin(), mesh.fields.end(), [&](const AgreedField& f) { return needs(f.variable); });
}

std::vector<MeshPiece> Coupling::read_channel(const std::string& name, const Node& channel, Problems& problems) {
  const std::string type = channel.need("type").text();
  const Node data = channel.need("data");
  if (!data.is_parent()) fail_node(data, "found no object, expected one, or an empty one");
  check_state(channel, cycle_, time_, problems);
  // Boxes are a few numbers, which are read in any case, so that servers know the blocks.
  const auto wanted = [this](const std::string& mesh) {
    const AgreedMesh* const known = find(as_name(mesh));
    return known == nullptr || known->kind < MeshKind::unstructured || needs(*known);
  };
  if (type == "mesh") return read_mesh(data, name, wanted, problems);
  if (type == "amrmesh") return read_levels(data, name, wanted, problems);
  if (type != "multimesh") {
    fail_node(channel.find("type"),
              "found '" + type + "', expected mesh, multimesh or amrmesh; the channel is left out");
  }
  std::vector<MeshPiece> pieces;
  for (const auto& [child, mesh] : data.children()) {
    for (MeshPiece& piece : read_mesh(mesh, name + "_" + child, wanted, problems)) pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::vector<MeshPiece> Coupling::read_channels(const Node& catalyst) {
  Problems problems;
  std::vector<MeshPiece> all;
  std::map<std::string, std::string> names;  // of pieces in the host's nodes, by mesh
  const Node channels = catalyst.find("channels");
  if (channels && !channels.is_parent()) problems.push_back(channels.path() + ": found no object, expected channels");
  for (const auto& [name, channel] : channels.children()) {
    try {
      for (MeshPiece& piece : read_channel(name, channel, problems)) {
        const std::string given = std::exchange(piece.mesh, as_name(piece.mesh));
        const std::string& first = names.emplace(piece.mesh, given).first->second;
        if (first != given) {
          fail_node(channel, "found the mesh '" + given + "', whose name is the same as that of '" + first +
                                 "' once other characters are replaced by _; rename one");
        }
        all.push_back(std::move(piece));
      }
    } catch (const Error& error) {
      problems.emplace_back(error.what());
    }
  }
  say(problems);
  return all;
}

bool Coupling::execute(const Node& parameters) {
  if (failed_) return true;
  const Node catalyst = parameters.find("catalyst");
  // Whatever a rank's nodes are like, it takes part in what is collective: the start, and the iteration's end.
  const bool known = read_state(catalyst);
  const bool due = known && (!session_ || std::any_of(meshes_.begin(), meshes_.end(),
                                                      [this](const AgreedMesh& mesh) { return needs(mesh); }));
  std::vector<MeshPiece> pieces;
  if (due) pieces = read_channels(catalyst);
  if (!session_) {
    try {
      if (!start(pieces)) return true;
    } catch (const Error& error) {  // the same on all ranks; the simulation goes on without
      failed_ = true;
      if (ranks_->rank() == 0) say({error.what()});
      return false;
    }
  }
  if (due) publish(pieces);
  (void)session_->end_iteration(cycle_, time_);
  return true;
}

bool Coupling::read_state(const Node& catalyst) {
  try {
    if (!catalyst) throw Error(Code::usage, "execute: found no 'catalyst', which is required");
    const Node state = catalyst.need("state");
    const std::int64_t cycle = (state.find("timestep") ? state.find("timestep") : state.need("cycle")).integer();
    const double time = state.need("time").real();
    if (!std::isfinite(time)) fail_node(state.find("time"), "found a number that is not finite, expected a time");
    cycle_ = cycle;
    time_ = time;
    for (const char* const unused : {"pipelines", "parameters"}) {
      const Node node = state.find(unused);
      if (node && node.has_children()) say({node.path() + ": left out, as it is for scripts of ParaView"});
    }
    return true;
  } catch (const Error& error) {
    say({std::string(error.what()) + "; this rank publishes nothing in this iteration"});
    return false;
  }
}

void Coupling::publish(const std::vector<MeshPiece>& pieces) {
  for (const MeshPiece& piece : pieces) {
    if (find(piece.mesh) == nullptr) {
      say({piece.path + ": the mesh '" + piece.mesh +
           "' is left out, since the first execute with a mesh had none of that name on any rank"});
    }
  }
  for (const AgreedMesh& mesh : meshes_) {
    if (mesh.kind >= MeshKind::unstructured && !needs(mesh)) continue;  // it was not read
    std::vector<const MeshPiece*> of_mesh;
    for (const MeshPiece& piece : pieces) {
      if (piece.mesh == mesh.name) of_mesh.push_back(&piece);
    }
    try {
      publish_mesh(mesh, of_mesh);
    } catch (const Error& error) {
      say({error.what()});
    }
  }
}

bool Coupling::start(const std::vector<MeshPiece>& pieces) {
  Problems problems;
  Ranks::check_thread();
  meshes_ = agree(pieces, *ranks_, problems);
  if (ranks_->rank() == 0) say(problems);
  if (meshes_.empty()) return false;
  session_.emplace(interop::open_on_all(*ranks_, configuration_));
  for (const AgreedMesh& mesh : meshes_) declare(mesh);
  session_->start();
  return true;
}

void Coupling::finalize() {
  if (!session_) return;
  Session session = std::move(*session_);
  session_.reset();
  if (failed_) return interop::close_unstarted(std::move(session));  // why it failed has been said
  session.close();
}

void Coupling::report(const Node& results) const {
  if (!session_ || failed_) return;
  for (const auto& [name, type] : session_->steered_parameters()) {
    const std::string path = "catalyst/steerable/" + name, field = "catalyst/steerable/fields/" + name + "/values";
    for (const std::string& place : {path, field}) {
      if (type == Type::int64) {
        conduit().set_path_int64(results.get(), place.c_str(), session_->steered_integer(name));
      } else {
        conduit().set_path_float64(results.get(), place.c_str(), session_->steered_real(name));
      }
    }
  }
}

}  // namespace sidestream::catalyst
