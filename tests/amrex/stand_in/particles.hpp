// Stands in for the framework AMReX in tests: containers of particles. See boxes.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "boxes.hpp"

namespace amrex {

/// A bit for the sign of the id (set: positive), 39 bits of the id, and 24 of the rank that made the particle.
inline std::uint64_t SetParticleIDandCPU(Long id, int cpu) {
  const std::uint64_t sign = id < 0 ? 0 : std::uint64_t{1} << 63, size = static_cast<std::uint64_t>(id < 0 ? -id : id);
  return sign | size << 24 | static_cast<std::uint64_t>(cpu);
}
inline Long id_from(std::uint64_t packed) {
  const auto id = static_cast<Long>(packed >> 24 & 0x7fffffffffu);
  return packed >> 63 != 0 ? id : -id;
}
inline int cpu_from(std::uint64_t packed) { return static_cast<int>(packed & 0xffffffu); }

struct ParticleIDWrapper {
  std::uint64_t& packed;
  operator Long() const { return id_from(packed); }  // NOLINT(google-explicit-constructor)
  ParticleIDWrapper& operator=(Long id) {
    packed = SetParticleIDandCPU(id, cpu_from(packed));
    return *this;
  }
};
struct ParticleCPUWrapper {
  std::uint64_t& packed;
  operator int() const { return cpu_from(packed); }  // NOLINT(google-explicit-constructor)
  ParticleCPUWrapper& operator=(int cpu) {
    packed = SetParticleIDandCPU(id_from(packed), cpu);
    return *this;
  }
};
struct ConstParticleIDWrapper {
  std::uint64_t packed;
  operator Long() const { return id_from(packed); }  // NOLINT(google-explicit-constructor)
};
struct ConstParticleCPUWrapper {
  std::uint64_t packed;
  operator int() const { return cpu_from(packed); }  // NOLINT(google-explicit-constructor)
};

template <int Reals, int Integers>
struct Particle {
  static constexpr bool is_soa_particle = false;
  static constexpr int NReal = Reals, NInt = Integers;
  ParticleIDWrapper id() & { return {packed}; }
  ParticleCPUWrapper cpu() & { return {packed}; }
  ConstParticleIDWrapper id() const& { return {packed}; }
  ConstParticleCPUWrapper cpu() const& { return {packed}; }
  ParticleReal& pos(int axis) & { return place[axis]; }
  ParticleReal pos(int axis) const& { return place[axis]; }
  ParticleReal& rdata(int n) & { return reals[n]; }
  ParticleReal rdata(int n) const& { return reals[n]; }
  int& idata(int n) & { return integers[n]; }
  int idata(int n) const& { return integers[n]; }

  std::uint64_t packed = 0;
  ParticleReal place[AMREX_SPACEDIM] = {};
  ParticleReal reals[Reals > 0 ? Reals : 1] = {};
  int integers[Integers > 0 ? Integers : 1] = {};
};
template <int Reals, int Integers>
struct SoAParticle {
  static constexpr bool is_soa_particle = true;
  static constexpr int NReal = 0, NInt = 0;
};

struct StructOfArrays {
  std::vector<std::uint64_t> packed;
  std::vector<std::vector<ParticleReal>> reals;
  std::vector<std::vector<int>> integers;
  std::vector<std::uint64_t>& GetIdCPUData() { return packed; }
  const std::vector<ParticleReal>& GetRealData(int n) const { return reals[static_cast<std::size_t>(n)]; }
  const std::vector<int>& GetIntData(int n) const { return integers[static_cast<std::size_t>(n)]; }
};

template <class P>
class ParticleTile {
 public:
  void define(int reals, int integers) {
    arrays_.reals.resize(static_cast<std::size_t>(reals));
    arrays_.integers.resize(static_cast<std::size_t>(integers));
  }
  int numParticles() const { return static_cast<int>(P::is_soa_particle ? arrays_.packed.size() : structures_.size()); }
  const std::vector<P>& GetArrayOfStructs() const { return structures_; }
  const StructOfArrays& GetStructOfArrays() const { return arrays_; }
  StructOfArrays& GetStructOfArrays() { return arrays_; }
  void push_back(const P& particle) { structures_.push_back(particle); }
  void push_back_real(int n, ParticleReal value) { arrays_.reals[static_cast<std::size_t>(n)].push_back(value); }
  void push_back_int(int n, int value) { arrays_.integers[static_cast<std::size_t>(n)].push_back(value); }
  ConstParticleIDWrapper id(int n) const { return {arrays_.packed[static_cast<std::size_t>(n)]}; }
  ConstParticleCPUWrapper cpu(int n) const { return {arrays_.packed[static_cast<std::size_t>(n)]}; }

 private:
  std::vector<P> structures_;
  StructOfArrays arrays_;
};

template <class T>
struct HostAllocator {};
template <class T>
struct DeviceArenaAllocator {};
template <class Allocator>
struct RunOnGpu : std::false_type {};
template <class T>
struct RunOnGpu<DeviceArenaAllocator<T>> : std::true_type {};

template <class P, int Reals, int Integers, template <class> class Allocator = HostAllocator>
class ParticleContainer_impl {
 public:
  using ParticleType = P;
  template <class T>
  using AllocatorType = Allocator<T>;
  using ParticleTileType = ParticleTile<P>;
  using ParticleLevel = std::map<std::pair<int, int>, ParticleTileType>;
  static constexpr int NStructReal = P::NReal, NStructInt = P::NInt, NArrayReal = Reals, NArrayInt = Integers;

  ParticleContainer_impl(const Vector<Geometry>& /*geometries*/, const Vector<DistributionMapping>& owners,
                         const Vector<BoxArray>& boxes, const Vector<IntVect>& /*ratios*/)
      : owners_(owners), boxes_(boxes), levels_(static_cast<std::size_t>(boxes.size())) {}
  const Vector<ParticleLevel>& GetParticles() const { return levels_; }
  ParticleTileType& DefineAndReturnParticleTile(int level, int grid, int tile) {
    auto [at, is_new] = levels_[static_cast<std::size_t>(level)].try_emplace({grid, tile});
    if (is_new) at->second.define(NumRealComps(), NumIntComps());
    return at->second;
  }
  void AddRealComp(int /*communicate*/ = 1) { ++more_reals_; }
  int NumRealComps() const { return Reals + more_reals_; }
  int NumIntComps() const { return Integers; }
  int finestLevel() const { return static_cast<int>(boxes_.size()) - 1; }
  const BoxArray& ParticleBoxArray(int level) const { return boxes_[static_cast<std::size_t>(level)]; }

 private:
  Vector<DistributionMapping> owners_;
  Vector<BoxArray> boxes_;
  Vector<ParticleLevel> levels_;
  int more_reals_ = 0;
};
template <int StructReals, int StructIntegers, int Reals = 0, int Integers = 0,
          template <class> class Allocator = HostAllocator>
using ParticleContainer = ParticleContainer_impl<Particle<StructReals, StructIntegers>, Reals, Integers, Allocator>;
template <int Reals, int Integers, template <class> class Allocator = HostAllocator>
using ParticleContainerPureSoA = ParticleContainer_impl<SoAParticle<Reals, Integers>, Reals, Integers, Allocator>;

}  // namespace amrex
