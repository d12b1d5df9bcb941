// Options bound to the fields that they fill: one declaration for the parser, the checker, the manual and the program.
//
//   struct Query { int bins = 0; std::optional<std::array<double, 2>> range; std::string file; };
//   const OptionTable<Query>& options() {
//     static const OptionTable<Query> table{
//         option("bins", &Query::bins, "Number of intervals.", {.standard = 64, .minimum = 1, .maximum = 4096}),
//         option("range", &Query::range, "Ends of the first and the last interval. Default: those of the values."),
//         option<OptionType::file>("file", &Query::file, "The table.", {.standard = "histogram.csv"})};
//     return table;
//   }
//
// `options().declarations()` are the options of a kind, and `options().read(settings, metadata)` is a Query.
#pragma once

#include <any>
#include <functional>
#include <initializer_list>
#include <iterator>

#include "sidestream/extend/option_fields.hpp"

namespace sidestream {

template <class Owner>
class OptionTable;

/// Facts about an option, see Option. `options` is the table of a nested struct, or those of `map` and `one_of`.
template <class Value, OptionType type>
struct OptionFacts {
  OptionDefault standard{};
  bool required = false;
  OptionChoices<Value, type> choices{};
  std::optional<double> minimum{}, maximum{};
  int least_entries = 0, most_entries = -1;
  std::conditional_t<is_nested_option<Value>, OptionTable<Value>, std::vector<Option>> options{};
  std::string range_text{}, with{};
};

/// One or more declared options, and how they fill a field of an Owner.
template <class Owner>
class OptionField {
 public:
  using Fill = std::function<void(const Settings&, const Metadata&, Owner&)>;

  /// Options that a function reads. `field` is the pointer to the member.
  OptionField(std::vector<Option> declared, std::any field, Fill fill)
      : declared_(std::move(declared)), field_(std::move(field)), fill_(std::move(fill)) {}
  /// A field that the Owner inherits.
  template <class Base>
  requires(!std::same_as<Base, Owner> && std::derived_from<Owner, Base>) OptionField(const OptionField<Base>& inherited)
      : OptionField(inherited.declared(), inherited.field(),
                    [fill = inherited.filling()](const Settings& settings, const Metadata& metadata, Owner& owner) {
                      fill(settings, metadata, owner);
                    }) {}

  /// Adds a check, which is called as `check(settings, name, metadata, owner)`; `name` is that of the first option.
  template <class Check>
  [[nodiscard]] OptionField then(Check check) const {
    return {declared_, field_,
            [fill = fill_, check, name = declared_.at(0).name](const Settings& settings, const Metadata& metadata,
                                                               Owner& owner) {
              fill(settings, metadata, owner);
              check(settings, name, metadata, owner);
            }};
  }

  [[nodiscard]] const std::vector<Option>& declared() const noexcept { return declared_; }
  [[nodiscard]] const std::any& field() const noexcept { return field_; }
  [[nodiscard]] const Fill& filling() const noexcept { return fill_; }

 private:
  std::vector<Option> declared_;
  std::any field_;
  Fill fill_;
};

/// A set of options, in the order of the manual, with the fields of an Owner that they fill.
template <class Owner>
class OptionTable {
 public:
  OptionTable() = default;
  OptionTable(std::initializer_list<OptionField<Owner>> fields) : fields_(fields) {}

  OptionTable& add(OptionField<Owner> field) {
    fields_.push_back(std::move(field));
    return *this;
  }

  OptionTable& add(const OptionTable& others) {
    fields_.insert(fields_.end(), others.fields_.begin(), others.fields_.end());
    return *this;
  }

  /// Checks of several options together: the function is called after all fields are filled.
  using Check = std::function<void(const OptionTable&, const Settings&, const Metadata&, Owner&)>;
  OptionTable& then(Check check) {
    check_ = std::move(check);
    return *this;
  }

  [[nodiscard]] std::vector<Option> declarations() const {
    std::vector<Option> all;
    for (const auto& field : fields_) all.insert(all.end(), field.declared().begin(), field.declared().end());
    return all;
  }

