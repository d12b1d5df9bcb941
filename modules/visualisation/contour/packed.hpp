// Arrays of small tuples in the narrower of two types where that suffices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace sidestream {

/// Leaves new elements uninitialised, so that they are not written twice.
template <class T>
struct UnsetAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = UnsetAllocator<U>;
  };
  UnsetAllocator() = default;
  template <class U>
  UnsetAllocator(const UnsetAllocator<U>&) noexcept {}
  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

template <class T>
using UnsetVector = std::vector<T, UnsetAllocator<T>>;

/// Tuples of n values that are read and written as `Wide` and stored as either type. Used like a vector whose elements
/// are copies.
template <class Wide, class Narrow, std::size_t n>
class Packed {
 public:
  using Tuple = std::array<Wide, n>;
  using NarrowTuple = std::array<Narrow, n>;

  class Iterator {
   public:
    Iterator(const Packed& of, std::size_t at) : of_(&of), at_(at) {}
    Tuple operator*() const { return (*of_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const Packed* of_;
    std::size_t at_;
  };

  [[nodiscard]] bool is_narrow() const noexcept { return is_narrow_; }
  /// Chooses the type of storage from now on; there must be no elements.
  void keep_narrow(bool narrow) noexcept { is_narrow_ = narrow; }
  [[nodiscard]] std::size_t size() const noexcept { return is_narrow_ ? narrow_.size() : wide_.size(); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// Changes the size; new elements are uninitialised.
  void resize(std::size_t count) {
    if (is_narrow_) {
      narrow_.resize(count);
    } else {
      wide_.resize(count);
    }
  }
  void reserve(std::size_t count) {
    if (is_narrow_) {
      narrow_.reserve(count);
    } else {
      wide_.reserve(count);
    }
  }
  [[nodiscard]] Tuple operator[](std::size_t at) const noexcept {
    if (!is_narrow_) return wide_[at];
    Tuple tuple;
    for (std::size_t c = 0; c < n; ++c) tuple[c] = static_cast<Wide>(narrow_[at][c]);
    return tuple;
  }
  void set(std::size_t at, const Tuple& tuple) noexcept {
    if (is_narrow_) {
      narrow_[at] = narrowed(tuple);
    } else {
      wide_[at] = tuple;
    }
  }
  void push_back(const Tuple& tuple) {
    if (is_narrow_) {
      narrow_.push_back(narrowed(tuple));
    } else {
      wide_.push_back(tuple);
    }
  }
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size()}; }

  /// All elements in place; empty for the type that is not stored.
  [[nodiscard]] std::span<NarrowTuple> narrow() noexcept { return narrow_; }
  [[nodiscard]] std::span<const NarrowTuple> narrow() const noexcept { return narrow_; }
  [[nodiscard]] std::span<Tuple> wide() noexcept { return wide_; }
  [[nodiscard]] std::span<const Tuple> wide() const noexcept { return wide_; }

  static NarrowTuple narrowed(const Tuple& tuple) noexcept {
    NarrowTuple narrow;
    for (std::size_t c = 0; c < n; ++c) narrow[c] = static_cast<Narrow>(tuple[c]);
    return narrow;
  }

 private:
  bool is_narrow_ = false;
  UnsetVector<Tuple> wide_;
  UnsetVector<NarrowTuple> narrow_;
};

/// Points or directions; float suffices for most files.
using PackedPlaces = Packed<double, float, 3>;
/// Numbers of points.
using PackedCorners = Packed<std::int64_t, std::int32_t, 3>;

}  // namespace sidestream
