#include "storage/database/shared_opening.hpp"

#include <span>

#include "sidestream/error.hpp"
#include "sidestream/kit/base/log.hpp"
#include "sidestream/kit/base/records.hpp"
#include "sidestream/kit/storage/files/output_file.hpp"
#include "sidestream/kit/storage/results/agreed_commit.hpp"

namespace sidestream::database {

Bytes shared(Communicator* comm, const std::function<Bytes()>& read) {
  if (comm == nullptr) return read();
  Bytes message;
  if (comm->rank() == 0) {
    Bytes content;
    const std::string failure = failure_of([&] { content = read(); });
    ByteWriter writer;
    writer.put(failure);
    writer.put(content);
    message = writer.take();
  }
  comm->broadcast(message, 0);
  ByteReader reader(message);
  std::string failure;
  Bytes content;
  reader.get(failure);
  reader.get(content);
  if (!failure.empty()) throw Error(Code::file, failure);
  return content;
}

Journal shared_journal(Communicator* comm, const std::string& directory) {
  const std::string path = directory + "/" + journal_name;
  const Bytes bytes = shared(comm, [&]() -> Bytes {
    static_cast<void>(read_journal(directory));  // called for its error about the directory
    const std::string text = read_file(path);
    const BytesView view = std::as_bytes(std::span(text));
    return {view.begin(), view.end()};
  });
  return parse_journal(bytes, path);
}

std::unique_ptr<Context> shared_context(Communicator* comm, const std::string& directory, const Entry& entry) {
  const Bytes record =
      shared(comm, [&] { return of_context(directory, entry, [&] { return read_record(directory, entry); }); });
  auto context = std::make_unique<Context>(directory, entry, record);
  for (std::size_t group = 0; group < context->groups().size(); ++group) {
    context->give_blocks(
        group, shared(comm, [&] { return of_context(directory, entry, [&] { return context->read_blocks(group); }); }));
  }
  return context;
}

}  // namespace sidestream::database
