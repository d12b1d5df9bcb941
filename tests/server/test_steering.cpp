// Steered parameters, with servers and clients as state machines whose steps come in any order that transports allow.
// Thousands of interleavings take a second. All clients must read the same after each iteration, and the answers that
// people got must be true.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "client/steered_values.hpp"
#include "server/steering/steering_server.hpp"
#include "sidestream/error.hpp"

using namespace sidestream;

namespace {

constexpr std::int64_t iterations = 60;
/// Lines of a client's ring in shared memory (transport/shared_memory/control.hpp), and lines of the longest notice.
constexpr std::size_t ring_lines = 128;

const std::vector<SteeredParameter> parameters{{"stop", std::int64_t{0}, 0, 1}, {"interval", 0.5, 0.01}};

struct Client {
  SteeredValues values{parameters};
  std::deque<Notice> ring;                ///< told to the client, which has not read it
  std::map<std::int64_t, bool> outcomes;  ///< outcomes announced to the client
  std::int64_t ended = 0;
  bool begun = false;
  std::vector<std::pair<std::int64_t, double>> trace{};  ///< what it read after each iteration
};

struct Accepted {
  std::string name, value;
  std::int64_t from = 0;
};

/// The clients of several servers, and the requests of people.
class World {
 public:
  World(unsigned seed, int clients, int servers, int ahead) : random_(seed), ahead_(ahead), clients_(clients) {
    SteeringChannel channel;
    channel.requests = [this] { return std::exchange(asked_, {}); };
    channel.answer = [this](const std::string& id, const std::string& sentence) { answers_[id] = sentence; };
    channel.record = [](const std::vector<SteeredParameter::Value>&) {};
    for (int s = 0; s < servers; ++s) {
      desks_.emplace_back(parameters, ahead, s == 0 ? std::optional(channel) : std::nullopt);
    }
  }

  void run() {
    while (std::any_of(clients_.begin(), clients_.end(), [](const Client& c) { return c.ended < iterations; }) ||
           agreed_ < iterations || !to_do_.empty()) {
      step();
    }
    desks_.front().close();
  }

  [[nodiscard]] const std::vector<Client>& clients() const { return clients_; }
  [[nodiscard]] std::vector<Accepted> accepted() const {
    std::vector<Accepted> all;
    for (const auto& [id, sentence] : answers_) {
      char name[32], value[32];
      long from = 0;
      if (std::sscanf(sentence.c_str(), "accepted: '%31[^']' is %31s from the end of iteration %ld on", name, value,
                      &from) == 3) {
        all.push_back({name, value, from});
      }
    }
    return all;
  }
  [[nodiscard]] std::size_t unanswered() const { return static_cast<std::size_t>(asked_so_far_) - answers_.size(); }

 private:
  int pick(int below) { return std::uniform_int_distribution<int>(0, below - 1)(random_); }

  void step() {
    const int what = pick(20);
    if (what == 0) return ask();
    if (what < 6) return serve();
    if (what < 9) return tell();
    move(clients_[static_cast<std::size_t>(pick(static_cast<int>(clients_.size())))]);
  }

  void ask() {
    const std::string id = std::to_string(asked_so_far_++);
    if (pick(2)) {
      asked_.push_back({id, "stop", std::to_string(pick(3))});  // 2 is out of range
    } else {
      asked_.push_back({id, pick(5) ? "interval" : "intervals", std::to_string(pick(50)) + ".25"});
    }
  }

  /// A client goes on if it may. It never waits for another client.
  void move(Client& client) {
    if (client.ended == iterations) return;
    const auto& waiting = inline_ended_;  // these wait for the others, as in any collective operation
    if (std::find(waiting.begin(), waiting.end(), &client) != waiting.end()) return;
    if (!client.begun) {
      const std::int64_t known = client.ended - ahead_;
      if (ahead_ > 0 && known >= 0 && !client.outcomes.contains(known)) return;  // ClientTransport::await
      client.begun = true;
      return read(client);
    }
    client.begun = false;
    const std::int64_t index = client.ended++;
    if (ahead_ == 0) {  // `inline`: the servers' step is a part of the end, on all ranks
      inline_ended_.push_back(&client);
      if (inline_ended_.size() < clients_.size()) return;
      serve();
      while (!to_do_.empty()) tell();
      for (Client* each : std::exchange(inline_ended_, {})) finish(*each, index);
      return;
    }
    if (pick(2)) read(client);
    finish(client, index);
  }

