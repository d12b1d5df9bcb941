// The option `precision` of outputs, and the forms of values that the servers agree on in each iteration.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "sidestream/extend/option_table.hpp"
#include "sidestream/extend/task.hpp"
#include "sidestream/kit/storage/codecs/stored_form.hpp"

namespace sidestream {

/// The forms of values that an output can store.
struct FormsOfOutput {
  std::vector<Precision::Kind> kinds{};  ///< precisions that its readers decode
  HalfAs half = HalfAs::bits;
  bool compresses = false;    ///< values are compressed without loss afterwards
  std::string compression{};  ///< the option that compresses, for messages: `compression: deflate`
  std::string instead{};      ///< advice for other precisions, for messages
};

/// The option `precision`: pairs of variables and words of precision_words().
template <class Owner>
[[nodiscard]] OptionField<Owner> precision_option(OptionPairs Owner::*words, const FormsOfOutput& forms,
                                                  const std::string& more) {
  return option("precision", words,
                "The precision of some real variables, by name: `{temperature: bit-round:10}`. " +
                    precision_manual(forms.kinds) + " " + more +
                    " If one value of an iteration cannot keep the bound, all of them are stored in full, with a "
                    "message.");
}

/// The form of each variable of an output. Precisions that depend on extremes need a pass before the one that writes;
/// see Preparation.
class AgreedForms {
 public:
  /// Throws through settings.fail for unknown variables and words, and for values that a precision does not suit.
  AgreedForms(const Settings& settings, const OptionPairs& words, const std::vector<std::int32_t>& variables,
              const Metadata& metadata, const FormsOfOutput& forms);

  /// Count of the numbers that servers must agree on; 0: the forms are always the same.
  [[nodiscard]] std::size_t measured() const noexcept;
  /// The points of a block that the output stores.
  using Stored = std::function<Box(const Variable& variable, const BlockView& view)>;
  /// This server's numbers. The servers agree on the minimum of each.
  [[nodiscard]] std::vector<double> measure(const LocalInput& input, const Stored& stored) const;
  /// Takes the agreed numbers: the first `measured()` of `least`.
  void take(std::span<const double> least);
  /// Logs, on the first server, which variables are stored in full, when that changes.
  void report(const CombineInput& input);

  /// The form of a variable in this iteration.
  [[nodiscard]] const StoredForm& of(const Variable& variable) const { return forms_.at(variable.id); }
  /// True if some variable has numbers that readers must scale.
  [[nodiscard]] bool any_scaled() const noexcept;

 private:
  void add(const Settings& settings, const std::string& word, const Variable& variable);

  FormsOfOutput output_;
  std::map<std::int32_t, StoredForm> forms_;
  std::vector<std::pair<std::int32_t, Precision>> measured_;  ///< variables whose extremes are needed
  std::map<std::int32_t, std::string> reported_;
};

}  // namespace sidestream
