#include <nlohmann/json.hpp>

#include "storage/database/context.hpp"
#include "storage/database/schema.hpp"
#include "storage/files/json.hpp"
#include "targets.hpp"

namespace sidestream::fuzz {

void run_json(BytesView input) {
  const std::string text(reinterpret_cast<const char*>(input.data()), input.size());
  refused_or_read([&] { static_cast<void>(parse_json(text)); });
  refused_or_read([&] {
    // After writing and reading, the schema must be the same.
    const std::string once = schema_text(database::read_schema(text, "a record"));
    const std::string twice = schema_text(database::read_schema(once, "a record"));
    if (once != twice) throw std::logic_error("a schema changes when it is written: " + once + twice);
  });
}

void run_record(BytesView input) {
  refused_or_read([&] { static_cast<void>(database::Context("nowhere", database::Entry{}, input)); });
}

}  // namespace sidestream::fuzz
