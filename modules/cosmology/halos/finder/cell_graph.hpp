// The contract between the halo finder and the cells of a mesh.
//
// Halos are the connected components of a graph: its nodes are the cells whose value reaches a threshold, its edges the
// pairs of neighbours. The finder (../halos.cpp) is one sequence of stages for every graph. A graph knows this server's
// cells, the neighbours among them, and the boundary pieces beyond which other servers may continue.
//
// - `Cell`: a cell of the mesh. `Id`: identifies it in the whole mesh; ascending identifiers break ties and sort
//   tables. `id_of(cell)` and `cell_of(id)` convert.
// - `Piece`: connected cells that are stored and sent as one: a run of cells of a row (RunGraph), or one cell of a
//   level (AmrGraph). `cells()` is their number. `Source`: the place of a piece's values on this server.
// - `Domain`: a set of pieces that is searched at once, a box or all pieces of a server. It has its `pieces()`, the
//   `sets()` of connected pieces that these belong to, numbered in the order of their first pieces, and `boundary()`.
// - `BoundaryPiece`: a piece next to which other domains may continue, with its set or part as `part`; or, with ~part,
//   a place where that part continues if any domain has a piece there. `meetings` matches pieces and places.
// - `HaloSums`: sums over the cells of a halo whose peak is known. `PartSums`: sums of a part, by plane. `MergedSums`
//   adds up the output of PartSums, and finishes once the peak is known.
// - `Blocks` visits the cells near a halo. `Owners` gives the servers that keep a piece between iterations.
//   `HaloLookup` finds the halo of a particle's `Location` among kept pieces, `ParticleFilter` the location of a
//   particle.
// - Lengths are in the graph's own unit, volumes in units of `unit_volume()`: a cell's volume if all cells are equal
//   (`equal_cells`).
#pragma once

#include <concepts>
#include <type_traits>
#include <vector>

#include "cosmology/halos/finder/halo.hpp"
#include "cosmology/halos/finder/merge_components.hpp"
#include "sidestream/extend/task.hpp"

namespace sidestream::halos {

/// A server's cells above a threshold as pieces, in sets of connected pieces.
template <class Domain, class Graph>
concept CellDomain = requires(const Domain& domain, std::uint32_t piece,
                              void (*visit)(const typename Graph::Cell&, double)) {
  { domain.pieces() } -> std::same_as<const std::vector<typename Graph::Piece>&>;
  { domain.sets() } -> std::same_as<const std::vector<std::uint32_t>&>;
  { domain.set_count() } -> std::convertible_to<std::size_t>;
  { domain.boundary() } -> std::same_as<const std::vector<typename Graph::BoundaryPiece>&>;
  { domain.source(piece) } -> std::same_as<typename Graph::Source>;
  { domain.first_cell(piece) } -> std::convertible_to<typename Graph::Cell>;
  domain.for_each_cell(piece, visit);
};

/// Cells of a mesh and their neighbours, as far as the finder needs them.
template <class Graph>
concept CellGraph = std::is_trivially_copyable_v<typename Graph::Id> &&
    std::is_trivially_copyable_v<typename Graph::Piece> &&
    std::is_trivially_copyable_v<typename Graph::BoundaryPiece> && CellDomain<typename Graph::Domain, Graph> &&
    std::is_trivially_copyable_v<typename Graph::Location> &&
    requires(const Graph& graph, const typename Graph::Cell& cell, const typename Graph::Id& id,
             const LocalInput& input, const std::vector<typename Graph::BoundaryPiece>& boundary,
             const PartNumbers& numbers, Communicator& servers, std::size_t axis, double length,
             void (*visit)(const typename Graph::Domain&)) {
  { Graph::equal_cells } -> std::convertible_to<bool>;
  { graph.id_of(cell) } -> std::same_as<typename Graph::Id>;
  { graph.cell_of(id) } -> std::same_as<typename Graph::Cell>;
  { id < id } -> std::same_as<bool>;
  // Calls a function for each domain of this server with its pieces above a threshold.
  graph.for_each_domain(input, length, true, visit);
  // Pairs of parts that touch; collective.
  { graph.meetings(boundary, numbers, servers) } -> std::same_as<std::vector<PartPair>>;
  { graph.unit_volume() } -> std::same_as<double>;
  { graph.whole_volume() } -> std::same_as<double>;
  // Position of a place `length` above the middle of a cell, wrapped into a periodic mesh if the last is true.
  { graph.position(axis, cell, length, true) } -> std::same_as<double>;
};

}  // namespace sidestream::halos
