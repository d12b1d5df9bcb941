#include "analyse/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/mpi/agree.hpp"
#include "declaring.hpp"
#include "sidestream/data/catalogue.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"

namespace sidestream::analysing {

void Client::declare(const Metadata& files) {
  for (const Mesh& mesh : files.meshes) {
    if (mesh.owned_points) {
      fail(Code::usage,
           "the mesh '{}' has points that no two blocks share (points: owned), which analyse cannot divide; store a "
           "database and run the analyses by `sidestream replay`",
           mesh.name);
    }
    declare_mesh(session_, files, mesh, "the file");
    if (mesh.fixed) session_.set_fixed(mesh.name);
  }
  for (const Variable& variable : files.variables) {
    const Variable* known = demand_.metadata().find_variable(variable.name);
    const bool needed = known != nullptr && demand_.variables()[static_cast<std::size_t>(known->id)];
    if (needed || variable.role != Role::none) session_.add_variable(files.mesh_of(variable).name, variable);
  }
}

Client::Mapping Client::mapping_of(const Metadata& metadata) const {
  Mapping found;
  found.meshes.assign(metadata.meshes.size(), -1);
  for (const Variable& variable : metadata.variables) {
    const Variable* known = demand_.metadata().find_variable(variable.name);
    const bool needed = known != nullptr && demand_.variables()[static_cast<std::size_t>(known->id)];
    found.variables.push_back(needed ? known->id : -1);
    if (needed) found.meshes[static_cast<std::size_t>(variable.mesh)] = known->mesh;
  }
  for (std::size_t m = 0; m < metadata.meshes.size() && demand_.catalogue(); ++m) {
    const Mesh* known = demand_.metadata().find_mesh(metadata.meshes[m].name);
    if (known != nullptr) found.meshes[m] = known->id;
  }
  return found;
}

/// Bytes of everything that any task needs of each block, so that blocks stay on their clients in all iterations.
std::vector<std::uint64_t> Client::bytes_of_all(const std::vector<Piece>& pieces) const {
  std::vector<std::uint64_t> bytes(pieces.size());
  for (const Variable& variable : demand_.metadata().variables) {
    if (variable.derived() || !demand_.variables()[static_cast<std::size_t>(variable.id)]) continue;
    for (std::size_t n = 0; n < pieces.size(); ++n) {
      if (pieces[n].block.mesh == variable.mesh) bytes[n] += bytes_of(variable, pieces[n].block);
    }
  }
  return bytes;
}

void Client::set_blocks(const std::vector<Piece>& pieces, const std::vector<int>& owner) {
  std::map<std::int32_t, std::vector<Block>> now;
  for (const std::int32_t mesh : with_blocks_) now[mesh];
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    if (owner[n] != clients_.rank()) continue;
    Block& block = now[pieces[n].block.mesh].emplace_back(pieces[n].block);
    if (!block.is_list()) block.bounds = {};
  }
  for (const auto& [mesh, blocks] : now) {
    session_.replace_blocks(demand_.metadata().meshes[static_cast<std::size_t>(mesh)].name, blocks);
    with_blocks_.insert(mesh);
  }
}

void Client::publish(Snapshot& snapshot, std::int32_t stored, const Variable& variable, const Piece& piece) {
  const std::uint64_t bytes = bytes_of(variable, piece.block);
  if (!snapshot.has(stored, piece.stored)) {
    ++missing_[variable.id];
    return;
  }
  values_.resize(std::max<std::uint64_t>(bytes, 1));  // a valid address even for no bytes
  const Type type = snapshot.metadata().variables[static_cast<std::size_t>(stored)].type;
  if (bytes > 0 && type == variable.type) {
    snapshot.read(stored, piece.stored, piece.block, std::span(values_).first(bytes));
  } else if (bytes > 0) {  // 32-bit reals, where other iterations have 64
    std::vector<float> narrow(bytes / sizeof(double));
    snapshot.read(stored, piece.stored, piece.block, std::as_writable_bytes(std::span(narrow)));
    for (std::size_t n = 0; n < narrow.size(); ++n) {
      const double value = narrow[n];
      std::memcpy(values_.data() + n * sizeof value, &value, sizeof value);
    }
  }
  session_.publish(variable.name, piece.block.id,
                   Values(variable.type, values_.data(), bytes / size_of(variable.type)));
  analysed_.bytes += bytes;
}

