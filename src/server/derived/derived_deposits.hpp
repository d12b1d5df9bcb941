// Deposits of particles on the cells of a mesh, for derived variables.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "data/derivation.hpp"
#include "server/derived/derived_field.hpp"
#include "server/redistribution/exchange_plan.hpp"
#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Densities in the cells of a region, by deposit.
using DepositedParts = std::map<Deposit, DerivedField>;

/// Computes the density of all servers' particles in each of this server's regions. Collective, with the same deposit
/// and mesh on all servers; the number of regions may differ. Regions may extend beyond the faces of periodic axes. The
/// shares of every cell are added exactly and rounded once, so that the result is the same bits however particles and
/// regions are divided. Meanwhile each server keeps an equal share of the mesh's planes, and receives the particles
/// that contribute to them. Throws the same error on all servers.
[[nodiscard]] std::vector<DerivedField> deposited(const Deposit& deposit, const Metadata& metadata, const Mesh& mesh,
                                                  const Views& views, std::span<const Box> regions,
                                                  Communicator& servers);

}  // namespace sidestream