  void read(Client& client) {
    for (const Notice& notice : std::exchange(client.ring, {})) client.values.take(notice);
  }

  void finish(Client& client, std::int64_t index) {
    if (ahead_ == 0) read(client);
    client.values.advance(index);
    client.trace.emplace_back(client.values.integer("stop"), client.values.real("interval"));
  }

  /// The servers agree on an iteration that all clients have ended; an analysis may set something in it.
  void serve() {
    if (agreed_ == iterations || !to_do_.empty()) return;
    for (const Client& client : clients_) {
      if (client.ended <= agreed_) return;
    }
    std::vector<std::uint64_t> words(desks_.front().words(), 0);
    for (SteeringServer& desk : desks_) {
      std::vector<std::uint64_t> mine(words.size(), 0);
      desk.contribute(mine, agreed_, static_cast<double>(agreed_));
      for (std::size_t n = 0; n < words.size(); ++n) words[n] |= mine[n];
    }
    for (std::size_t s = 0; s < desks_.size(); ++s) to_do_.push_back({s, desks_[s].take_up(words, agreed_), 0});
    if (pick(4) == 0) {
      const auto value = static_cast<double>(agreed_) + 0.5;
      for (SteeringServer& desk : desks_) desk.set(1, value);
    }
    ++agreed_;
  }

  struct Telling {
    std::size_t server;
    std::optional<Notice> notice;
    std::size_t next = 0;  ///< the next one of its clients
  };

  /// One server, chosen at random, tells one of its clients the notice and announces the outcome.
  void tell() {
    if (to_do_.empty()) return;
    desks_.front().confirm();
    Telling& telling = to_do_[static_cast<std::size_t>(pick(static_cast<int>(to_do_.size())))];
    const std::size_t client = telling.server + telling.next++ * desks_.size();
    if (client < clients_.size()) {
      if (telling.notice) put(clients_[client], *telling.notice);
      clients_[client].outcomes[agreed_ - 1] = true;
      return;
    }
    std::erase_if(to_do_, [&](const Telling& t) { return t.server + t.next * desks_.size() >= clients_.size(); });
  }

  static void put(Client& client, const Notice& notice) {
    client.ring.push_back(notice);
    std::size_t lines = 0;
    for (const Notice& each : client.ring) lines += 1 + (each.payload.size() + 63) / 64;
    CHECK(client.ring.size() <= 3);
    CHECK(lines <= ring_lines);
  }

