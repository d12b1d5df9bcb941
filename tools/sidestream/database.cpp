#include "commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/options/option_text.hpp"
#include "inspection/inspection.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "storage/database/context.hpp"
#include "storage/database/journal.hpp"

namespace sidestream {

namespace {

using database::Context;
using database::Journal;

std::string remarks_of(const std::vector<std::string>& remarks) {
  std::string text;
  for (const std::string& remark : remarks) text += fmt::format("passed over: {}\n", remark);
  return text;
}

std::string variables_of(Context& context) {
  std::string text;
  const Metadata& metadata = context.metadata();
  for (const Mesh& mesh : metadata.meshes) {
    const bool pruned = context.schema().pruned && mesh.kind() == MeshKind::octree;
    text += fmt::format("mesh {}: {}, {} dimension{}{}\n", mesh.name,
                        mesh.geometry ? mesh.geometry->kind() : "without places", mesh.dimensions,
                        mesh.dimensions == 1 ? "" : "s", pruned ? ", pruned" : "");
  }
  std::vector<std::uint64_t> pieces(metadata.variables.size()), stored(metadata.variables.size());
  for (std::size_t group = 0; group < context.groups().size(); ++group) {
    for (const database::PieceRow& row : context.pieces(group).pieces) {
      ++pieces[row.variable];
      stored[row.variable] += row.bytes;
    }
    context.forget_pieces(group);
  }
  for (const Variable& v : metadata.variables) {
    const auto n = static_cast<std::size_t>(v.id);
    std::string codecs;
    for (const auto& list : context.schema().lists_of(n)) {
      codecs += fmt::format("{}{}", codecs.empty() ? "" : " or ", fmt::join(list, ", "));
    }
    text +=
        fmt::format("variable {}: {}{} on {}, {} piece{}, {}{}\n", v.name, name_of(v.type),
                    v.components > 1 ? fmt::format(" x {}", v.components) : "", metadata.mesh_of(v).name, pieces[n],
                    pieces[n] == 1 ? "" : "s", rounded_byte_size(stored[n]), codecs.empty() ? "" : " (" + codecs + ")");
  }
  return text;
}

}  // namespace

Answer list_database(const DatabaseOptions& options) {
  const Journal journal = database::read_journal(options.directory);
  std::string text = fmt::format("{:>6} {:>10} {:>14} {:>4} {:>9} {:<10} {:>8} {:>10} {:>10}\n", "slot", "cycle",
                                 "time", "run", "iteration", "kind", "blocks", "values", "stored");
  for (const database::Entry& e : journal.contexts) {
    text += fmt::format("{:>6} {:>10} {:>14} {:>4} {:>9} {:<10} {:>8} {:>10} {:>10}\n", e.slot, e.iteration.cycle,
                        e.iteration.time, e.run, e.iteration.index, name_of(e.kind), e.blocks,
                        rounded_byte_size(e.bytes), rounded_byte_size(e.stored));
  }
  if (!journal.removed.empty()) text += fmt::format("{} removed\n", journal.removed.size());
  return {text + remarks_of(journal.remarks), 0};
}

namespace {

std::string text_of(const DatabaseOptions& options, const Journal& journal, const database::Entry& entry) {
  Context context(options.directory, entry);
  std::string text =
      fmt::format("{} of {}: slot {}, {} block{} of {} contributor{} in {} group{}, {} of values in {}\n",
                  name_of(entry.kind), name_of(entry), entry.slot, entry.blocks, entry.blocks == 1 ? "" : "s",
                  entry.contributors, entry.contributors == 1 ? "" : "s", entry.groups, entry.groups == 1 ? "" : "s",
                  rounded_byte_size(entry.bytes), rounded_byte_size(entry.stored));
  return text + variables_of(context) + remarks_of(journal.remarks);
}

}  // namespace

Answer describe_context(const DatabaseOptions& options) {
  for (;;) {
    const Journal journal = database::read_journal(options.directory);
    database::Wanted wanted;
    wanted.cycle = options.cycle;
    const database::Entry entry = candidates(journal, wanted, options.directory).front();
    try {
      return {text_of(options, journal, entry), 0};
    } catch (const Error&) {
      // A concurrently writing run may have replaced it by a newer one.
      if (!database::is_removed(options.directory, entry.slot)) throw;
    }
  }
}

namespace {

std::string unnamed_text(const database::Inspection& found) {
  std::string text;
  for (const std::string& sentence : found.unnamed.lost) text += fmt::format("lost: {}\n", sentence);
  for (const std::string& file : found.unnamed.spare) {
    text +=
        fmt::format("{}: of no context; a killed run or a removal has left it: `sidestream prune` deletes it\n", file);
  }
  return text;
}

}  // namespace

Answer verify_database(const DatabaseOptions& options) {
  const database::Inspection found = database::inspect(options.directory);
  std::string text;
  std::size_t whole = 0, there = 0;
  for (const database::InspectedContext& context : found.contexts) {
    if (context.removed) {
      text += fmt::format("{}: removed meanwhile\n", name_of(context.entry));
      continue;
    }
    ++there;
    whole += context.damages.empty() ? 1 : 0;
    text += fmt::format("{}: {}\n", name_of(context.entry), context.damages.empty() ? "whole" : "damaged");
    for (const std::string& damage : context.damages) text += fmt::format("  {}\n", damage);
  }
  text += fmt::format("{} of {} contexts are whole\n", whole, there) + remarks_of(found.remarks) + unnamed_text(found);
  const bool sound = whole == there && found.remarks.empty() && found.unnamed.lost.empty();
  return {text, sound ? 0 : 1};
}

Answer prune_database(const DatabaseOptions& options) {
  const database::Pruned pruned = database::prune(options.directory, {options.keep, options.dry_run, options.lost});
  std::string text;
  for (const std::string& file : pruned.files)
    text += fmt::format("{} {}\n", options.dry_run ? "would delete" : "deleted", file);
  text += fmt::format("{} context{} {}, {} file{} with {}\n", pruned.contexts.size(),
                      pruned.contexts.size() == 1 ? "" : "s", options.dry_run ? "would be removed" : "removed",
                      pruned.files.size(), pruned.files.size() == 1 ? "" : "s", rounded_byte_size(pruned.bytes));
  if (pruned.left > 0) {
    text += fmt::format("about {} of removed contexts stay in files that others use\n", rounded_byte_size(pruned.left));
  }
  for (const std::string& sentence : pruned.lost) text += fmt::format("lost: {}\n", sentence);
  for (const std::string& file : pruned.kept) {
    text += fmt::format("kept {}: it belongs to a context that 'contexts' has lost; --lost deletes it\n", file);
  }
  return {text, 0};
}

}  // namespace sidestream
