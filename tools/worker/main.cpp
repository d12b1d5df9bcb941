// The process of an isolated analysis, only started by servers; see docs/containment.md.
#include "server/isolation/worker_loop.hpp"
#include "session/serving/worker_setup.hpp"

int main() { return sidestream::run_worker(sidestream::make_worker_task); }
