// Storing of a context: the servers of a group share segments, and the group's leader allots places in them.
//
// 1. place: members send the sizes of their pieces; the leader answers with places. write_values: each writes them.
// 2. write_table: the leader writes the group's table behind them, and flushes the segments.
// 3. commit, on the first server: writes the record, then appends the slot, which makes the context visible.
// 4. after_commit and remove_surplus: show the context, and remove contexts beyond `keep`.
// A failure before the slot leaves the bytes to the next context (finish).
#include "storage/database/storing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "base/mpi/communicator.hpp"
#include "base/paths.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "sidestream/kit/storage/results/agreed_commit.hpp"
#include "storage/database/joined_writes.hpp"
#include "storage/database/journal.hpp"
#include "storage/database/segment.hpp"
#include "storage/database/show.hpp"
#include "storage/files/output_directory.hpp"
#include "storage/hdf5/properties.hpp"

namespace sidestream::database {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t large_piece = 16 * page;  ///< a page more or less is negligible here

/// Throws the first failure of any member on all. Collective.
void agree(Communicator& servers, const std::string& failure) {
  const std::vector<Bytes> gathered = servers.gather(std::as_bytes(std::span(failure)), 0);
  Bytes agreed;
  for (const Bytes& text : gathered) {
    if (agreed.empty()) agreed = text;
  }
  servers.broadcast(agreed, 0);
  if (!agreed.empty()) throw Error(Code::file, {reinterpret_cast<const char*>(agreed.data()), agreed.size()});
}

}  // namespace

Storing::Storing(StoringOptions options) : options_(std::move(options)), retention_(options_.directory) {}
Storing::~Storing() = default;

std::string Storing::path(std::uint32_t number) const {
  return (fs::path(options_.directory) / segment_name(run_, groups_->number, number)).string();
}

void Storing::make_groups(Communicator& servers) {
  Groups groups;
  const auto all = MpiCommunicator::over(*static_cast<MPI_Comm*>(servers.native()));
  auto node = all->split_by_node();
  if (options_.contributors_per_file > 0) {
    groups.mine = node->split(node->rank() / options_.contributors_per_file);
  } else {
    groups.mine = std::move(node);
  }
  groups.leaders = servers.split(groups.mine->rank() == 0 ? 0 : -1);
  Bytes number;
  if (groups.leaders) {
    const auto mine = static_cast<std::uint32_t>(groups.leaders->rank());
    const BytesView view = sidestream::bytes_of(mine);
    number.assign(view.begin(), view.end());
  }
  groups.mine->broadcast(number, 0);
  groups.number = record_of<std::uint32_t>(number);
  groups_.emplace(std::move(groups));
}

/// Determines the number of this run, on the first server: one more than of any run with a slot or a segment.
void Storing::begin_run() {
  make_directory_of((fs::path(options_.directory) / journal_name).string());
  if (!lock_) lock_ = std::make_unique<DirectoryLock>(options_.directory, lock_name);
  if (!is_database(options_.directory)) create_journal(options_.directory, options_.flush);
  const Journal journal = read_journal(options_.directory);
  for (const std::string& remark : journal.remarks) log::warning("{}", remark);
  run_ = journal.run;
  next_slot_ = std::max<std::uint64_t>(journal.slots, 1);  // also if the file was emptied: slot 0 is the head
  for (const std::string& name : names_in_folder(options_.directory)) {
    if (const auto segment = parse_segment_name(name)) run_ = std::max(run_, segment->run);
  }
  ++run_;
}

void Storing::open(Communicator& servers) {
  if (!groups_) make_groups(servers);
  std::string failure;
  if (servers.rank() == 0) failure = failure_of([this] { begin_run(); });
  if (!failure.empty()) run_ = 0;
  agree(servers, failure);
  Bytes run;
  const BytesView mine = sidestream::bytes_of(run_);
  run.assign(mine.begin(), mine.end());
  servers.broadcast(run, 0);
  run_ = record_of<std::uint32_t>(run);
}

/// Flushes the last segment's name, which must survive a power failure before anything refers to it.
void Storing::flush_name() {
  if (!name_flushed_) flush_directory(options_.directory);
  name_flushed_ = true;
}

/// Allots the next `size` bytes in the group's segments. Bytes that do not fit into the current segment begin a new
/// one.
Storing::Allotted Storing::allot(std::uint64_t size) {
  // Large pieces begin at a page: a shared page may already be on its way to the disk, or evicted, when the next
  // context comes.
  const std::uint64_t begin = std::max(round_up(end_, size >= large_piece ? page : alignment), overlay_bytes);
  if (made_ > number_ && begin + size <= options_.max_file_size) {
    flush_name();
    end_ = begin + size;
    return {number_, begin};
  }
  if (made_ > number_ && end_ > overlay_bytes) ++number_;
  if (made_ <= number_) {
    make_segment(number_);
  }
  flush_name();
  end_ = overlay_bytes + size;
  return {number_, overlay_bytes};
}

