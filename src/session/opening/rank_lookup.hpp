// Finding the ranks of members of another group by their numbers in it, without a list of all.
#pragma once

#include <vector>

#include "sidestream/extend/communicator.hpp"

namespace sidestream {

/// Collective over `all`. Some of its members are numbered from 0; `mine` is this one's number, -1: it has none.
/// Returns the ranks of those that have the numbers `asked`, in that order; each is asked for once. Nobody knows them
/// all: the member of rank n keeps that of number n, and answers those who ask for it.
[[nodiscard]] std::vector<int> look_up_ranks(Communicator& all, int mine, const std::vector<int>& asked);

}  // namespace sidestream