  /// Sets the fields whose options have a value, given or default, in the order of the table; other fields stay
  /// unchanged. `metadata` has the variables that fields of type Variable name. Throws Error(configuration).
  void fill(const Settings& settings, const Metadata& metadata, Owner& owner) const {
    for (const auto& field : fields_) field.filling()(settings, metadata, owner);
    if (check_) check_(*this, settings, metadata, owner);
  }
  [[nodiscard]] Owner read(const Settings& settings, const Metadata& metadata = {}) const {
    Owner owner{};
    fill(settings, metadata, owner);
    return owner;
  }

  /// The option of a field, for messages and for functions that read it. Throws Error(internal) if there is none.
  template <class Field, class Base>
  [[nodiscard]] const std::string& name(Field Base::*field) const {
    for (const auto& bound : fields_) {
      const auto* const member = std::any_cast<Field Base::*>(&bound.field());
      if (member != nullptr && *member == field && !bound.declared().empty()) return bound.declared().front().name;
    }
    fail_unbound("a field");
  }
  /// True if the file gives the field's option.
  template <class Field, class Base>
  [[nodiscard]] bool given(const Settings& settings, Field Base::*field) const {
    return settings.given(name(field));
  }
  /// Throws Error(configuration) with the location of the field's option before the message.
  template <class Field, class Base>
  [[noreturn]] void fail(const Settings& settings, Field Base::*field, const std::string& message) const {
    settings.fail(name(field), message);
  }

 private:
  std::vector<OptionField<Owner>> fields_;
  Check check_;
};

/// The value that a choice represents; the parser has checked that it is a valid choice.
template <class Value>
[[nodiscard]] Value value_of_choice(const std::string& text,
                                    const std::vector<std::pair<std::string, Value>>& choices) {
  const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& one) { return one.first == text; });
  if (found == choices.end()) fail_unbound(text);
  return found->second;
}

/// The value of an option that has one.
template <class Value, OptionType type>
[[nodiscard]] Value read_option(const Settings& settings, const std::string& name, const Metadata& metadata,
                                const OptionFacts<Value, type>& facts) {
  if constexpr (type == OptionType::boolean) {
    return settings.boolean(name);
  } else if constexpr (type == OptionType::integer || type == OptionType::bytes) {
    return settings.integer<Value>(name);
  } else if constexpr (type == OptionType::real) {
    return settings.real(name);
  } else if constexpr (type == OptionType::pairs) {
    return settings.pairs(name);
  } else if constexpr (type == OptionType::one_of) {
    return settings.one_of(name);
  } else if constexpr (is_nested_option<Value>) {
    return facts.options.read(settings.map(name), metadata);
  } else if constexpr (type == OptionType::map) {
    return settings.map(name);
  } else if constexpr (std::same_as<Value, std::string>) {
    return settings.text(name);
  } else if constexpr (std::same_as<Value, Variable>) {
    return variable_named(settings, name, settings.text(name), metadata);
  } else {
    return value_of_choice(settings.text(name), facts.choices);
  }
}

/// The entries of a list.
template <class Value, OptionType type>
[[nodiscard]] std::vector<Value> read_options(const Settings& settings, const std::string& name,
                                              const Metadata& metadata, const OptionFacts<Value, type>& facts) {
  std::vector<Value> values;
  if constexpr (type == OptionType::integer || type == OptionType::bytes) {
    values = settings.integers<Value>(name);
  } else if constexpr (type == OptionType::real) {
    values = settings.reals(name);
  } else if constexpr (type == OptionType::one_of) {
    values = settings.ones_of(name);
  } else if constexpr (is_nested_option<Value>) {
    for (const Settings& map : settings.maps(name)) values.push_back(facts.options.read(map, metadata));
  } else if constexpr (type == OptionType::map) {
    values = settings.maps(name);
  } else if constexpr (std::same_as<Value, std::string>) {
    values = settings.texts(name);
  } else if constexpr (std::same_as<Value, Variable>) {
    for (const auto& text : settings.texts(name)) values.push_back(variable_named(settings, name, text, metadata));
  } else {
    for (const auto& text : settings.texts(name)) values.push_back(value_of_choice(text, facts.choices));
  }
  return values;
}

