// The names of the files in a stream's directory.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace sidestream::staging::names {

inline constexpr const char* announcement = "stream.yaml";
inline constexpr const char* opening = "opening";  ///< a simulation is about to start
inline constexpr const char* declarations = "declarations";
inline constexpr const char* writer_beat = "beat-writer";

inline constexpr const char* reader = "reader-";        ///< + epoch: reads
inline constexpr const char* gone = "gone-";            ///< + epoch: was given up by the writers
inline constexpr const char* step = "step-";            ///< + iteration: offered
inline constexpr const char* done = "done-";            ///< + iteration: acknowledged
inline constexpr const char* withdrawn = "withdrawn-";  ///< + iteration: taken back
inline constexpr const char* outcome = "outcome-";      ///< + iteration: what the reader says of it

[[nodiscard]] inline std::string of(const char* prefix, std::int64_t number) {
  return fmt::format("{}{}", prefix, number);
}
[[nodiscard]] inline std::string reader_beat(std::int64_t epoch) { return fmt::format("beat-reader-{}", epoch); }

}  // namespace sidestream::staging::names