void Storing::make_segment(std::uint32_t number) {
  const std::string name = path(number);
  const bool striped = options_.output && !fs::exists(name) && stripe_file(*options_.output, name, name);
  GrowingFile file(name, striped ? GrowingFile::Open::existing : GrowingFile::Open::fresh);
  made_ = number + 1;  // at once: if a later step fails, the next context finds the segment
  name_flushed_ = !options_.flush;
  file.close();
}

/// Reserves an extent as a whole. The file system finds its place faster than for many writes.
void Storing::reserve(std::uint32_t number, const Extent& extent) const {
  if (!options_.preallocate || extent.end - extent.begin < chunk_bytes) return;
  GrowingFile file(path(number), GrowingFile::Open::existing);
  file.reserve(extent.begin, extent.end);
  file.close();
}

/// Places a domain. Collective over the group. Returns what failed on its leader or here.
std::string Storing::place(Domain& domain) {
  Bytes sizes;
  retry_while_out_of_memory([&] {
    std::vector<std::uint64_t> mine;
    for (const Domain::Piece& piece : domain.pieces()) mine.push_back(piece.row.bytes);
    sizes = sidestream::bytes_of(mine);
  });
  const std::vector<Bytes> asked = groups_->mine->gather(sizes, 0);
  std::vector<Bytes> answers;
  retry_while_out_of_memory([&] { answers.resize(static_cast<std::size_t>(groups_->mine->size())); });
  std::string failure;
  if (groups_->mine->rank() == 0) {
    failure = failure_of([&] {
      std::map<std::uint32_t, Extent> extents;
      for (std::size_t member = 0; member < asked.size(); ++member) {
        std::vector<Allotted> places;
        for (const std::uint64_t size : records_of<std::uint64_t>(asked[member])) {
          places.push_back(allot(size));
          const auto [number, begin] = places.back();
          if (!any_placed_) first_ = number;
          any_placed_ = true;
          Extent& extent = extents.try_emplace(number, Extent{begin, begin}).first->second;
          extent.end = begin + size;
        }
        answers[member] = sidestream::bytes_of(places);
      }
      for (const auto& [number, extent] : extents) reserve(number, extent);
    });
  }
  const std::vector<Bytes> got = groups_->mine->all_to_all(answers);
  const std::vector<Allotted> places = records_of<Allotted>(got.front());
  if (places.size() != domain.pieces().size()) {
    return failure.empty() ? "the first server of the group could not make a segment" : failure;
  }
  for (std::size_t n = 0; n < places.size(); ++n) {
    domain.pieces()[n].row.number = places[n].number;
    domain.pieces()[n].row.offset = places[n].offset;
  }
  return failure;
}

void Storing::write_values(Domain& domain) {
  std::vector<Domain::Piece>& pieces = domain.pieces();
  for (auto piece = pieces.begin(); piece != pieces.end();) {
    const std::uint32_t number = piece->row.number;
    GrowingFile file(path(number), GrowingFile::Open::existing);
    JoinedWrites joined(file, options_.flush);
    for (; piece != pieces.end() && piece->row.number == number; ++piece) {
      if (piece->is_encoded) {
        joined.write(piece->row.offset, piece->encoded);
      } else {
        domain.write_raw(*piece,
                         [&](std::uint64_t at, BytesView bytes) { joined.write(piece->row.offset + at, bytes); });
      }
    }
    joined.finish();
    file.close();
  }
}

GroupEntry Storing::put_table(const std::vector<Bytes>& domains, GroupReport& report) {
  std::vector<DomainRows> rows;
  for (const Bytes& bytes : domains) {
    ByteReader reader(bytes);
    report.bytes += reader.get<std::uint64_t>();
    DomainRows& domain = rows.emplace_back();
    reader.get(domain.blocks);
    reader.get(domain.rows.pieces);
    reader.get(domain.rows.chunks);
    for (const PieceRow& row : domain.rows.pieces) report.stored += row.bytes;
  }
  PackedTable table = pack_table(rows);
  const Allotted place = allot(table.bytes.size());
  table.entry.group = groups_->number;
  table.entry.number = place.number;
  table.entry.offset = place.offset;
  table.entry.first = std::min(first_, place.number);
  table.entry.last = place.number;
  GrowingFile file(path(place.number), GrowingFile::Open::existing);
  file.write(place.offset, table.bytes);
  file.close();
  return table.entry;
}