void Client::publish_all(std::size_t number) {
  const std::unique_ptr<Snapshot> snapshot = sources_.open(number);
  const Mapping mapping = mapping_of(snapshot->metadata());
  // The stored blocks that count, with their new meshes.
  std::vector<Block> blocks;
  std::vector<std::size_t> places;
  const std::vector<Block>& stored = snapshot->blocks();
  for (std::size_t n = 0; n < stored.size(); ++n) {
    const std::int32_t mesh = mapping.meshes[static_cast<std::size_t>(stored[n].mesh)];
    if (mesh < 0) continue;
    blocks.push_back(stored[n]);
    blocks.back().mesh = mesh;
    blocks.back().client = 0;
    places.push_back(n);
  }
  std::vector<Piece> pieces = cut(blocks, demand_.metadata());
  for (Piece& piece : pieces) piece.stored = places[piece.stored];
  const std::vector<int> owner = shares(pieces, bytes_of_all(pieces), clients_.size());
  set_blocks(pieces, owner);
  std::vector<Block> all;
  for (const Piece& piece : pieces) all.push_back(piece.block);
  Iteration when = sources_.iterations()[number].when;
  when.index = static_cast<std::int64_t>(number);
  // The range of a part is the range of the whole stored block.
  const auto range_of = [&](std::int32_t variable, std::size_t piece) -> std::optional<Range> {
    const auto& ids = mapping.variables;
    const auto found = std::find(ids.begin(), ids.end(), variable);
    if (found == ids.end()) return std::nullopt;
    return snapshot->range(static_cast<std::int32_t>(found - ids.begin()), pieces[piece].stored);
  };
  const auto needed = demand_.of(when, all, range_of);
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    if (owner[n] != clients_.rank()) continue;
    for (std::size_t v = 0; v < mapping.variables.size(); ++v) {
      const std::int32_t id = mapping.variables[v];
      if (id < 0 || needed[static_cast<std::size_t>(id)].empty()) continue;
      const Variable& variable = demand_.metadata().variables[static_cast<std::size_t>(id)];
      if (pieces[n].block.mesh != variable.mesh) continue;
      if (selective_ && !needed[static_cast<std::size_t>(id)][n]) continue;
      publish(*snapshot, static_cast<std::int32_t>(v), variable, pieces[n]);
    }
  }
}

/// Logs blocks without values that other blocks have, in one line per variable. If no block has any, servers log it.
void Client::warn_of_missing_points(std::size_t number, const std::map<std::int32_t, std::int64_t>& missing) {
  for (const Variable& variable : demand_.metadata().variables) {
    const auto mine = missing.find(variable.id);
    std::int64_t count = mine == missing.end() ? 0 : mine->second;
    if (!variable.derived() && demand_.variables()[static_cast<std::size_t>(variable.id)]) {
      clients_.sum(std::span(&count, 1));
    }
    if (count == 0 || clients_.rank() != 0) continue;
    log::warning("{}: '{}' has no values on {} blocks", sources_.iterations()[number].where(), variable.name, count);
  }
}

void Client::iterate(std::size_t number) {
  missing_.clear();
  run_collectively(clients_, [&] { publish_all(number); });
  warn_of_missing_points(number, missing_);
  const Iteration& when = sources_.iterations()[number].when;
  // With `on_error: stop` clients may learn of a failure at different times; they leave together.
  run_collectively(clients_, [&] { session_.end_iteration(when.cycle, when.time); });
  ++analysed_.iterations;
}

}  // namespace sidestream::analysing
