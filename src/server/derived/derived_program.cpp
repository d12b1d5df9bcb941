#include "server/derived/derived_program.hpp"

#include <iterator>
#include <set>

namespace sidestream {

namespace {

using Kind = DerivationStep::Kind;

/// Finds the components of steps that a target needs.
class Needed {
 public:
  Needed(const std::vector<DerivationStep>& steps, std::size_t target) : steps_(steps), parts_(target + 1) {
    need_all(target);
    for (std::size_t step = target + 1; step-- > 0;) {
      for (std::size_t c = 0; c < parts_[step].size(); ++c) {
        if (parts_[step][c]) need_arguments(steps_[step], static_cast<int>(c));
      }
    }
  }

  [[nodiscard]] std::vector<DerivedPart> parts() const {
    std::vector<DerivedPart> all;
    for (std::size_t step = 0; step < parts_.size(); ++step) {
      for (std::size_t c = 0; c < parts_[step].size(); ++c) {
        if (parts_[step][c]) all.push_back({step, static_cast<int>(c)});
      }
    }
    return all;
  }

 private:
  void need(std::size_t step, int component) {
    std::vector<bool>& mine = parts_[step];
    if (mine.empty()) mine.resize(static_cast<std::size_t>(steps_[step].components));
    mine[static_cast<std::size_t>(component)] = true;
  }
  void need_all(std::size_t step) {
    for (int c = 0; c < steps_[step].components; ++c) need(step, c);
  }

  void need_arguments(const DerivationStep& step, int component) {
    if (step.is_stencil()) return;  // it reads a kept region
    switch (step.kind) {
      case Kind::component:
        return need(step.arguments[0], step.index);
      case Kind::vector:
        return need(step.arguments[static_cast<std::size_t>(component)], 0);
      case Kind::cross:
        for (const std::size_t argument : step.arguments) {
          need(argument, (component + 1) % 3);
          need(argument, (component + 2) % 3);
        }
        return;
      case Kind::formula:
        for (const std::size_t argument : step.arguments) {
          need(argument, steps_[argument].components == 1 ? 0 : component);
        }
        return;
      default:  // magnitude and dot
        for (const std::size_t argument : step.arguments) need_all(argument);
    }
  }

  const std::vector<DerivationStep>& steps_;
  std::vector<std::vector<bool>> parts_;  ///< by step and component; empty: no component is needed
};

}  // namespace

DerivedProgram::DerivedProgram(const Derivation& derivation, const Metadata& metadata)
    : steps(all_steps(derivation, metadata)) {
  // Starts from the result, so that nothing is kept that is not needed.
  std::set<std::size_t> kept{steps.size() - 1};
  std::vector<DerivedTarget> found;
  while (!kept.empty()) {
    const std::size_t step = *kept.rbegin();
    kept.erase(step);
    found.push_back({step, Needed(steps, step).parts()});
    for (const DerivedPart& part : found.back().order) {
      if (steps[part.step].is_stencil()) kept.insert(steps[part.step].arguments[0]);
    }
  }
  targets.assign(std::make_move_iterator(found.rbegin()), std::make_move_iterator(found.rend()));
}

}  // namespace sidestream