/// Updates the HDF5 headers, so that readers of HDF5 find this context's bytes in each of its segments.
void Storing::renew_faces() {
  for (std::uint32_t number = first_; number <= number_; ++number) {
    const std::string name = path(number);
    const std::uint64_t size = std::max(size_of_file(name), overlay_bytes);
    GrowingFile file(name, GrowingFile::Open::existing);
    file.write(0, hdf5::overlay_header(size, overlay_bytes, name));
    file.close();
  }
}

/// Flushes, on a leader, everything that the group has written of this context: values, tables and headers, from any
/// member. Reports failures of the kernel to write them back.
void Storing::flush_segments() {
  if (!options_.flush) return;
  for (std::uint32_t number = first_; number <= number_; ++number) {
    GrowingFile file(path(number), GrowingFile::Open::existing);
    file.flush();
    file.close();
  }
}

/// Writes the group's table on its leader. Collective over the group.
void Storing::write_table(const WrittenRows& rows, const std::string& failure, GroupReport& report) {
  Bytes mine;
  retry_while_out_of_memory([&] {
    ByteWriter writer;
    writer.put(rows.raw_bytes);
    writer.put(rows.rows.blocks);
    writer.put(rows.rows.rows.pieces);
    writer.put(rows.rows.rows.chunks);
    mine = writer.take();
  });
  const std::vector<Bytes> failures = groups_->mine->gather(std::as_bytes(std::span(failure)), 0);
  const std::vector<Bytes> domains = groups_->mine->gather(mine, 0);
  if (groups_->mine->rank() != 0) return;
  for (const Bytes& text : failures) {
    if (!text.empty()) throw Error(Code::file, {reinterpret_cast<const char*>(text.data()), text.size()});
  }
  if (!any_placed_) first_ = number_;
  report.entry = put_table(domains, report);
  if (options_.show) renew_faces();
  // The first server flushes later, because it also writes the record.
  if (groups_->leaders->rank() != 0) flush_segments();
}

void Storing::put_record(Entry& entry, const std::vector<GroupEntry>& groups, const Schema& schema) {
  const std::string text = schema_text(schema);
  Bytes record(24 + round_up(text.size(), 8) + groups.size() * sizeof(GroupEntry));
  const std::uint64_t length = text.size(), count = groups.size();
  std::memcpy(record.data(), "SDSRECRD", 8);
  std::memcpy(record.data() + 8, &length, sizeof length);
  std::memcpy(record.data() + 16, &count, sizeof count);
  std::memcpy(record.data() + 24, text.data(), text.size());
  std::memcpy(record.data() + 24 + round_up(text.size(), 8), groups.data(), groups.size() * sizeof(GroupEntry));
  const Allotted place = allot(record.size());
  GrowingFile file(path(place.number), GrowingFile::Open::existing);
  file.write(place.offset, record);
  file.close();
  entry.record = {groups_->number, place.number, place.offset, record.size(), checksum_of(record)};
}

/// Commits the context, on the first server.
void Storing::commit(Entry& entry, const std::vector<Bytes>& reports, const Schema& schema) {
  std::vector<GroupEntry> groups;
  for (const Bytes& bytes : reports) {
    const GroupReport report = GroupReport::of(bytes);
    if (!report.failure.empty()) throw Error(Code::file, report.failure);
    groups.push_back(report.entry);
    entry.contributors += report.entry.contributors;
    entry.blocks += report.entry.blocks;
    entry.bytes += report.bytes;
    entry.stored += report.stored;
  }
  entry.run = run_;
  entry.kind = options_.kind;
  entry.version = has_trees(schema.metadata) ? tree_version : format_version;
  entry.groups = static_cast<std::uint32_t>(groups.size());
  entry.slot = next_slot_;
  put_record(entry, groups, schema);
  flush_segments();
  // A slot that a full disk cuts off here is not used again: its content can never become this context.
  ++next_slot_;
  // From here on the slot may exist even if this fails: it may be written, but not flushed.
  perhaps_committed_ = true;
  append_slot(options_.directory, entry.slot, context_slot(entry), options_.flush);
}

/// Completes a context on the first server, when it can no longer fail.
void Storing::after_commit(const Entry& entry) {
  if (!options_.show) return;
  const std::string failure = failure_of([&] { show(options_.directory, entry); });
  if (!failure.empty())
    log::warning("the context of cycle {} is stored, but not shown: {}", entry.iteration.cycle, failure);
}

