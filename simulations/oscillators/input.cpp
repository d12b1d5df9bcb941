#include "input.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace oscillators {

namespace {

// Position in the input, for messages.
struct Line {
  const std::string& file;
  int number;
  [[noreturn]] void fail(const std::string& sentence) const {
    throw UserError(file + ":" + std::to_string(number) + ": " + sentence);
  }
};

Kind read_kind(const std::string& word, const Line& line) {
  if (word == "damped") return Kind::damped;
  if (word == "decaying") return Kind::decaying;
  if (word == "periodic") return Kind::periodic;
  line.fail("the type is '" + word + "'; expected damped, decaying or periodic as the first word.");
}

double read_number(const std::string& word, const char* name, const Line& line) {
  // strtod and not a stream: the rest of the word must be seen, and "1e999" must not pass as a number.
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  if (end == word.c_str() || *end != '\0' || !std::isfinite(value)) {
    line.fail(std::string(name) + " is '" + word + "'; expected a finite number.");
  }
  return value;
}

double read_positive(const std::string& word, const char* name, const Line& line) {
  const double value = read_number(word, name, line);
  if (value <= 0) line.fail(std::string(name) + " is " + word + "; it must be greater than 0.");
  return value;
}

Oscillator read_oscillator(const std::vector<std::string>& words, const Line& line) {
  Oscillator o;
  o.kind = read_kind(words[0], line);
  if (words.size() < 6 || words.size() > 7) {
    line.fail("found " + std::to_string(words.size()) + " words; expected 'type x y z radius omega0 [zeta]'.");
  }
  constexpr const char* axes[3] = {"x", "y", "z"};
  for (int a = 0; a < 3; ++a) o.centre[a] = read_number(words[a + 1], axes[a], line);
  o.radius = read_positive(words[4], "radius", line);
  o.omega0 = read_positive(words[5], "omega0", line);
  if (words.size() == 7) o.zeta = read_number(words[6], "zeta", line);
  if (o.kind != Kind::damped) return o;
  if (words.size() == 6) line.fail("a damped oscillator needs zeta as its seventh word, 0 <= zeta < 1.");
  if (o.zeta < 0 || o.zeta >= 1) line.fail("zeta is " + words[6] + "; it must be at least 0 and less than 1.");
  return o;
}

}  // namespace

std::vector<Oscillator> parse_oscillators(const std::string& text, const std::string& file) {
  std::vector<Oscillator> oscillators;
  std::istringstream lines(text);
  std::string content;
  for (int number = 1; std::getline(lines, content); ++number) {
    std::istringstream rest(content.substr(0, content.find('#')));
    std::vector<std::string> words;
    for (std::string word; rest >> word;) words.push_back(word);
    if (!words.empty()) oscillators.push_back(read_oscillator(words, Line{file, number}));
  }
  if (oscillators.empty()) {
    throw UserError(file + ": there is no oscillator in it; expected lines 'type x y z radius omega0 [zeta]'.");
  }
  return oscillators;
}

}  // namespace oscillators
