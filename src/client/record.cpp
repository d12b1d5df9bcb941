#include "client/record.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/fail.hpp"
#include "sidestream/version.h"

namespace sidestream {

namespace {

std::string indented(const std::string& text) {
  std::string result = "    ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "    ";
  }
  return result + "\n";
}

/// Writes beside and renames, so that the file is whole whenever somebody looks.
void replace_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".part";
  {
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out << text;
    out.flush();
    if (!out) {
      fail(Code::file,
           "cannot write '{}' ({}); make the output directory writable or choose another with output.directory", path,
           std::strerror(errno));
    }
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) fail(Code::file, "cannot name '{}' ({})", path, error.message());
}

}  // namespace

void refuse_earlier_run(const OpeningConfig& opening) {
  const auto record = std::filesystem::path(opening.directory) / RecordNames{}.record;
  std::error_code error;
  if (opening.existing != Existing::refuse || !std::filesystem::exists(record, error)) return;
  fail(
      Code::file,
      "the output directory '{}' holds an earlier run ({} is there); choose another with output.directory, or say what to "
      "do with output.existing: replace or resume",
      opening.directory, RecordNames{}.record);
}

void write_record(const std::string& directory, const RunFacts& facts, const Account* account, const Ledger* ledger,
                  const RecordNames& names) {
  std::string text = fmt::format("sidestream: {}\nplacement: {}\nclients: {}\nservers: {}\nnodes: {}\n",
                                 SIDESTREAM_VERSION, facts.placement, facts.clients, facts.servers, facts.nodes);
  text += fmt::format("configuration_file: '{}'\nconfiguration: |\n{}", facts.file, indented(facts.text));
  if (account) {
    text += fmt::format(
        "account:\n  iterations: {}\n  delivered: {}\n  refused: {}\n  failed: {}\n  unknown: {}\n  absent_blocks: {}\n",
        account->iterations, account->delivered, account->refused, account->failed, account->unknown,
        account->absent_blocks);
  }
  if (ledger && !ledger->failures().empty()) {
    text += "failures:\n";
    for (const Ledger::Failure& f : ledger->failures()) {
      text += fmt::format("  - first_iteration: {}\n    count: {}\n    message: |\n      {}\n", f.first_iteration,
                          f.count, f.message);
    }
  }
  replace_file((std::filesystem::path(directory) / names.record).string(), text);
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
    fmt::format_to(std::back_inserter(rows), "{},server,{},{:.9f},,,,,{},{:.9f}\n", rank, t.iteration, t.start,
                   ledger.names()[static_cast<std::size_t>(t.task)], t.seconds);
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

void write_run_table(const std::string& directory, const RunTable& table, const std::vector<std::string>& rows,
                     bool append) {
  const auto path = std::filesystem::path(directory) / table.file;
  std::error_code error;
  std::string text;
  if (append && std::filesystem::exists(path, error)) {
    std::ifstream in(path, std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(in), {});
  } else {
    text = table.header;
  }
  for (const std::string& part : rows) text += part;
  replace_file(path.string(), text);
}

}  // namespace sidestream
