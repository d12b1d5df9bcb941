// Search for contexts that lost their slot, before files without a context are removed.
//
// 1. SegmentUse collects the bytes of segments that contexts of the journal use.
// 2. RecordSearch looks for records at aligned places in the other bytes. A record counts if its checksums, tables and
//    pieces fit; it then is reported, and its files are held.
// 3. Files that neither a context nor such a record names are spare; so are HDF5 files of removed contexts.
// Nothing is changed here. Reading is bounded by twice the size of a segment, since files may be forged.
#include "inspection/unnamed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/paths.hpp"
#include "sidestream/kit/base/fail.hpp"

namespace sidestream::database {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view record_begin = "SDSRECRD";
constexpr std::uint64_t head_bytes = 24;
constexpr std::uint64_t least_record = head_bytes + sizeof(GroupEntry);
constexpr std::uint64_t window = 1u << 20;  ///< bytes that are read at a time

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::symlink_status(path, ignored));
}

/// Finds records of whole contexts, in bytes of a segment that no context uses.
class RecordSearch {
 public:
  RecordSearch(const std::string& directory, const SegmentName& name)
      : directory_(directory),
        name_(name),
        file_((fs::path(directory) / segment_name(name.run, name.group, name.number)).string()),
        size_(file_.size()),
        budget_(size_) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Calls `found` with each context whose record begins in [begin, end).
  template <class Found>
  void search(std::uint64_t begin, std::uint64_t end, Found&& found) {
    Bytes bytes;
    for (std::uint64_t at = round_up(std::max(begin, overlay_bytes), alignment); at + least_record <= end;) {
      bytes.resize(std::min(window, end - at));
      file_.read(at, bytes);
      for (std::uint64_t n = 0; n + record_begin.size() <= bytes.size(); n += alignment) {
        if (std::memcmp(bytes.data() + n, record_begin.data(), record_begin.size()) != 0) continue;
        if (const std::unique_ptr<Context> context = context_at(at + n)) found(*context);
      }
      at += round_up(bytes.size(), alignment);
    }
  }

 private:
  /// Returns null if there is no context, or an incomplete one, whose run was killed before its commit.
  std::unique_ptr<Context> context_at(std::uint64_t at) {
    std::array<std::uint64_t, 3> head{};
    if (size_ - at < least_record) return nullptr;
    file_.read(at, std::as_writable_bytes(std::span(head)));
    const std::uint64_t left = size_ - at - head_bytes, text = head[1], groups = head[2];
    if (text > left || groups == 0 || groups > left / sizeof(GroupEntry)) return nullptr;
    const std::uint64_t size = head_bytes + round_up(text, 8) + groups * sizeof(GroupEntry);
    // Files may be forged, so at most twice their size is read.
    if (size > size_ - at || size > budget_) return nullptr;
    budget_ -= size;
    Bytes record(size);
    file_.read(at, record);
    Entry entry;
    entry.run = name_.run;
    entry.record = {name_.group, name_.number, at, size, checksum_of(record)};
    try {
      auto context = std::make_unique<Context>(directory_, entry, record);
      for (std::size_t group = 0; group < context->groups().size(); ++group) {
        static_cast<void>(context->pieces(group));
        context->forget_pieces(group);
      }
      return context;
    } catch (const Error&) {
      return nullptr;
    }
  }

  std::string directory_;
  SegmentName name_;
  PlacedFile file_;
  std::uint64_t size_;
  std::uint64_t budget_;  ///< bytes of records that may still be read
};

bool is_record_of(const Context& context, const std::vector<Entry>& entries) {
  const Place& here = context.entry().record;
  return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.run == context.entry().run && entry.record.group == here.group && entry.record.number == here.number &&
           entry.record.offset == here.offset;
  });
}

/// Reason why the file that shows a slot is not spare; empty if it is spare.
std::string missed(std::uint64_t slot, const std::string& name, const Journal& journal,
                   const std::vector<Entry>& removed) {
  if (std::any_of(removed.begin(), removed.end(), [slot](const Entry& entry) { return entry.slot == slot; })) return {};
  if (slot >= journal.slots) {
    return fmt::format("'{}' shows the context of slot {}, but '{}' ends before it; it was cut off", name, slot,
                       journal_name);
  }
  return fmt::format("'{}' shows the context of slot {}, of which '{}' has nothing that is whole", name, slot,
                     journal_name);
}

}  // namespace

