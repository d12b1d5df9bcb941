// Writing of contexts by all servers together. docs/database.md has the states.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sidestream/extend/communicator.hpp"
#include "storage/database/domain.hpp"
#include "storage/database/journal.hpp"
#include "storage/database/retention.hpp"
#include "storage/database/schema.hpp"
#include "storage/database/table.hpp"
#include "storage/files/stagger.hpp"

namespace sidestream {
class DirectoryLock;
class OutputDirectory;
}  // namespace sidestream

namespace sidestream::database {

struct GroupReport;
struct WrittenRows;

struct StoringOptions {
  std::string directory;
  Kind kind = Kind::checkpoint;
  int contributors_per_file = 0;  ///< 0: all servers of a node
  std::uint64_t max_file_size = 0;
  bool flush = true;
  int keep = 0;  ///< number of this run's contexts to keep; 0: all
  bool show = true;
  bool preallocate = true;
  bool stagger = false;                             ///< servers write one after the other
  std::shared_ptr<const OutputDirectory> output{};  ///< limits concurrent writers, and chooses stripes
};

/// Stores contexts; one object on each server that writes the database.
class Storing {
 public:
  explicit Storing(StoringOptions options);
  ~Storing();
  Storing(const Storing&) = delete;
  Storing& operator=(const Storing&) = delete;

  /// Writes and commits a context. Collective over `servers`, always the same group. Throws Error(file) on all if it
  /// fails; nothing then refers to the written bytes.
  void store(Communicator& servers, Domain& domain, const Schema& schema, const Iteration& iteration);

  /// Fills an empty domain with this server's part number `part`.
  using Filling = std::function<void(int part, Domain& domain)>;
  /// Stores a context that exceeds memory. `fill` is called for one part after the other; the number of parts is the
  /// same on all servers, and parts may be empty. A part's memory is freed when the part is written. The message of an
  /// exception of `fill` reaches all servers. The schema is used after all parts are written.
  void store(Communicator& servers, int parts, const Filling& fill, const Schema& schema, const Iteration& iteration);

 private:
  /// The groups of this server, made once.
  struct Groups {
    std::unique_ptr<Communicator> mine;     ///< the servers that share files
    std::unique_ptr<Communicator> leaders;  ///< their first members; null on others
    std::uint32_t number = 0;               ///< number of the group
  };
  struct Allotted {
    std::uint32_t number = 0;
    std::uint64_t offset = 0;
  };
  /// A range of bytes in a segment.
  struct Extent {
    std::uint64_t begin = 0, end = 0;
  };
  void open(Communicator& servers);
  void begin_context();
  void make_groups(Communicator& servers);
  void begin_run();
  void flush_name();
  [[nodiscard]] Allotted allot(std::uint64_t size);
  [[nodiscard]] std::string path(std::uint32_t number) const;
  void reserve(std::uint32_t number, const Extent& extent) const;
  [[nodiscard]] std::string place(Domain& domain);
  void write_values(Domain& domain);
  [[nodiscard]] std::string write_part(Communicator& servers, Domain& domain);
  void make_segment(std::uint32_t number);
  void finish(Communicator& servers, const WrittenRows& mine, std::string failure, const Schema& schema,
              const Iteration& iteration);
  void write_table(const WrittenRows& mine, const std::string& failure, GroupReport& report);
  [[nodiscard]] GroupEntry put_table(const std::vector<Bytes>& domains, GroupReport& report);
  void renew_faces();
  void flush_segments();
  void commit(Entry& entry, const std::vector<Bytes>& reports, const Schema& schema);
  void put_record(Entry& entry, const std::vector<GroupEntry>& groups, const Schema& schema);
  void after_commit(const Entry& entry);
  void remove_surplus(std::uint64_t slot);

  StoringOptions options_;
  std::optional<Groups> groups_;
  std::uint32_t run_ = 0;
  // Kept by the leader of a group: number of the growing segment, and in it the ends of the committed bytes and of this
  // context.
  std::uint32_t number_ = 0, first_ = 0;
  bool any_placed_ = false;  ///< true if a piece of this context has its place
  std::uint64_t end_ = 0, committed_end_ = 0;
  std::uint32_t committed_number_ = 0;
  std::uint32_t made_ = 0;          ///< number of segments that exist
  bool name_flushed_ = true;        ///< true if the name of the last segment is flushed
  bool perhaps_committed_ = false;  ///< true if the current context may be committed: its places are not reused
  std::uint64_t next_slot_ = 0;     ///< on the first server
  Stagger stagger_;
  Retention retention_;
  std::unique_ptr<DirectoryLock> lock_;  ///< on the first server
};

}  // namespace sidestream::database