  std::mt19937 random_;
  int ahead_;
  std::vector<Client> clients_;
  std::deque<SteeringServer> desks_;
  std::vector<Client*> inline_ended_;
  std::int64_t agreed_ = 0;
  std::vector<Telling> to_do_;
  std::vector<SteeringRequest> asked_;
  std::map<std::string, std::string> answers_;
  int asked_so_far_ = 0;
};

std::string sentence_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("all clients read the same after the same iteration, whatever comes first") {
  std::size_t changes = 0;
  for (const int clients : {1, 2, 3, 5, 8}) {
    for (const int servers : {1, 2, 3}) {
      for (const int ahead : {0, 1, 2, 8, 64}) {
        for (unsigned seed = 0; seed < 12; ++seed) {
          World world(seed, clients, servers, ahead);
          world.run();
          const auto& first = world.clients().front().trace;
          REQUIRE(first.size() == iterations);
          for (const Client& client : world.clients()) CHECK(client.trace == first);
          CHECK(world.unanswered() == 0);
          for (const Accepted& accepted : world.accepted()) {
            if (accepted.from >= iterations) continue;
            const auto at = first[static_cast<std::size_t>(accepted.from)];
            const double value = accepted.name == "stop" ? static_cast<double>(at.first) : at.second;
            CHECK(value == doctest::Approx(std::stod(accepted.value)));
            ++changes;
          }
        }
      }
    }
  }
  CHECK(changes > 1000);
}

TEST_CASE("an analysis: the last of several calls counts, a person's after it, and nothing on other servers") {
  std::vector<SteeringRequest> asked;
  std::map<std::string, std::string> answers;
  SteeringChannel channel;
  channel.requests = [&] { return std::exchange(asked, {}); };
  channel.answer = [&](const std::string& id, const std::string& sentence) { answers[id] = sentence; };
  channel.record = [](const std::vector<SteeredParameter::Value>&) {};
  SteeringServer desk(parameters, 4, channel), other(parameters, 4, std::nullopt);
  desk.set(1, 2.0);
  desk.set(1, 3.0);
  other.set(1, 7.0);
  asked = {{"a", "interval", "5"}, {"b", "stop", "1"}};
  const auto words = [&](SteeringServer& of, std::int64_t index) {
    std::vector<std::uint64_t> all(of.words(), 0);
    of.contribute(all, index, static_cast<double>(index));
    return all;
  };
  SteeredValues values(parameters);
  CHECK(words(other, 10) == std::vector<std::uint64_t>(3, 0));
  const auto first = words(desk, 10);
  const auto again = words(desk, 10);  // memory was short, so it is asked again
  CHECK(first == again);
  const auto notice = desk.take_up(first, 10);
  REQUIRE(notice);
  CHECK(notice->iteration == 14);
  CHECK(answers.empty());  // before the clients
  desk.confirm();
  values.take(*notice);
  values.advance(13);
  CHECK(values.real("interval") == 0.5);
  values.advance(14);
  CHECK(values.real("interval") == 3);
  CHECK(values.integer("stop") == 1);
  CHECK(answers["b"] == "accepted: 'stop' is 1 from the end of iteration 14 on");
  CHECK(!answers.contains("a"));
  values.take(*desk.take_up(words(desk, 11), 11));
  values.advance(20);
  CHECK(values.real("interval") == 5);
  asked = {{"c", "stop", "0"}};
  desk.close();
  CHECK(answers["c"] == "refused: the run is ending; no iteration comes any more");
}

TEST_CASE("values that cannot be set are refused in a sentence") {
  std::vector<std::pair<std::size_t, SteeredParameter::Value>> taken;
  const SteeringSink sink{parameters,
                          [&](std::size_t p, const SteeredParameter::Value& v) { taken.emplace_back(p, v); }};
  SteeringCalls calls(&sink);
  const auto text = [&](auto name, auto value) { return sentence_of([&] { calls.set(name, value); }); };
  CHECK(text("stops", std::int64_t{1}).find("'stops' is unknown") != std::string::npos);
  CHECK(text("stops", std::int64_t{1}).find("did you mean 'stop'?") != std::string::npos);
  CHECK(text("stop", 1.0).find("given a real number, expected an integer") != std::string::npos);
  CHECK(text("interval", std::int64_t{1}).find("given an integer, expected a real number") != std::string::npos);
  CHECK(text("stop", std::int64_t{2}).find("'stop' is 2, expected at most 1") != std::string::npos);
  CHECK(text("interval", 0.001).find("'interval' is 0.001, expected at least 0.01") != std::string::npos);
  CHECK(text("interval", std::stod("nan")).find("expected a finite number") != std::string::npos);
  calls.set("stop", std::int64_t{1});
  CHECK(taken.empty());  // the analysis may still fail
  calls.keep();
  REQUIRE(taken.size() == 1);
  CHECK(std::get<std::int64_t>(taken[0].second) == 1);
  SteeringCalls nothing(nullptr);
  CHECK(sentence_of([&] { nothing.set("stop", std::int64_t{1}); }).find("under 'steering:'") != std::string::npos);
  const SteeredValues values(parameters);
  CHECK(sentence_of([&] { static_cast<void>(values.integer("interval")); }).find("get_real") != std::string::npos);
  CHECK(sentence_of([&] { static_cast<void>(values.real("stop")); }).find("get_int") != std::string::npos);
}
