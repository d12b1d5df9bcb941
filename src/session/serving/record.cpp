#include "session/serving/record.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>

#include "base/mpi/agree.hpp"
#include "base/time_of_day.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/storage/files/file_names.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "sidestream/version.h"
#include "storage/formats/csv.hpp"

namespace sidestream {

void refuse_earlier_run(const OpeningConfig& opening, const RecordNames& names) {
  const auto record = std::filesystem::path(opening.directory) / names.record;
  std::error_code error;
  if (opening.existing != Existing::refuse || !std::filesystem::exists(record, error)) return;
  fail(
      Code::file,
      "the output directory '{}' holds an earlier run ({} is there); choose another with output.directory, or say what to "
      "do with output.existing: replace or resume",
      opening.directory, names.record);
}

void remove_earlier_records(const OpeningConfig& opening, std::initializer_list<const char*> names) {
  if (opening.existing != Existing::replace) return;
  for (const char* const name : names) {
    const std::filesystem::path path = std::filesystem::path(opening.directory) / name;
    std::error_code error;
    std::filesystem::remove(path, error);
    if (error) fail_file("remove what an earlier run left in", path.string(), error.value());
  }
}

void keep_earlier_record(const OpeningConfig& opening, const RecordNames& names) {
  if (opening.existing != Existing::resume) return;
  keep_earlier((std::filesystem::path(opening.directory) / names.record).string());
}

void begin_messages(RunLog& log, const OpeningConfig& opening, const char* name, const char* role, int rank) {
  log.begin(
      {(std::filesystem::path(opening.directory) / name).string(), fmt::format("{} {}", role, rank), opening.messages});
}

void write_record(const std::string& directory, const RunFacts& facts, const Account* account, const Ledger* ledger,
                  const RecordNames& names) {
  std::string text = fmt::format("sidestream: {}\nplacement: {}\nclients: {}\nservers: {}\nnodes: {}\n",
                                 SIDESTREAM_VERSION, facts.placement, facts.clients, facts.servers, facts.nodes);
  for (const ServerGroup& group : facts.groups) {
    if (&group == &facts.groups.front()) text += "groups:\n";
    const std::string size = group.size > 0 ? std::to_string(group.size) : "auto";  // with `job` the endpoint chooses
    text += fmt::format("  {}: {}\n", quoted_text(group.name), size);
  }
  // Tables count seconds from here on, each process by the clock of its node.
  if (!facts.started.empty()) text += fmt::format("started: {}\n", facts.started);
  if (account) text += fmt::format("ended: {}\n", time_of_day());
  text +=
      fmt::format("configuration_file: {}\nconfiguration: {}", quoted_text(facts.file), literal_text(facts.text, 0, 4));
  if (account) {
    text += fmt::format(
        "account:\n  iterations: {}\n  delivered: {}\n  refused: {}\n  failed: {}\n  unknown: {}\n  absent_blocks: {}\n"
        "  dropped: {}\n  spilled: {}\n  bytes_spilled: {}\n",
        account->iterations, account->delivered, account->refused, account->failed, account->unknown,
        account->absent_blocks, account->dropped, account->spilled, account->bytes_spilled);
  }
  if (ledger && !ledger->failures().empty()) {
    text += "failures:\n";
    for (const Ledger::Failure& f : ledger->failures()) {
      text += fmt::format("  - first_iteration: {}\n    count: {}\n    message: {}", f.first_iteration, f.count,
                          literal_text(f.message, 4, 2));
    }
  }
  replace_file((std::filesystem::path(directory) / names.record).string(), text);
}

std::string closing_text(const Account& account, const std::string& directory) {
  return fmt::format("{} iteration{} delivered, {} failed, {} refused; results are in {}", account.delivered,
                     account.delivered == 1 ? "" : "s", account.failed, account.refused, directory);
}

std::string client_rows(int rank, const std::vector<IterationTiming>& timings) {
  std::string rows;
  for (const IterationTiming& t : timings) {
    fmt::format_to(std::back_inserter(rows), "{},client,{},{:.9f},{:.9f},{:.9f},{:.9f},{:.9f},,\n", rank, t.iteration,
                   t.start, t.compute, t.publish, t.wait, t.end);
  }
  return rows;
}

std::string server_rows(int rank, const Ledger& ledger) {
  std::string rows;
  for (const WorkTiming& t : ledger.timings()) {
    const std::string local = t.local < 0 ? std::string() : fmt::format("{:.9f}", t.local);
    fmt::format_to(std::back_inserter(rows), "{},server,{},{:.9f},{},,,,{},{:.9f}\n", rank, t.iteration, t.start, local,
                   csv_field(ledger.names()[static_cast<std::size_t>(t.task)]), t.seconds);
  }
  return rows;
}

std::string movement_rows(int rank, const char* role, const std::vector<MovedBytes>& moved) {
  std::string rows;
  for (const MovedBytes& m : moved) {
    fmt::format_to(std::back_inserter(rows), "{},{},{},{},{},{}\n", rank, role, m.iteration, m.blocks, m.bytes,
                   m.layers);
  }
  return rows;
}

namespace {

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::delivered:
      return "delivered";
    case Outcome::refused:
      return "refused";
    case Outcome::failed:
      return "failed";
    default:
      return "unknown";
  }
}

}  // namespace

std::string iteration_rows(const std::vector<IterationRow>& iterations) {
  std::string rows;
  for (const IterationRow& row : iterations) {
    fmt::format_to(std::back_inserter(rows), "{},{},{},{},{}\n", row.at.index, row.at.cycle, row.at.time,
                   name_of(row.outcome), csv_field(text_of(row)));
  }
  return rows;
}

std::string losses_of(const Account& account, std::int64_t skipped) {
  std::string text;
  const auto add = [&](std::int64_t count, const std::string& what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  add(account.refused, "were refused");
  add(account.dropped, "of these because the servers had not begun them when drain_limit was over");
  add(account.unknown, "have an outcome that is not known");
  add(account.failed, "had an analysis or a writer that failed");
  add(account.absent_blocks,
      "blocks were declared and not published, in iterations in which others published their variable");
  add(skipped, "times an analysis or a writer was due without its variables");
  return text;
}

void warn_of_losses(const Account& account, std::int64_t skipped, const std::string& table) {
  const std::string losses = losses_of(account, skipped);
  if (losses.empty()) return;
  log::warning("of {} iterations {} were delivered: {}{}", account.iterations, account.delivered, losses,
               table.empty() ? "" : "; " + table + " says which and why");
}

Account account_of(const Ledger& ledger) {
  Account account;
  account.iterations = ledger.delivered + ledger.refused + ledger.unknown;
  account.delivered = ledger.delivered;
  account.refused = ledger.refused;
  account.unknown = ledger.unknown;
  account.failed = ledger.failed;
  account.absent_blocks = ledger.absent_blocks;
  return account;
}

bool attempt_record(Communicator& all, CallRef write) {
  std::int64_t failing = all.size();
  std::string why;
  run_collectively(all, [&] {
    try {
      write();
    } catch (const Error& e) {
      if (e.code() != Code::file) throw;
      why = e.what();
      failing = all.rank();
    }
  });
  all.minimum(std::span(&failing, 1));
  if (failing == all.rank()) log::error("a record of the run is missing: {}", why);
  return failing == all.size();
}

}  // namespace sidestream
