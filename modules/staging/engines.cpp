#include "staging/stream_data_engine.hpp"

#include <cstring>
#include <map>
#include <set>

#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/waiting.hpp"

namespace sidestream::staging {

std::map<std::string, BulkEngine> bulk_engines() {
  std::map<std::string, BulkEngine> engines{{"files", files_engine()}};
  add_sst_engine(engines);
  return engines;
}

void check_engine(const Settings& settings, const std::string& engine) {
  if (engine == "auto" || bulk_engines().contains(engine)) return;
  settings.fail("engine", fmt::format("found the engine '{}', which this build of Sidestream does not have; write "
                                      "'engine: files', or build with ADIOS2",
                                      engine));
}

std::string best_engine() { return bulk_engines().contains("sst") ? "sst" : "files"; }

// Engine `files`: one file for each writer and step in the stream's directory.

namespace {

std::string data_name(std::int64_t iteration, int writer) { return fmt::format("data-{}.{}", iteration, writer); }

class FilesWriter final : public BulkWriter {
 public:
  explicit FilesWriter(const BulkSetup& setup) : folder_(setup.folder), rank_(setup.group.rank()) {}

  void put(const StepIndex& step, std::span<Outgoing> mine, std::int64_t, const std::function<bool()>&) override {
    if (mine.empty() || written_.contains(step.iteration.index)) return;  // the next reader finds the file
    const std::string name = data_name(step.iteration.index, rank_);
    written_.insert(step.iteration.index);
    try {
      write(step, mine, name);
      folder_.finish(name);
    } catch (...) {
      folder_.abandon(name);
      throw;
    }
  }

  void forget(std::int64_t iteration, bool) noexcept override {
    if (written_.erase(iteration) == 0) return;
    try {
      retry_while_out_of_memory([&] { folder_.remove(data_name(iteration, rank_)); });
    } catch (const std::exception&) {  // the next session clears the folder
    }
  }

 private:
  void write(const StepIndex& step, std::span<Outgoing> mine, const std::string& name) const {
    std::uint64_t bytes = 0;
    for (const Outgoing& one : mine) bytes += one.record->bytes;
    PosixFile file = folder_.begin(name);
    const FileHeader header = data_header(step, rank_, bytes);
    file.write(std::as_bytes(std::span(&header, 1)));
    Bytes packed;
    std::uint64_t offset = 0;
    for (const Outgoing& one : mine) {
      StepRecord& record = *one.record;
      packed.resize(record.bytes);
      pack(one.array, record.points, Order::column, packed);
      record.offset = offset;
      record.checksum = checksum(packed);
      file.write(packed);
      offset += record.bytes;
    }
    file.flush();
  }

  Folder folder_;
  int rank_;
  std::set<std::int64_t> written_;
};

class FilesReader final : public BulkReader {
 public:
  explicit FilesReader(const BulkSetup& setup) : folder_(setup.folder) {}
  void connect(std::int64_t) override {}
  void begin(const StepIndex& step) override {
    step_ = &step;
    files_.clear();
  }
  void read(std::span<const Piece> pieces) override {
    for (const Piece& piece : pieces) {
      if (piece.points == piece.record->points) {
        read_whole(piece);
      } else {
        read_part(piece);
      }
    }
  }
  void end() override { files_.clear(); }

 private:
  const PosixFile& file_of(int writer) {
    const auto known = files_.find(writer);
    if (known != files_.end()) return known->second;
    const std::string name = data_name(step_->iteration.index, writer), path = folder_.path(name);
    std::optional<PosixFile> file = folder_.open(name);
    if (!file) fail(Code::file, "'{}' is missing; somebody removed it, or the writer withdrew the iteration", path);
    FileHeader header;
    file->read(std::as_writable_bytes(std::span(&header, 1)), 0);
    check_header(header, FileKind::data, file->size(), path);
    if (header.session != step_->session || header.iteration != step_->iteration.index || header.writer != writer) {
      fail(Code::file, "'{}' belongs to another session, iteration or writer", path);
    }
    return files_.emplace(writer, std::move(*file)).first->second;
  }

  void read_whole(const Piece& piece) {
    const StepRecord& record = *piece.record;
    const std::span<std::byte> to(piece.to, record.bytes);
    file_of(record.writer).read(to, sizeof(FileHeader) + record.offset);
    if (checksum(to) != record.checksum) {
      fail(Code::file, "the values of block {} in '{}' were changed after they were written: their checksum is wrong",
           step_->blocks[static_cast<std::size_t>(record.block)].id,
           folder_.path(data_name(step_->iteration.index, record.writer)));
    }
  }

  /// Reads row by row, or in longer runs if whole rows or layers are wanted. Parts of a record have no checksum.
  void read_part(const Piece& piece) {
    const StepRecord& record = *piece.record;
    const PosixFile& file = file_of(record.writer);
    const Box &all = record.points, &want = piece.points;
    const std::uint64_t unit = size_of(record.type) * static_cast<std::uint64_t>(record.components);
    const auto at = [&](Index i, Index j, Index k) {
      const Index point = (i - all.lo[0]) + all.extent(0) * ((j - all.lo[1]) + all.extent(1) * (k - all.lo[2]));
      return sizeof(FileHeader) + record.offset + static_cast<std::uint64_t>(point) * unit;
    };
    const bool rows = want.extent(0) == all.extent(0), layers = rows && want.extent(1) == all.extent(1);
    const Index step_j = rows ? want.extent(1) : 1, step_k = layers ? want.extent(2) : 1;
    const std::uint64_t run = static_cast<std::uint64_t>(want.extent(0) * step_j * step_k) * unit;
    std::byte* to = piece.to;
    for (Index k = want.lo[2]; k < want.hi[2]; k += step_k) {
      for (Index j = want.lo[1]; j < want.hi[1]; j += step_j, to += run) {
        file.read({to, run}, at(want.lo[0], j, k));
      }
    }
  }

  Folder folder_;
  const StepIndex* step_ = nullptr;
  std::map<int, PosixFile> files_;
};

}  // namespace

BulkEngine files_engine() {
  return {[](const BulkSetup& setup) { return std::make_unique<FilesWriter>(setup); },
          [](const BulkSetup& setup) { return std::make_unique<FilesReader>(setup); }};
}

}  // namespace sidestream::staging
