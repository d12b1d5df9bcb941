// Names of files that a session writes in its output directory, which tasks must not use.
#pragma once

namespace sidestream::own_files {

inline constexpr const char* run_record = "run.yaml";
inline constexpr const char* run_timings = "timings.csv";
inline constexpr const char* run_movement = "movement.csv";
inline constexpr const char* run_iterations = "iterations.csv";
inline constexpr const char* run_messages = "messages.txt";
inline constexpr const char* run_lock = ".run.lock";
inline constexpr const char* serve_lock = ".serve.lock";
inline constexpr const char* provenance = "provenance.txt";

inline constexpr const char* clients_record = "run-clients.yaml";
inline constexpr const char* clients_timings = "timings-clients.csv";
inline constexpr const char* clients_iterations = "iterations-clients.csv";
inline constexpr const char* clients_messages = "messages-clients.txt";

inline constexpr const char* endpoint_record = "endpoint.yaml";
inline constexpr const char* endpoint_timings = "endpoint-timings.csv";
inline constexpr const char* endpoint_movement = "endpoint-movement.csv";
inline constexpr const char* endpoint_iterations = "endpoint-iterations.csv";
inline constexpr const char* endpoint_messages = "endpoint-messages.txt";
inline constexpr const char* endpoint_lock = ".endpoint.lock";

inline constexpr const char* all[] = {
    run_record,        run_timings,         run_movement,    run_iterations,     run_lock,         serve_lock,
    provenance,        clients_record,      clients_timings, clients_iterations, endpoint_record,  endpoint_timings,
    endpoint_movement, endpoint_iterations, endpoint_lock,   run_messages,       clients_messages, endpoint_messages};

/// Prefixes of names in the directory of a database.
inline constexpr const char* of_databases[] = {"contexts", "context-", "segment-"};

}  // namespace sidestream::own_files
