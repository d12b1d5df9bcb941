// Requests to a running session as files in a folder: `request-ID`, `taken-ID`, `answer-ID`. Renames decide who has a
// request.
//
// 1. ask_run writes a request (under a temporary name, then renamed) and polls for the answer.
// 2. take renames each request to `taken`; a request that was withdrawn meanwhile is skipped. Malformed ones are
//    refused with a sentence.
// 3. answer writes the answer; ask_run reads and removes it.
// 4. Without an answer in time ask_run withdraws the request by removing it. If that fails the run has taken it, and
//    its answer is awaited a little longer.
// The folder must belong to this user, since whoever writes into it commands the run.
#include "storage/files/mailbox.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <thread>

#include "base/paths.hpp"
#include "config/reserved_file_names.hpp"
#include "sidestream/kit/base/fail.hpp"
#include "sidestream/kit/base/files.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/waiting.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "storage/files/output_directory.hpp"

namespace sidestream {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view request = "request-", taken = "taken-", answered = "answer-", own = "run-";

std::string folder_in(const MailboxKind& kind, const std::string& directory) {
  return (fs::path(directory.empty() ? "." : directory) / kind.folder).string();
}

std::string in(const std::string& folder, std::string_view prefix, const std::string& id) {
  return (fs::path(folder) / (std::string(prefix) + id)).string();
}

/// Names in the folder with this prefix, sorted. The folder may be missing.
std::vector<std::string> names_in(const std::string& folder, std::string_view prefix) {
  std::vector<std::string> names;
  try {
    names = names_in_folder(folder);
  } catch (const Error&) {
    return {};
  }
  std::erase_if(names, [&](const std::string& name) {
    return !name.starts_with(prefix) || name.find('\n') != std::string::npos;
  });
  std::sort(names.begin(), names.end());
  return names;
}

/// The largest number of bytes of a request or an answer.
constexpr std::size_t longest = 4096;
/// The largest number of bytes of a record.
constexpr std::size_t longest_record = std::size_t{1} << 20;

/// The first `most` bytes of a file. Nothing if it is missing, a link or a pipe.
std::optional<std::string> text_in(const std::string& path, std::size_t most) {
  const Descriptor file(open_existing(path, O_RDONLY));
  if (file.get() < 0) return std::nullopt;
  std::string text(most, '\0');
  std::size_t size = 0;
  while (size < most) {
    const ssize_t got = ::read(file.get(), text.data() + size, most - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

/// Creates the folder if it is missing; an existing one must belong to this user. Anybody who can write into it can
/// command the run.
void make_folder(const std::string& folder) {
  make_directory_of(folder);
  // The folder is not writable for all users, whatever the umask is.
  constexpr mode_t mode = 0775;
  if (::mkdir(folder.c_str(), mode) != 0 && errno != EEXIST) fail_file("make the directory", folder, errno);
  struct stat facts {};
  if (::lstat(folder.c_str(), &facts) != 0) fail_file("examine", folder, errno);
  const char* const wrong = S_ISLNK(facts.st_mode)           ? "is a symbolic link"
                            : !S_ISDIR(facts.st_mode)        ? "is no directory"
                            : facts.st_uid != ::geteuid()    ? "belongs to another user"
                            : (facts.st_mode & S_IWOTH) != 0 ? "may be written by every user"
                                                             : nullptr;
  if (wrong) {
    fail(
        Code::file,
        "the folder for requests '{}' {}, expected one of this user's own: whoever can write into it commands the run; "
        "remove it, or name another output directory",
        folder, wrong);
  }
  if (::access(folder.c_str(), R_OK | W_OK | X_OK) != 0) fail_file("write into the directory", folder, errno);
}

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

void post(const std::string& folder, const std::string& id, const std::string& name, const std::string& value) {
  const std::string text = name + "\n" + value + "\n";
  if (text.size() > longest) {
    fail(Code::usage, "the request has {} characters, expected at most {}; make it shorter", name.size() + value.size(),
         longest - 2);
  }
  replace_file(in(folder, request, id), text);
}

std::string id_of_this_process() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const auto time = std::chrono::system_clock::now().time_since_epoch().count();
  return fmt::format("{}-{}-{}", time, host.data(), ::getpid());
}

/// Reads the answer, if there is one, and removes it.
bool has_answer(const std::string& path, std::string& sentence, double seconds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (Backoff backoff(std::chrono::milliseconds(2), std::chrono::milliseconds(100));;) {
    if (std::optional<std::string> text = text_in(path, longest)) {
      sentence = std::move(*text);
      ::unlink(path.c_str());
      return true;
    }
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(backoff.next());
  }
}

/// A sentence if the run seems to have died: no process on this machine holds a lock of the directory.
std::string sign_of_death(const std::string& directory) {
  for (const char* lock : {own_files::run_lock, own_files::serve_lock, own_files::endpoint_lock}) {
    if (is_locked(directory.empty() ? "." : directory, lock)) return "";
  }
  return " No process on this machine holds the lock of the directory: unless the session runs on another one, it has "
         "died";
}

/// A request, or the reason why the file is no request.
struct Taken {
  std::optional<Mailbox::Request> request;
  std::string trouble;
};

Taken read_request(const std::string& id, const std::string& path) {
  const std::optional<std::string> text = text_in(path, longest + 1);
  if (!text) return {std::nullopt, "refused: the request is no file that can be read"};
  if (text->size() > longest) {
    return {std::nullopt, fmt::format("refused: the request has more than {} bytes; make it shorter", longest)};
  }
  const std::size_t line = text->find('\n');
  const std::size_t end = line == std::string::npos ? line : text->find('\n', line + 1);
  if (end == std::string::npos) {
    return {std::nullopt, "refused: the request does not have two lines, expected a name and a value"};
  }
  return {Mailbox::Request{id, text->substr(0, line), text->substr(line + 1, end - line - 1)}, {}};
}

}  // namespace

Mailbox::Mailbox(const MailboxKind& kind, const std::string& directory, bool goes_on)
    : folder_(folder_in(kind, directory)), record_((fs::path(folder_) / kind.record).string()) {
  make_folder(folder_);
  if (goes_on) return;
  for (const std::string& name : names_in(folder_, "")) ::unlink((fs::path(folder_) / name).c_str());
}

Mailbox::~Mailbox() {
  if (keeps_) return;
  ::unlink(record_.c_str());
  ::rmdir(folder_.c_str());  // fails if answers remain; the reader of the last one removes it
}

std::vector<Mailbox::Request> Mailbox::take() {
  std::vector<Request> requests;
  for (const std::string& name : names_in(folder_, request)) {
    const std::string id = name.substr(request.size());
    const std::string path = in(folder_, taken, id);
    if (::rename((fs::path(folder_) / name).c_str(), path.c_str()) != 0) continue;  // withdrawn
    Taken found = read_request(id, path);
    if (::unlink(path.c_str()) != 0) ::rmdir(path.c_str());
    if (found.request) {
      requests.push_back(std::move(*found.request));
    } else {
      answer(id, found.trouble, false);
    }
  }
  return requests;
}

void Mailbox::answer(const std::string& id, const std::string& sentence, bool ends) {
  if (id.compare(0, own.size(), own) == 0) {
    if (!ends && sentence.compare(0, 8, "refused:") == 0) log::error("steering by an analysis: {}", sentence);
    return;
  }
  try {
    replace_file(in(folder_, answered, id), sentence + "\n");
  } catch (const Error& error) {
    log::warning("a request stays without its answer, '{}': {}", sentence, error.what());
  }
}

void Mailbox::record(const std::string& text) {
  try {
    replace_file(record_, text);
  } catch (const Error& error) {
    log::warning("what may be asked of the run is not on record: {}", error.what());
  }
}

std::vector<std::pair<std::string, std::string>> Mailbox::recorded() const {
  std::vector<std::pair<std::string, std::string>> values;
  std::istringstream file(text_in(record_, longest_record).value_or(""));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name, equals, value;
    if (words >> name >> equals >> value) values.emplace_back(name, value);
  }
  return values;
}

std::string record_in(const MailboxKind& kind, const std::string& directory) {
  const std::string path = (fs::path(folder_in(kind, directory)) / kind.record).string();
  std::optional<std::string> text = text_in(path, longest_record);
  if (!text) {
    fail(Code::file,
         "no session that {} runs in '{}': there is no '{}'. Give its output directory with --directory, and {}",
         kind.what, directory, path, kind.remedy);
  }
  return *text;
}

std::string ask_run(const MailboxKind& kind, const std::string& directory, const std::string& name,
                    const std::string& value, double seconds) {
  static_cast<void>(record_in(kind, directory));  // called for its error
  if (name.find('\n') != std::string::npos || value.find('\n') != std::string::npos) {
    fail(Code::usage, "the name or the value has several lines, expected one each");
  }
  const std::string folder = folder_in(kind, directory), id = id_of_this_process();
  post(folder, id, name, value);
  std::string sentence;
  bool answered_it = has_answer(in(folder, answered, id), sentence, seconds);
  if (!answered_it) {
    if (::unlink(in(folder, request, id).c_str()) == 0) {
      fail(
          Code::file,
          "no answer in {} s; the request is withdrawn. The simulation answers when an iteration ends: wait longer with "
          "--wait, or see whether it is there.{}",
          seconds, sign_of_death(directory));
    }
    constexpr double moment = 5;  // seconds; a request that was just taken gets its answer
    answered_it = has_answer(in(folder, answered, id), sentence, moment);
  }
  if (!exists((fs::path(folder) / kind.record).string())) ::rmdir(folder.c_str());
  if (!answered_it) {
    fail(Code::file, "the session took the request and has not answered; see in its output whether it took effect.{}",
         sign_of_death(directory));
  }
  return sentence.substr(0, sentence.find('\n'));
}

void post_from_run(const MailboxKind& kind, const std::string& directory, std::int64_t number, const std::string& name,
                   const std::string& value) {
  const std::string folder = folder_in(kind, directory);
  post(folder, fmt::format("{}{:020}-{}", own, number, id_of_this_process()), name, value);
}

}  // namespace sidestream
