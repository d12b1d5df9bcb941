// Reading a node of the document by the declarations of options.
//
// 1. read_options: refuses unknown keys with a suggestion, and fills in defaults, which are parsed like given values.
// 2. read_value: a list or a single value; then by type: numbers are expressions, names of variables and meshes must be
//    declared, paths are made absolute.
// Each error says what was found, where, what was expected, and what to do.
#include "config/options/read_settings.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>

#include "base/paths.hpp"
#include "config/expressions/derived_section.hpp"
#include "config/options/option_text.hpp"
#include "config/tasks/schedule_text.hpp"
#include "sidestream/kit/base/names.hpp"
#include "sidestream/kit/data/file_pattern.hpp"

namespace sidestream {

namespace {

using Content = decltype(Settings::Value::content);
using SharedMap = std::shared_ptr<Settings::Map>;

SharedMap read_options(const Node& node, const std::vector<Option>& options, const std::string& owner,
                       const Location& where, const ReadContext& context);

/// The option's name as messages show it.
std::string quoted(const Option& option) { return fmt::format("'{}'", option.name); }

[[noreturn]] void wrong(const Node& node, const Option& option, const std::string& remedy) {
  fail_at(node.where, "found {} for {}, expected {}; {}", node.description(), quoted(option), expected_text(option),
          remedy);
}

void check_range(const Node& node, const Option& option, double value) {
  if ((option.minimum && value < *option.minimum) || (option.maximum && value > *option.maximum)) {
    wrong(node, option, "change it");
  }
}

/// Accepts `yes` and `no` for `true` and `false`.
std::string_view boolean_word(std::string_view text) { return text == "yes" ? "true" : text == "no" ? "false" : text; }

Content read_boolean(const Node& node, const Option& option) {
  const std::string_view word = boolean_word(node.text);
  if (word == "true") return true;
  if (word == "false") return false;
  wrong(node, option, "write true or false");
}

Content read_integer(const Node& node, const Option& option, const ReadContext& context) {
  const Number number = evaluate(node.text, context.expressions, quoted(option), inside(node));
  // A real number that is an integer (1e6) is accepted; beyond 2^53 reals skip integers.
  constexpr double exact = 9007199254740992.0;
  const double real = as_real(number);
  std::int64_t value = 0;
  if (std::holds_alternative<std::int64_t>(number)) {
    value = std::get<std::int64_t>(number);
  } else if (real == std::floor(real) && std::abs(real) <= exact) {
    value = static_cast<std::int64_t>(real);
  } else {
    const bool computed = node.text.find('$') != std::string::npos;
    wrong(node, option,
          computed ? fmt::format("its value is {}; change it to come out whole", real)
                   : std::string("write it without fraction"));
  }
  check_range(node, option, static_cast<double>(value));
  return value;
}

Content read_real(const Node& node, const Option& option, const ReadContext& context) {
  const double value = as_real(evaluate(node.text, context.expressions, quoted(option), inside(node)));
  check_range(node, option, value);
  return value;
}

Content read_bytes(const Node& node, const Option& option) {
  const std::int64_t value = parse_byte_size(node.text, quoted(option), node.where);
  check_range(node, option, static_cast<double>(value));
  return value;
}

/// `found 'colums' for 'order', expected one of column, row; did you mean 'column'?`
[[noreturn]] void unknown_name(const Node& node, const Option& option, const std::string& expected,
                               const std::vector<std::string>& known, const std::string& otherwise) {
  fail_at(node.where, "found {} for {}, expected {}; {}", node.description(), quoted(option), expected,
          suggestion(node.text, known, otherwise));
}

Content read_choice(const Node& node, const Option& option) {
  for (const std::string& choice : option.choices) {
    if (choice == node.text) return node.text;
  }
  for (const std::string& choice : option.choices) {
    if (choice == boolean_word(node.text)) return choice;
  }
  unknown_name(node, option, expected_text(option), option.choices, "write one of them");
}

Content read_file(const Node& node, const Option& option) {
  try {
    check_pattern(node.text);
  } catch (const Error& error) {
    fail_at(node.where, "{} (option {})", error.what(), quoted(option));
  }
  return node.text;
}

std::string read_path(const Node& node, const Option& option, const ReadContext& context) {
  const std::string path = path_from(context.folder, node.text);
  if (!is_beside_path(option) || context.beside_file.empty()) return path;
  std::string beside = path_from(context.beside_file, node.text);
  std::error_code ignored;
  return std::filesystem::exists(beside, ignored) ? beside : path;
}

/// The names that a message offers.
std::vector<std::string> names_to_offer(bool is_mesh, const ReadContext& context) {
  const Metadata& metadata = *context.metadata;
  std::vector<std::string> names;
  for (const Mesh& mesh : metadata.meshes) {
    if (is_mesh && !(context.asked && mesh.made)) names.push_back(mesh.name);
  }
  for (const Variable& variable : metadata.variables) {
    if (!is_mesh && !(context.asked && metadata.mesh_of(variable).made)) names.push_back(variable.name);
  }
  return names;
}

Content read_declared(const Node& node, const Option& option, const ReadContext& context) {
  if (context.metadata == nullptr) {
    fail(Code::internal, "the option {} is read before meshes and variables are known", quoted(option));
  }
  const bool is_mesh = option.type == OptionType::mesh;
  const Metadata& metadata = *context.metadata;
  if (is_mesh ? context.meshes.contains(node.text, metadata.meshes)
              : context.variables.contains(node.text, metadata.variables)) {
    return node.text;
  }
  if (!is_mesh && is_expression(node.text)) {
    if (!context.derive) {
      fail_at(node.where, "found the expression {} for {}, expected a name; give it one under 'derived:'",
              node.description(), quoted(option));
    }
    context.derive(node);
    return node.text;
  }
  const auto known = names_to_offer(is_mesh, context);
  const char* what = is_mesh ? "mesh" : "variable";
  const std::string otherwise =
      context.asked ? "name one of them"
                    : fmt::format("declare it under '{}:' or in the program", is_mesh ? "meshes" : "variables");
  unknown_name(node, option, fmt::format("a declared {} ({})", what, listed(known)), known, otherwise);
}

Content read_scalar(const Node& node, const Option& option, const ReadContext& context) {
  if (node.kind != Node::Kind::scalar) {
    wrong(node, option, node.kind == Node::Kind::null ? "write one or remove the line" : "write a single value");
  }
  switch (option.type) {
    case OptionType::boolean:
      return read_boolean(node, option);
    case OptionType::integer:
      return read_integer(node, option, context);
    case OptionType::real:
      return read_real(node, option, context);
    case OptionType::bytes:
      return read_bytes(node, option);
    case OptionType::choice:
      return read_choice(node, option);
    case OptionType::file:
      return read_file(node, option);
    case OptionType::text:
      if (is_path(option)) return read_path(node, option, context);
      return node.text;
    case OptionType::variable:
    case OptionType::mesh:
      return read_declared(node, option, context);
    case OptionType::schedule:
      static_cast<void>(parse_every(node.text, context.expressions, quoted(option), inside(node)));
      return node.text;
    default:
      return node.text;
  }
}

Content read_map(const Node& node, const Option& option, const ReadContext& context) {
  if (node.kind != Node::Kind::map && node.kind != Node::Kind::null) {
    wrong(node, option,
          fmt::format("write {}: {{name: value, ...}} with options out of {}", option.name,
                      listed(names_of(option.options))));
  }
  return read_options(node, option.options, quoted(option), node.where, context);
}

Content read_pairs(const Node& node, const Option& option) {
  auto map = std::make_shared<Settings::Map>();
  if (node.kind == Node::Kind::null) return map;
  if (node.kind != Node::Kind::map) wrong(node, option, fmt::format("write {}: {{name: value, ...}}", option.name));
  for (const Entry& entry : node.entries) {
    if (entry.value.kind != Node::Kind::scalar) {
      fail_at(entry.value.where, "found {} for '{}' in {}, expected a text or a number; write '{}: value'",
              entry.value.description(), entry.key, quoted(option), entry.key);
    }
    map->emplace(entry.key, Settings::Value{entry.value.where, entry.value.text, true});
  }
  return map;
}

Content read_one_of(const Node& node, const Option& option, const ReadContext& context) {
  // Only the key, `- volume`, stands for a map without options.
  const bool bare = node.kind == Node::Kind::scalar;
  if (!bare && (node.kind != Node::Kind::map || node.entries.size() != 1)) {
    wrong(node, option,
          node.entries.size() > 1
              ? fmt::format("remove all but one, or indent the options of '{}' below it", node.entries.front().key)
              : std::string("write one of them, followed by its options"));
  }
  const std::string& key = bare ? node.text : node.entries.front().key;
  for (const Option& candidate : option.options) {
    if (candidate.name != key) continue;
    Node value = bare ? Node{} : node.entries.front().value;
    if (bare) value.where = node.where;
    auto map = std::make_shared<Settings::Map>();
    map->emplace(key, read_value(value, candidate, context));
    return map;
  }
  const Location& where = bare ? node.where : node.entries.front().where;
  fail_at(where, "found '{}' for {}, expected {}; {}", key, quoted(option), expected_text(option),
          suggestion(key, names_of(option.options), "write one of them"));
}

Content read_entry(const Node& node, const Option& option, const ReadContext& context) {
  if (option.type == OptionType::map) return read_map(node, option, context);
  if (option.type == OptionType::one_of) return read_one_of(node, option, context);
  if (option.type == OptionType::pairs) return read_pairs(node, option);
  return read_scalar(node, option, context);
}

/// True for a word that the option accepts instead of numbers: a list of one entry that is not a number.
bool is_word(const Node& node, const Option& option) {
  return option.type == OptionType::real && node.kind == Node::Kind::scalar &&
         std::find(option.choices.begin(), option.choices.end(), node.text) != option.choices.end();
}

Content read_list(const Node& node, const Option& option, const ReadContext& context) {
  if (node.kind == Node::Kind::null) wrong(node, option, "write one or remove the line");
  if (is_word(node, option)) {
    const Settings::Value word{node.where, std::numeric_limits<double>::quiet_NaN(), true};
    return std::make_shared<Settings::List>(Settings::List{word});
  }
  Option entry = option;
  entry.list = false;
  auto list = std::make_shared<Settings::List>();
  const auto append = [&](const Node& item) { list->push_back({item.where, read_entry(item, entry, context), true}); };
  if (node.kind == Node::Kind::list) {
    for (const Node& item : node.items) append(item);
  } else {
    append(node);  // a single value is a list of one
  }
  const auto count = static_cast<int>(list->size());
  if (count < option.least_entries || (option.most_entries >= 0 && count > option.most_entries)) {
    fail_at(node.where, "found {} {} for {}, expected {}; {}", count, count == 1 ? "entry" : "entries", quoted(option),
            expected_text(option), count < option.least_entries ? "add the missing ones" : "remove some");
  }
  return list;
}

/// The value of an option that the file does not give; all parts are marked as defaults.
Settings::Value default_value(const Option& option, const ReadContext& context) {
  Settings::Value value;
  if (option.default_value.empty()) return value;
  const bool structured = option.list || option.type == OptionType::map || option.type == OptionType::one_of ||
                          option.type == OptionType::pairs;
  try {
    Node node;
    if (structured) {
      node = parse_node(option.default_value, "");
    } else {
      node.kind = Node::Kind::scalar;
      node.text = option.default_value;
    }
    value = read_value(node, option, context);
  } catch (const Error& error) {
    fail(Code::internal, "the default '{}' of the option '{}' is wrong: {}", option.default_value, option.name,
         error.what());
  }
  value.given = false;
  value.location = {};
  return value;
}

void check_keys(const Node& node, const std::vector<Option>& options, const std::string& owner) {
  const std::vector<std::string> known = names_of(options);
  for (const Entry& entry : node.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    fail_at(entry.where, "found the unknown option '{}' of {}, expected one of {}; {}", entry.key, owner, listed(known),
            suggestion(entry.key, known, "correct or remove it"));
  }
}

SharedMap read_options(const Node& node, const std::vector<Option>& options, const std::string& owner,
                       const Location& where, const ReadContext& context) {
  if (node.kind != Node::Kind::map && node.kind != Node::Kind::null) {
    fail_at(node.where, "found {} for {}, expected a map of options ({}); write 'name: value' pairs",
            node.description(), owner, listed(names_of(options)));
  }
  check_keys(node, options, owner);
  auto values = std::make_shared<Settings::Map>();
  for (const Option& option : options) {
    const Entry* entry = node.find(option.name);
    if (entry == nullptr && option.required) {
      fail_at(where, "found no '{}' for {}, expected {}; add '{}: ...'", option.name, owner, expected_text(option),
              option.name);
    }
    values->emplace(option.name, entry ? read_value(entry->value, option, context) : default_value(option, context));
  }
  return values;
}

}  // namespace

ReadContext context_of(const Document& document, const ExpressionContext& expressions, const Metadata* metadata) {
  ReadContext context{expressions, metadata};
  context.folder = document.folder();
  if (context.folder.empty()) return context;
  context.beside_file = path_from(context.folder, std::filesystem::path(document.file()).parent_path().string());
  if (context.beside_file.empty()) context.beside_file = context.folder;
  return context;
}

void check_option_names(const Node& node, const std::vector<Option>& options, const std::string& owner) {
  check_keys(node, options, owner);
  for (const Entry& entry : node.entries) {
    const auto option = std::ranges::find(options, entry.key, &Option::name);
    if (option->type != OptionType::map) continue;
    check_option_names(entry.value, option->options, quoted(*option));
    for (const Node& item : entry.value.items) check_option_names(item, option->options, quoted(*option));
  }
}

Location inside(const Node& node) {
  Location where = node.where;
  if (node.quoted) ++where.column;
  return where;
}

Settings::Value read_value(const Node& node, const Option& option, const ReadContext& context) {
  Settings::Value value;
  value.content = option.list ? read_list(node, option, context) : read_entry(node, option, context);
  value.location = node.where;
  value.given = true;
  return value;
}

Settings read_settings(const Node& node, const std::vector<Option>& options, const std::string& owner,
                       const Location& where, const ReadContext& context) {
  return {read_options(node, options, owner, where, context), where};
}

void for_each_option(
    const Settings& settings, const std::vector<Option>& options,
    const std::function<void(const Option& option, const Settings& in, const std::vector<Option>& beside)>& visit) {
  for (const Option& option : options) {
    if (!settings.has(option.name)) continue;
    visit(option, settings, options);
    const auto nested = [&](const std::pair<std::string, Settings>& one) {
      for (const Option& candidate : option.options) {
        if (candidate.name == one.first && !candidate.list) for_each_option(one.second, candidate.options, visit);
      }
    };
    if (option.type == OptionType::map && option.list) {
      for (const Settings& one : settings.maps(option.name)) for_each_option(one, option.options, visit);
    } else if (option.type == OptionType::map) {
      for_each_option(settings.map(option.name), option.options, visit);
    } else if (option.type == OptionType::one_of && option.list) {
      for (const auto& one : settings.ones_of(option.name)) nested(one);
    } else if (option.type == OptionType::one_of) {
      nested(settings.one_of(option.name));
    }
  }
}

}  // namespace sidestream
