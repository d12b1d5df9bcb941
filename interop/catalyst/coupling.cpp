#include "coupling.hpp"

#include <algorithm>
#include <sidestream/error.hpp>
#include <sidestream/values.hpp>
#include <string_view>

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
    problems.push_back(pipeline.path() + ": left out; write files with `outputs:` of the configuration");
  }
  const Node comm = catalyst.find("mpi_comm");
  ranks_ = std::make_unique<Ranks>(comm ? comm.integer() : -1);
  say(problems);
}

Coupling::~Coupling() = default;

std::vector<MeshPiece> Coupling::read_channels(const Node& catalyst) {
  Problems problems;
  std::vector<MeshPiece> all;
  for (const auto& [name, channel] : catalyst.find("channels").children()) {
    try {
      const std::string type = channel.need("type").text();
      const Node data = channel.need("data");
      std::vector<MeshPiece> pieces;
      if (type == "mesh") {
        pieces = read_mesh(data, name, problems);
      } else if (type == "amrmesh") {
        pieces = read_levels(data, name, problems);
      } else if (type == "multimesh") {
        for (const auto& [child, mesh] : data.children()) {
          for (MeshPiece& piece : read_mesh(mesh, name + "_" + child, problems)) pieces.push_back(std::move(piece));
        }
      } else {
        fail_node(channel.find("type"),
                  "found '" + type + "', expected mesh, multimesh or amrmesh; the channel is left out");
      }
      for (MeshPiece& piece : pieces) {
        piece.mesh = as_name(piece.mesh);
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
  std::vector<MeshPiece> pieces;
  if (known) pieces = read_channels(catalyst);
  if (!session_) {
    try {
      start(pieces);
    } catch (const Error& error) {  // the same on all ranks; the simulation goes on without
      failed_ = true;
      if (ranks_->rank() == 0) say({error.what()});
      return false;
    }
  }
  if (known) publish(pieces);
  (void)session_->end_iteration(cycle_, time_);
  return true;
}

bool Coupling::read_state(const Node& catalyst) {
  try {
    const Node state = catalyst.need("state");
    const std::int64_t cycle = (state.find("timestep") ? state.find("timestep") : state.need("cycle")).integer();
    time_ = state.need("time").real();
    cycle_ = cycle;
    return true;
  } catch (const Error& error) {
    say({std::string(error.what()) + "; this rank publishes nothing in this iteration"});
    return false;
  }
}

void Coupling::publish(const std::vector<MeshPiece>& pieces) {
  for (const MeshPiece& piece : pieces) {
    const auto known =
        std::find_if(meshes_.begin(), meshes_.end(), [&](const AgreedMesh& m) { return m.name == piece.mesh; });
    if (known == meshes_.end()) {
      say({piece.path + ": the mesh '" + piece.mesh + "' is left out, since the first execute had none of that name"});
    }
  }
  for (const AgreedMesh& mesh : meshes_) {
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

void Coupling::start(const std::vector<MeshPiece>& pieces) {
  Problems problems;
  Ranks::check_thread();
  meshes_ = agree(pieces, *ranks_, problems);
  if (ranks_->rank() == 0) say(problems);
  session_.emplace(interop::open_on_all(*ranks_, configuration_));
  for (const AgreedMesh& mesh : meshes_) declare(mesh);
  session_->start();
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
