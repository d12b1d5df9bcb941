// Readers of databases and other files get bytes that nobody wrote. They may only refuse them with Error(file).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sidestream/extend/communicator.hpp"

namespace sidestream::fuzz {

struct Target {
  const char* name;  ///< also the name of the folder of its corpus
  /// Reads the input; throws only if the reader has an error.
  void (*run)(BytesView input);
};

/// All of them.
[[nodiscard]] std::span<const Target> targets() noexcept;

void run_contexts(BytesView input);     ///< the file of slots
void run_expressions(BytesView input);  ///< texts of configurations
void run_record(BytesView input);       ///< a record, with the JSON in it
void run_json(BytesView input);         ///< only the JSON
void run_tables(BytesView input);       ///< tables of blocks, pieces and chunks, and the values behind them
void run_chunk(BytesView input);        ///< encoded chunks
void run_tree_values(BytesView input);  ///< streams of octrees' values; only with the module amr_codec
void run_tree_flags(BytesView input);   ///< packed flags of octrees
void run_damaris(BytesView input);      ///< XML of Damaris; only where the tool translates it

/// Runs `read`, which may throw Error(file).
template <class Read>
void refused_or_read(Read&& read);

}  // namespace sidestream::fuzz

#include "sidestream/error.hpp"

template <class Read>
void sidestream::fuzz::refused_or_read(Read&& read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.code() != Code::file) throw;
  }
}
