#include "particles.hpp"

#include <algorithm>
#include <cmath>

namespace universe {

namespace {

/// MPI type of a particle.
class ParticleType {
 public:
  ParticleType() {
    MPI_Type_contiguous(static_cast<int>(sizeof(Particle)), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  ~ParticleType() { MPI_Type_free(&type_); }
  ParticleType(const ParticleType&) = delete;
  ParticleType& operator=(const ParticleType&) = delete;
  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

std::vector<int> places_of(const std::vector<int>& counts) {
  std::vector<int> places(counts.size() + 1, 0);
  for (std::size_t n = 0; n < counts.size(); ++n) places[n + 1] = places[n] + counts[n];
  return places;
}

}  // namespace

double wrapped(double place, int cells) {
  const double n = cells;
  double in = place - n * std::floor(place / n);
  // A tiny negative number is rounded to the upper end.
  if (in >= n) in = 0;
  return in;
}

namespace {

/// The row, or column, that owns each layer of cells.
std::vector<int> owners(int cells, int parts) {
  std::vector<int> owner;
  for (int cell = 0; cell < cells; ++cell) owner.push_back(part_of(cells, parts, cell));
  return owner;
}

}  // namespace

void migrate(const Layout& layout, Particles& particles) {
  const std::vector<int> row = owners(layout.cells(), layout.rows()), column = owners(layout.cells(), layout.columns());
  // Most particles stay: only those that leave are moved.
  std::vector<Particles> leaving(static_cast<std::size_t>(layout.ranks()));
  auto stays = particles.begin();
  for (const Particle& particle : particles) {
    const auto y = static_cast<std::size_t>(particle.place[1]), z = static_cast<std::size_t>(particle.place[2]);
    const int owner = row[y] * layout.columns() + column[z];
    if (owner == layout.rank()) {
      *stays++ = particle;
    } else {
      leaving[static_cast<std::size_t>(owner)].push_back(particle);
    }
  }
  particles.erase(stays, particles.end());
  std::vector<int> count, coming(leaving.size());
  Particles sent;
  for (const Particles& those : leaving) {
    count.push_back(static_cast<int>(those.size()));
    sent.insert(sent.end(), those.begin(), those.end());
  }
  MPI_Alltoall(count.data(), 1, MPI_INT, coming.data(), 1, MPI_INT, layout.comm());
  const std::vector<int> from = places_of(count), to = places_of(coming);
  const std::size_t stayed = particles.size();
  particles.resize(stayed + static_cast<std::size_t>(to.back()));
  const ParticleType type;
  MPI_Alltoallv(sent.data(), count.data(), from.data(), type.get(), particles.data() + stayed, coming.data(), to.data(),
                type.get(), layout.comm());
}

Particles gathered(const Layout& layout, const Particles& particles) {
  const int own = static_cast<int>(particles.size());
  std::vector<int> counts(static_cast<std::size_t>(layout.ranks()));
  MPI_Gather(&own, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, layout.comm());
  const std::vector<int> places = places_of(counts);
  Particles all(layout.rank() == 0 ? static_cast<std::size_t>(places.back()) : 0);
  const ParticleType type;
  MPI_Gatherv(particles.data(), own, type.get(), all.data(), counts.data(), places.data(), type.get(), 0,
              layout.comm());
  std::sort(all.begin(), all.end(), [](const Particle& a, const Particle& b) { return a.id < b.id; });
  return all;
}

}  // namespace universe
