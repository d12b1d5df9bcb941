// Writing contexts: what the servers do together. docs/database.md has the states.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sidestream/data/block.hpp"
#include "sidestream/extend/communicator.hpp"
#include "storage/database/chunk_batch.hpp"
#include "storage/database/retention.hpp"
#include "storage/database/schema.hpp"
#include "storage/database/stagger.hpp"
#include "storage/database/table.hpp"

namespace sidestream {
class DirectoryLock;
}

namespace sidestream::database {

struct StoringOptions {
  std::string directory;
  Kind kind = Kind::checkpoint;
  int contributors_per_file = 0;  ///< 0: all of a node
  std::uint64_t max_file_size = 0;
  bool flush = true;
  int keep = 0;  ///< contexts of this run; 0: all
  bool show = true;
  bool stagger = false;  ///< servers write one after the other
};

/// What a server has of an iteration, until it is stored. Values that go through codecs are held encoded, others are
/// read where they are.
class Domain {
 public:
  /// Adds one variable on one block. `variable` counts in the schema; `view` stays until the domain is stored.
  void add(std::uint32_t variable, const Variable& declared, const BlockView& view, const Packing& packing,
           const Encoding& encoding);

  struct Piece {
    PieceRow row;
    const BlockView* view = nullptr;
    Box points;
    Order order = Order::column;
    Bytes encoded;
    bool is_encoded = false;
  };
  [[nodiscard]] std::vector<Piece>& pieces() noexcept { return pieces_; }
  [[nodiscard]] DomainRows& rows() noexcept { return rows_; }
  /// Of values, in the segments.
  [[nodiscard]] std::uint64_t stored_bytes() const noexcept;
  [[nodiscard]] std::uint64_t raw_bytes() const noexcept { return raw_bytes_; }
  /// Writes a piece that is not encoded with `put(offset in the piece, bytes)`, chunk by chunk, and notes checksums.
  void write_raw(Piece& piece, const std::function<void(std::uint64_t, BytesView)>& put);

 private:
  std::uint32_t block_row(const Block& block);

  DomainRows rows_;
  std::unordered_map<std::uint64_t, std::uint32_t> row_numbers_;  ///< of blocks, by their checksums
  std::vector<Piece> pieces_;
  std::uint64_t raw_bytes_ = 0;
};

/// One server's end of a database that is written.
class Storing {
 public:
  explicit Storing(StoringOptions options);
  ~Storing();
  Storing(const Storing&) = delete;
  Storing& operator=(const Storing&) = delete;

  /// Collective over `servers`, always the same group. Writes and commits a context, or throws Error(file) on all; then
  /// nothing points to what was written.
  void store(Communicator& servers, Domain& domain, const Schema& schema, const Iteration& iteration);

 private:
  /// The groups that this server is in, made once.
  struct Groups {
    std::unique_ptr<Communicator> mine;     ///< who shares files
    std::unique_ptr<Communicator> leaders;  ///< their first members; null on others
    std::uint32_t number = 0;               ///< of the group
  };
  struct Allotted {
    std::uint32_t number = 0;
    std::uint64_t offset = 0;
  };
  void open(Communicator& servers);
  void make_groups(Communicator& servers);
  void begin_run();
  void flush_name();
  [[nodiscard]] Allotted allot(std::uint64_t size);
  [[nodiscard]] std::string path(std::uint32_t number) const;
  [[nodiscard]] std::string place(Domain& domain);
  void write_values(Domain& domain);
  struct Report;
  void write_table(Domain& domain, const std::string& failure, Report& report);
  [[nodiscard]] GroupEntry put_table(const std::vector<Bytes>& domains, Report& report);
  void renew_faces();
  void flush_segments();
  void commit(Entry& entry, const std::vector<Bytes>& reports, const Schema& schema);
  void put_record(Entry& entry, const std::vector<GroupEntry>& groups, const Schema& schema);
  void after_commit(const Entry& entry);
  void remove_surplus(std::uint64_t slot);

  StoringOptions options_;
  std::optional<Groups> groups_;
  std::uint32_t run_ = 0;
  // Of the leader of a group: the segment that grows, how far what is committed reaches in it, and how far this
  // context.
  std::uint32_t number_ = 0, first_ = 0;
  std::uint64_t end_ = 0, committed_end_ = 0;
  std::uint32_t committed_number_ = 0;
  std::uint32_t made_ = 0;          ///< segments that exist
  bool name_flushed_ = true;        ///< of the last of them
  bool perhaps_committed_ = false;  ///< what is stored now: places that it has are not given away again
  std::uint64_t next_slot_ = 0;     ///< of the first server
  Stagger stagger_;
  Retention retention_;
  std::unique_ptr<DirectoryLock> lock_;  ///< of the first server
};

}  // namespace sidestream::database
