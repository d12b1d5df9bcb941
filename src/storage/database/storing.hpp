// Writes contexts, all servers together. docs/database.md has the states.
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
  int contributors_per_file = 0;  ///< 0: all of a node
  std::uint64_t max_file_size = 0;
  bool flush = true;
  int keep = 0;  ///< contexts of this run; 0: all
  bool show = true;
  bool preallocate = true;
  bool stagger = false;                             ///< servers write one after the other
  std::shared_ptr<const OutputDirectory> output{};  ///< says how many servers write at a time, and on which stripes
};

/// One server of those that write a database.
class Storing {
 public:
  explicit Storing(StoringOptions options);
  ~Storing();
  Storing(const Storing&) = delete;
  Storing& operator=(const Storing&) = delete;

  /// Collective over `servers`, always the same group. Writes and commits a context, or throws Error(file) on all; then
  /// nothing points to what was written.
  void store(Communicator& servers, Domain& domain, const Schema& schema, const Iteration& iteration);

  /// Fills an empty domain with part number `part` of what this server has.
  using Filling = std::function<void(int part, Domain& domain)>;
  /// The same of more than memory holds: `fill` is asked for one part after the other, the same number of them on all
  /// servers, each of which may be empty; what a part has is given up when it is written. Of what `fill` throws the
  /// sentence reaches all servers. The schema is looked at when all parts are written.
  void store(Communicator& servers, int parts, const Filling& fill, const Schema& schema, const Iteration& iteration);

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
  // The leader of a group keeps the number of the growing segment, and the ends of committed bytes and of this context
  // in it.
  std::uint32_t number_ = 0, first_ = 0;
  bool any_placed_ = false;  ///< a piece of this context has its place
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
