// Particles that are put on the cells of a mesh, for derived variables.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "data/derivation.hpp"
#include "server/derived/derived_field.hpp"
#include "server/redistribution/redistribution.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Of a region, by deposit: densities in its cells.
using DepositedParts = std::map<Deposit, DerivedField>;

/// Collective, with the same deposit and mesh everywhere: of each of this server's regions the density of all servers'
/// particles, as many for each as wanted. Regions may go on beyond the ends of periodic axes. Every cell's shares are
/// added up exactly and rounded once: the same bits however particles and regions are divided. Each server keeps some
/// planes of the mesh meanwhile, as many as the others, and gets the particles that give something to them. Throws on
/// all alike.
[[nodiscard]] std::vector<DerivedField> deposited(const Deposit& deposit, const Metadata& metadata, const Mesh& mesh,
                                                  const Views& views, std::span<const Box> regions,
                                                  Communicator& servers);

}  // namespace sidestream
