// Encoding of messages: a header of one line (64 bytes), then the payload in whole lines.
//
// A block's description is written once for each revision. Later messages carry only its number, and the reader looks
// it up among those that it has read. The writer records a revision as known when the message was sent (`sent`), not
// before: one that found no space is written again in full.
// Writer and reader count messages. A gap, a wrong length or an unknown kind is an Error(system).
#include "transport/message.hpp"

#include <array>
#include <cstring>

#include "sidestream/kit/base/fail.hpp"

namespace sidestream {

namespace {

template <class T>
void copy_payload(std::span<const MessageLine> payload, T& to) {
  if (payload.size() != payload_lines(sizeof(T))) {
    fail(Code::system, "a message has {} lines of payload where {} were expected; start all processes with one library",
         payload.size(), payload_lines(sizeof(T)));
  }
  std::memcpy(static_cast<void*>(&to), payload.data(), sizeof(T));
}

void read_signal(std::span<const MessageLine> payload, Signal& signal) {
  const std::span bytes = std::as_bytes(payload);
  if (bytes.size() < sizeof signal.head) fail(Code::system, "a signal of {} bytes came", bytes.size());
  std::memcpy(static_cast<void*>(&signal.head), bytes.data(), sizeof signal.head);
  if (signal.head.bytes > bytes.size() - sizeof signal.head) {
    fail(Code::system, "a signal came that has {} bytes of values and says {}", bytes.size() - sizeof signal.head,
         signal.head.bytes);
  }
  const auto values = bytes.subspan(sizeof signal.head, signal.head.bytes);
  signal.values.assign(values.begin(), values.end());
}

}  // namespace

[[gnu::hot]] std::span<const MessageLine> MessageWriter::finish(const void* payload, std::size_t bytes) {
  header_.lines = 1 + payload_lines(bytes);
  std::memcpy(lines_.data(), &header_, sizeof header_);
  if (bytes > 0) {
    lines_[header_.lines - 1] = {};  // clears the padding behind the payload, which is sent too
    std::memcpy(lines_.data() + 1, payload, bytes);
  }
  return {lines_.data(), header_.lines};
}

std::span<const MessageLine> MessageWriter::write(const Message& message) {
  if (message.kind == MessageKind::block) return write_block(message.block, message.offset, message.segment);
  header_ = {.kind = message.kind, .sequence = header_.sequence};
  describes_ = false;
  switch (message.kind) {
    case MessageKind::declare:
    case MessageKind::remove:
      return finish(&message.block.block, sizeof message.block.block);
    case MessageKind::end:
      return finish(&message.end, sizeof message.end);
    case MessageKind::signal:
      return write_signal(message.signal);
    default:
      return finish(nullptr, 0);
  }
}

/// Writes the head, followed by the values.
std::span<const MessageLine> MessageWriter::write_signal(const Signal& signal) {
  if (signal.values.size() > longest_event || signal.values.size() != signal.head.bytes) {
    fail(Code::internal, "a signal of {} bytes, its head says {}", signal.values.size(), signal.head.bytes);
  }
  std::array<std::byte, sizeof(SignalHead) + longest_event> payload{};
  std::memcpy(payload.data(), &signal.head, sizeof signal.head);
  if (!signal.values.empty()) {
    std::memcpy(payload.data() + sizeof signal.head, signal.values.data(), signal.values.size());
  }
  return finish(payload.data(), sizeof signal.head + signal.values.size());
}

[[gnu::hot]] std::span<const MessageLine> MessageWriter::write_block(const BlockRecord& record, std::uint64_t offset,
                                                                     std::uint32_t segment) {
  header_ = {.kind = MessageKind::block,
             .sequence = header_.sequence,
             .segment = segment,
             .offset = offset,
             .bytes = record.bytes,
             .number = record.number};
  const bool known = record.number < revisions_.size() && revisions_[record.number] == record.revision;
  describes_ = !known && record.number != BlockRecord::no_number;
  revision_ = record.revision;
  if (describes_ && record.number >= revisions_.size()) revisions_.resize(record.number + std::size_t{1}, 0);
  return known ? finish(nullptr, 0) : finish(&record, sizeof record);
}

std::span<const MessageLine> MessageWriter::write_notice(const Notice& notice) {
  if (notice.payload.size() > longest_notice) {
    fail(Code::usage, "a notice of {} bytes is too long, {} are possible", notice.payload.size(), longest_notice);
  }
  header_ = {.kind = MessageKind::notice,
             .sequence = header_.sequence,
             .bytes = notice.payload.size(),
             .iteration = notice.iteration,
             .number = notice.kind};
  describes_ = false;
  return finish(notice.payload.data(), notice.payload.size());
}

void MessageWriter::restart() noexcept {
  header_.sequence = 0;
  revisions_.clear();
}

std::uint32_t MessageReader::length(const MessageLine& first) {
  MessageHeader header;
  std::memcpy(static_cast<void*>(&header), &first, sizeof header);
  if (header.lines >= 1 && header.lines <= most_message_lines) return header.lines;
  fail(Code::system, "a message of {} lines came, expected 1 to {}; start all processes with one library", header.lines,
       most_message_lines);
}

MessageHeader MessageReader::next_header(std::span<const MessageLine> lines) const {
  MessageHeader header;
  std::memcpy(static_cast<void*>(&header), lines.data(), sizeof header);
  if (header.sequence != sequence_) {
    fail(Code::system, "message {} came where {} was expected: some were lost on the way", header.sequence, sequence_);
  }
  return header;
}

void MessageReader::read_block(const MessageHeader& header, std::span<const MessageLine> payload, Message& message) {
  if (!payload.empty()) {
    copy_payload(payload, message.block);
    if (header.number == BlockRecord::no_number) return;
    if (header.number >= records_.size()) records_.resize(header.number + std::size_t{1});
    records_[header.number] = message.block;
    return;
  }
  if (header.number >= records_.size()) {
    fail(Code::system, "a block came whose description {} did not come before", header.number);
  }
  message.block = records_[header.number];
}

void MessageReader::read(std::span<const MessageLine> lines, Message& message) {
  const MessageHeader header = next_header(lines);
  decode(header, lines.subspan(1), message);
  ++sequence_;
}

void MessageReader::decode(const MessageHeader& header, std::span<const MessageLine> payload, Message& message) {
  message.kind = header.kind;
  message.segment = header.segment;
  message.offset = header.offset;
  switch (header.kind) {
    case MessageKind::block:
      return read_block(header, payload, message);
    case MessageKind::declare:
    case MessageKind::remove:
      return copy_payload(payload, message.block.block);
    case MessageKind::end:
      return copy_payload(payload, message.end);
    case MessageKind::signal:
      return read_signal(payload, message.signal);
    case MessageKind::close:
    case MessageKind::abandon:
      return;
    case MessageKind::notice:
      break;
  }
  fail(Code::system, "a message of kind {} came, which clients do not send; start all processes with one library",
       static_cast<std::uint32_t>(header.kind));
}

Notice MessageReader::read_notice(std::span<const MessageLine> lines) {
  const MessageHeader header = next_header(lines);
  const std::span payload = std::as_bytes(lines.subspan(1));
  if (header.kind != MessageKind::notice || header.bytes > payload.size()) {
    fail(Code::system, "a message of kind {} with {} bytes came where a notice was expected",
         static_cast<std::uint32_t>(header.kind), header.bytes);
  }
  Notice notice{header.iteration, header.number, {}};
  notice.payload.assign(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(header.bytes));
  ++sequence_;
  return notice;
}

}  // namespace sidestream