/// Removes surplus contexts on the leaders, first from the journal, then from the disk.
void Storing::remove_surplus(std::uint64_t slot) {
  retention_.committed(slot, first_, number_);
  if (options_.keep == 0) return;
  std::vector<std::uint64_t> removed;
  if (groups_->leaders->rank() == 0) {
    const std::string failure = failure_of([&] {
      for (const std::uint64_t surplus : retention_.surplus(options_.keep)) {
        const std::uint64_t own = next_slot_++;
        append_slot(options_.directory, own, removal_slot(own, run_, surplus), options_.flush);
        removed.push_back(surplus);
      }
    });
    if (!failure.empty()) log::warning("cannot remove contexts beyond the newest {}: {}", options_.keep, failure);
    std::error_code ignored;
    for (const std::uint64_t dropped : removed) fs::remove(fs::path(options_.directory) / shown_name(dropped), ignored);
  }
  Bytes agreed = sidestream::bytes_of(removed);
  groups_->leaders->broadcast(agreed, 0);
  retention_.drop(records_of<std::uint64_t>(agreed), run_, groups_->number);
}

/// Begins a context on the leader of a group, before anything of it is placed.
void Storing::begin_context() {
  any_placed_ = false;
  // Contexts that will be removed one by one have separate segments.
  if (options_.keep > 0 && committed_end_ > overlay_bytes) {
    number_ = committed_number_ + 1;
    end_ = 0;
  }
}

/// Writes this server's part. Collective over the group. Returns failures, also of the group's communication (which
/// fails on all members), so that this server still joins the calls that others wait in.
std::string Storing::write_part(Communicator& servers, Domain& domain) {
  std::string failure;
  const std::string unplaced = failure_of([&] { failure = place(domain); });
  if (failure.empty()) failure = unplaced;
  take_turns(servers, options_.output ? options_.output->writers() : 0, [&] {
    const double start = now();
    if (failure.empty()) failure = failure_of([&] { write_values(domain); });
    stagger_.wrote(now() - start);
  });
  return failure;
}

void Storing::store(Communicator& servers, Domain& domain, const Schema& schema, const Iteration& iteration) {
  if (run_ == 0) open(servers);
  if (options_.stagger) stagger_.wait(servers);
  begin_context();
  std::string failure = write_part(servers, domain);
  WrittenRows rows;
  retry_while_out_of_memory([&] { rows.take(domain); });
  finish(servers, rows, std::move(failure), schema, iteration);
}

void Storing::store(Communicator& servers, int parts, const Filling& fill, const Schema& schema,
                    const Iteration& iteration) {
  if (run_ == 0) open(servers);
  begin_context();
  WrittenRows rows;
  std::string failure;
  for (int part = 0; part < parts; ++part) {
    Domain domain;
    if (failure.empty()) failure = failure_of([&] { fill(part, domain); });
    if (!failure.empty()) domain = {};
    const std::string unwritten = write_part(servers, domain);
    if (failure.empty()) failure = unwritten;
    retry_while_out_of_memory([&] { rows.take(domain); });
  }
  finish(servers, rows, std::move(failure), schema, iteration);
}

/// Writes tables, record and slot.
void Storing::finish(Communicator& servers, const WrittenRows& mine, std::string failure, const Schema& schema,
                     const Iteration& iteration) {
  GroupReport report;
  report.failure = failure_of([&] { write_table(mine, failure, report); });
  Entry entry;
  entry.iteration = iteration;
  failure.clear();
  perhaps_committed_ = false;
  if (groups_->leaders) {
    failure = failure_of([&] {
      const std::vector<Bytes> reports = groups_->leaders->gather(report.packed(), 0);
      if (servers.rank() == 0) commit(entry, reports, schema);
    });
  }
  Bytes agreed;
  retry_while_out_of_memory([&] {
    ByteWriter outcome;
    outcome.put(failure);
    outcome.put(entry.slot);
    outcome.put(perhaps_committed_);
    agreed = outcome.take();
  });
  servers.broadcast(agreed, 0);
  ByteReader reader(agreed);
  reader.get(failure);
  reader.get(entry.slot);
  reader.get(perhaps_committed_);
  if (!perhaps_committed_) {
    // No context uses the written bytes, so the next one may overwrite them.
    number_ = committed_number_;
    end_ = committed_end_;
    throw Error(Code::file, failure);
  }
  committed_number_ = number_;
  committed_end_ = end_;
  if (!failure.empty()) throw Error(Code::file, failure);
  if (!groups_->leaders) return;
  if (servers.rank() == 0) after_commit(entry);
  remove_surplus(entry.slot);
}

}  // namespace sidestream::database