/// Declares an option of the given type and binds it to the field that it fills. A type that the field cannot hold does
/// not compile. Without a type, the field's own decides: see natural_type.
template <OptionType type, class Owner, class Field>
requires HoldsOption<Field, type>
[[nodiscard]] OptionField<Owner> option(const std::string& name, Field Owner::*field, const std::string& text,
                                        const std::type_identity_t<OptionFacts<OptionValue<Field>, type>>& facts = {}) {
  using Values = OptionValues<Field>;
  Option declared{.name = name, .type = type, .list = Values::list, .default_value = facts.standard.text};
  declared.required = facts.required;
  declared.text = text;
  declared.choices = names_of_choices(facts.choices);
  declared.minimum = facts.minimum;
  declared.maximum = facts.maximum;
  declared.least_entries = Values::entries < 0 ? facts.least_entries : Values::entries;
  declared.most_entries = Values::entries < 0 ? facts.most_entries : Values::entries;
  if constexpr (is_nested_option<OptionValue<Field>>) {
    declared.options = facts.options.declarations();
  } else {
    declared.options = facts.options;
  }
  declared.range_text = facts.range_text;
  declared.with = facts.with;
  const auto fill = [name, field, facts](const Settings& settings, const Metadata& metadata, Owner& owner) {
    if (!settings.has(name)) return;
    if constexpr (Values::entries >= 0) {
      const auto values = read_options<typename Values::Value, type>(settings, name, metadata, facts);
      std::array<typename Values::Value, static_cast<std::size_t>(Values::entries)> array{};
      std::copy_n(values.begin(), std::min(values.size(), array.size()), array.begin());
      owner.*field = array;
    } else if constexpr (Values::list) {
      owner.*field = read_options<typename Values::Value, type>(settings, name, metadata, facts);
    } else {
      owner.*field = read_option<typename Values::Value, type>(settings, name, metadata, facts);
    }
  };
  return {{std::move(declared)}, field, fill};
}
template <class Owner, class Field>
requires HoldsOption < Field, natural_type<OptionValue<Field>>()
> [[nodiscard]] OptionField<Owner> option(
      const std::string& name, Field Owner::*field, const std::string& text,
      const std::type_identity_t<OptionFacts<OptionValue<Field>, natural_type<OptionValue<Field>>()>>& facts = {}) {
  return option<natural_type<OptionValue<Field>>()>(name, field, text, facts);
}

/// Adds the options of a nested struct to the same map.
template <class Owner, class Part>
[[nodiscard]] OptionField<Owner> options_of(Part Owner::*part, const OptionTable<Part>& table) {
  return {table.declarations(), part, [part, table](const Settings& settings, const Metadata& metadata, Owner& owner) {
            table.fill(settings, metadata, owner.*part);
          }};
}

/// Adds options that other code reads.
template <class Owner>
[[nodiscard]] OptionField<Owner> options_read_elsewhere(std::vector<Option> declared) {
  return {std::move(declared), {}, [](const Settings&, const Metadata&, Owner&) {}};
}

/// Binds options that a function `read(settings)` or `read(settings, metadata, owner)` reads; it returns the field's
/// value. It may use fields of preceding options.
template <class Owner, class Field, class Read>
[[nodiscard]] OptionField<Owner> options_read_by(Read read, std::vector<Option> declared, Field Owner::*field) {
  return {std::move(declared), field, [read, field](const Settings& settings, const Metadata& metadata, Owner& owner) {
            if constexpr (std::is_invocable_v<Read, const Settings&>) {
              owner.*field = read(settings);
            } else {
              owner.*field = read(settings, metadata, std::as_const(owner));
            }
          }};
}

}  // namespace sidestream
