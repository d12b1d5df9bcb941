// The server's end of spilling: reads blocks back when their iteration's turn comes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/extend/transport.hpp"
#include "transport/shared_memory/spill/spill_file.hpp"

namespace sidestream::shared_memory {

/// Reads the spill files of all clients of a server; for one thread.
class SpillReader {
 public:
  /// Registers a block of `client` at `offset` of its file, which is entry `number` of the inbox of `iteration`.
  void add(std::int64_t iteration, std::size_t client, std::uint64_t offset, std::size_t number);
  /// Reads all spilled blocks of the iteration and puts their addresses into its inbox. `path_of`: a client's file.
  /// Returns what is wrong with one, empty if nothing. After bad_alloc it may be called again and continues. Later
  /// calls do nothing.
  [[nodiscard]] std::string load(std::int64_t iteration, Inbox& inbox,
                                 const std::function<std::string(std::size_t client)>& path_of);
  /// Forgets the iteration and frees its memory.
  void drop(std::int64_t iteration) { waiting_.erase(iteration), loaded_.erase(iteration); }
  [[nodiscard]] bool waits(std::int64_t iteration) const { return waiting_.contains(iteration); }

 private:
  struct Entry {
    std::size_t client;
    std::uint64_t offset;
    std::size_t number;
  };
  [[nodiscard]] int file_of(std::size_t client, const std::string& path);
  void read(const Entry& entry, std::int64_t iteration, Inbox& inbox, const std::string& path);

  std::map<std::int64_t, std::vector<Entry>> waiting_;
  std::map<std::int64_t, std::vector<AlignedBytes>> loaded_;
  std::map<std::size_t, Descriptor> files_;
};

}  // namespace sidestream::shared_memory
