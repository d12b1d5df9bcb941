// Surfaces that are read value by value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "sidestream/data/result.hpp"

namespace sidestream {

/// A surface whose owner gives its values in portions. So a large surface can be written without a second copy in
/// memory. Every function may be called more than once, in any order, and gives the same values each time.
class SurfaceStream {
 public:
  /// Receives the next values of the requested array, in memory order; they are invalid after it returns.
  using Sink = std::function<void(std::span<const std::byte>)>;

  virtual ~SurfaceStream() = default;
  /// Names and types of the arrays; all arrays in it are empty.
  [[nodiscard]] virtual const Surface& outline() const = 0;
  [[nodiscard]] virtual std::uint64_t points() const = 0;
  [[nodiscard]] virtual std::uint64_t triangles() const = 0;
  [[nodiscard]] virtual std::uint64_t lines() const = 0;
  virtual void give_points(const Sink& sink) const = 0;                   ///< values of the type outline().coordinates
  virtual void give_triangles(const Sink& sink) const = 0;                ///< values of corner_type()
  virtual void give_lines(const Sink& sink) const = 0;                    ///< values of corner_type()
  virtual void give_data(std::size_t array, const Sink& sink) const = 0;  ///< values of that array's type

  /// int32 if it can number the points and the corners, otherwise int64.
  [[nodiscard]] Type corner_type() const {
    constexpr std::uint64_t most = 0x7fffffff;
    return points() <= most && 3 * triangles() + 2 * lines() <= most ? Type::int32 : Type::int64;
  }
};

/// Presents a surface in memory as a stream; keeps a reference.
class WholeSurface final : public SurfaceStream {
 public:
  explicit WholeSurface(const Surface& surface);
  [[nodiscard]] const Surface& outline() const override { return outline_; }
  [[nodiscard]] std::uint64_t points() const override { return surface_.points.size(); }
  [[nodiscard]] std::uint64_t triangles() const override { return surface_.triangles.size(); }
  [[nodiscard]] std::uint64_t lines() const override { return surface_.lines.size(); }
  void give_points(const Sink& sink) const override;
  void give_triangles(const Sink& sink) const override;
  void give_lines(const Sink& sink) const override;
  void give_data(std::size_t array, const Sink& sink) const override;

 private:
  const Surface& surface_;
  Surface outline_;
};

/// Reads the whole stream into memory.
[[nodiscard]] Surface collected(const SurfaceStream& stream);

}  // namespace sidestream
