#include "copy_plan.hpp"

#include <map>

namespace advection {

namespace {

constexpr int copy_tag = 17;

using Messages = std::map<int, std::vector<double>>;  // by the other rank

// Shifts along an axis by which a source may meet the target.
std::vector<Index> shifts_along(const Box& target, const Period& period, std::size_t axis) {
  std::vector<Index> shifts{0};
  if (period[axis] == 0) return shifts;
  // Faces are at both ends.
  if (target.lo[axis] <= 0) shifts.push_back(-period[axis]);
  if (target.hi[axis] >= period[axis]) shifts.push_back(period[axis]);
  return shifts;
}

}  // namespace

CopyPlan::CopyPlan(MPI_Comm comm, std::span<const Owned> from, std::span<const Owned> to, const Period& period)
    : comm_(comm) {
  MPI_Comm_rank(comm, &rank_);
  for (std::size_t t = 0; t < to.size(); ++t) add(from, t, to[t], period);
}

void CopyPlan::add(std::span<const Owned> from, std::size_t number, const Owned& to, const Period& period) {
  for (const Index z : shifts_along(to.box, period, 2)) {
    for (const Index y : shifts_along(to.box, period, 1)) {
      for (const Index x : shifts_along(to.box, period, 0)) {
        const Index3 shift{x, y, z};
        for (std::size_t s = 0; s < from.size(); ++s) {
          if (from[s].owner != rank_ && to.owner != rank_) continue;
          const Box both = intersection(to.box, shifted(from[s].box, shift));
          if (!both.empty()) parts_.push_back({s, number, both, shift, from[s].owner, to.owner});
        }
      }
    }
  }
}

void CopyPlan::run(std::span<const Field* const> from, std::span<Field* const> to) const {
  Messages sent, received;
  std::map<int, std::size_t> read;
  const auto value = [&](const Part& part, Index i, Index j, Index k) {
    return from[part.from]->at(i - part.shift[0], j - part.shift[1], k - part.shift[2]);
  };
  for (const Part& part : parts_) {
    if (part.sender == part.receiver) continue;
    if (part.receiver == rank_) {
      std::vector<double>& values = received[part.sender];
      values.resize(values.size() + static_cast<std::size_t>(part.box.count()));
    } else {
      std::vector<double>& values = sent[part.receiver];
      for_each(part.box, [&](Index i, Index j, Index k) { values.push_back(value(part, i, j, k)); });
    }
  }
  std::vector<MPI_Request> requests;
  for (auto& [rank, values] : received) {
    MPI_Irecv(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, rank, copy_tag, comm_,
              &requests.emplace_back());
  }
  for (auto& [rank, values] : sent) {
    MPI_Isend(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, rank, copy_tag, comm_,
              &requests.emplace_back());
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (const Part& part : parts_) {
    if (part.receiver != rank_) continue;
    Field& target = *to[part.to];
    if (&target == from[part.from] && part.shift == Index3{0, 0, 0}) continue;  // already there
    if (part.sender == rank_) {
      for_each(part.box, [&](Index i, Index j, Index k) { target.at(i, j, k) = value(part, i, j, k); });
      continue;
    }
    const std::vector<double>& values = received[part.sender];
    std::size_t& next = read[part.sender];
    for_each(part.box, [&](Index i, Index j, Index k) { target.at(i, j, k) = values[next++]; });
  }
}

}  // namespace advection