void SegmentUse::add(Context& context) {
  const Entry& entry = context.entry();
  const Place& record = entry.record;
  std::map<Key, std::vector<Extent>> mine;
  ranges_.push_back({entry.run, record.group, record.number, record.number});
  mine[{entry.run, record.group, record.number}].push_back({record.offset, record.offset + record.size});
  for (std::size_t n = 0; n < context.groups().size(); ++n) {
    const GroupEntry& group = context.groups()[n];
    ranges_.push_back({entry.run, group.group, group.first, group.last});
    for (const PieceRow& piece : context.pieces(n).pieces) {
      mine[{entry.run, group.group, piece.number}].push_back({piece.offset, piece.offset + piece.bytes});
    }
    context.forget_pieces(n);
    const std::uint64_t tables = blocks_bytes(group, {}) + rest_bytes(group, {});
    mine[{entry.run, group.group, group.number}].push_back({group.offset, group.offset + tables});
  }
  for (auto& [key, extents] : mine) {
    std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
    std::vector<Extent>& all = extents_[key];
    for (const Extent& one : extents) {
      // Large pieces begin at pages: the bytes skipped before them hold nothing.
      if (!all.empty() && one.begin >= all.back().begin && one.begin <= all.back().end + page) {
        all.back().end = std::max(all.back().end, one.end);
      } else {
        all.push_back(one);
      }
    }
  }
}

bool SegmentUse::has(const SegmentName& segment) const {
  if (std::find(whole_runs_.begin(), whole_runs_.end(), segment.run) != whole_runs_.end()) return true;
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    return range.run == segment.run && range.group == segment.group && range.first <= segment.number &&
           segment.number <= range.last;
  });
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> SegmentUse::gaps(const SegmentName& segment,
                                                                      std::uint64_t size) const {
  std::vector<Extent> used;
  const auto found = extents_.find({segment.run, segment.group, segment.number});
  if (found != extents_.end()) used = found->second;
  std::sort(used.begin(), used.end(), [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
  std::uint64_t at = 0;
  for (const Extent& one : used) {
    if (one.begin > at) gaps.emplace_back(at, std::min(one.begin, size));
    at = std::max(at, one.end);
  }
  if (at < size) gaps.emplace_back(at, size);
  return gaps;
}

Unnamed find_unnamed(const std::string& directory, const Journal& journal, const std::vector<Entry>& removed,
                     const SegmentUse& use) {
  Unnamed unnamed;
  SegmentUse lost;
  std::vector<SegmentName> others;
  std::vector<std::string> names = names_in_folder(directory);
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const auto segment = parse_segment_name(name);
    if (!segment || !is_file(fs::path(directory) / name)) continue;
    if (!use.has(*segment)) others.push_back(*segment);
    RecordSearch search(directory, *segment);
    for (const auto& [begin, end] : use.gaps(*segment, search.size())) {
      search.search(begin, end, [&](Context& context) {
        if (is_record_of(context, journal.contexts) || is_record_of(context, removed)) return;
        lost.add(context);
        unnamed.lost.push_back(fmt::format(
            "'{}' has a whole context (its record is at byte {}) that no slot of '{}' names: a slot was cut off or "
            "damaged, or a run was killed just before it committed",
            name, context.entry().record.offset, journal_name));
      });
    }
  }
  for (const SegmentName& segment : others) {
    (lost.has(segment) ? unnamed.held : unnamed.spare)
        .push_back(segment_name(segment.run, segment.group, segment.number));
  }
  for (const std::string& name : names) {
    const auto slot = parse_shown_name(name);
    if (!slot || !is_file(fs::path(directory) / name)) continue;
    const auto is_its = [&](const Entry& entry) { return entry.slot == *slot; };
    if (std::any_of(journal.contexts.begin(), journal.contexts.end(), is_its)) continue;
    const std::string why = missed(*slot, name, journal, removed);
    if (!why.empty()) unnamed.lost.push_back(why);
    (why.empty() ? unnamed.spare : unnamed.held).push_back(name);
  }
  return unnamed;
}

}  // namespace sidestream::database
