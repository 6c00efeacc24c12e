package dev.parley.http;

import java.util.List;

/// The metrics of a server: their names, types, help texts and labels.
///
/// Names and labels follow the conventions of Prometheus: base units, and `_total` for counters.
public enum Metric {
  REQUESTS("parley_requests_total", Type.COUNTER, "HTTP requests, by status.", "status"),
  EVENTS("parley_events_appended_total", Type.COUNTER, "Events that were appended to the log."),
  APPENDS_FAILED(
      "parley_appends_failed_total",
      Type.COUNTER,
      "Appends that failed because the log could not be written."),
  APPEND_SECONDS(
      "parley_append_seconds",
      Type.HISTOGRAM,
      "Time from the call of an append until its events are durable and visible to readers."),
  COMMIT_SECONDS(
      "parley_commit_seconds",
      Type.HISTOGRAM,
      "Time of one commit of the log, which writes all appends that wait."),
  LOG_WRITABLE("parley_log_writable", Type.GAUGE, "1 if the log accepts writes, 0 if it does not."),
  DATA_BYTES("parley_data_bytes", Type.GAUGE, "Size of each file of the data folder.", "file"),
  DISK_FREE("parley_disk_free_bytes", Type.GAUGE, "Free space on the disk of the data folder."),
  STREAMS("parley_streams_open", Type.GAUGE, "Open streams, subscriptions and socket connections."),
  READERS(
      "parley_readers",
      Type.GAUGE,
      "Open readers, by kind: stream (SSE and WebSocket), subscription (one context of a socket),"
          + " connection (a Socket.IO connection or a reader that waits for a context).",
      "kind"),
  READER_LAG(
      "parley_reader_lag_events",
      Type.GAUGE,
      "Events that the slowest open reader of a context has not been sent yet."),
  PUBLISH_LAG(
      "parley_publish_lag_seconds",
      Type.HISTOGRAM,
      "Time from the timestamp of an event until it was written to a reader that follows live."),
  GAPS(
      "parley_stream_gaps_total",
      Type.COUNTER,
      "Gaps that were reported to readers, by reason.",
      "reason"),
  REPLAYS(
      "parley_stream_replays_total",
      Type.COUNTER,
      "Readers that began behind the end of the log and were sent past events first."),
  REPLAYED(
      "parley_stream_replayed_events_total",
      Type.COUNTER,
      "Past events between the beginning of such readers and the end of the log at that time."),
  CLUSTER_NODES("parley_cluster_nodes", Type.GAUGE, "Servers of the cluster, by role.", "role"),
  CLUSTER_ACTIVE(
      "parley_cluster_active", Type.GAUGE, "1 if this server is the active one of its cluster."),
  CLUSTER_TAKEOVERS(
      "parley_cluster_takeovers_total",
      Type.COUNTER,
      "How many times this server has become the active one."),
  CLUSTER_REPLY(
      "parley_cluster_database_seconds",
      Type.GAUGE,
      "Time since the last reply of the database to this server."),
  CLUSTER_FORWARDED(
      "parley_cluster_forwarded_connections",
      Type.GAUGE,
      "Connections of clients that this server forwards to the active one."),
  STREAM_WRITES("parley_stream_writes_total", Type.COUNTER, "Writes to streams."),
  STREAM_BYTES("parley_stream_bytes_total", Type.COUNTER, "Bytes that were written to streams."),
  SOCKET_EVENTS(
      "parley_socket_events_total", Type.COUNTER, "Events that were sent to subscriptions."),
  TASKS("parley_tasks", Type.GAUGE, "Open tasks, by state.", "state"),
  TASKS_RUNNING("parley_tasks_running", Type.GAUGE, "Tasks that run now."),
  TASKS_QUEUED("parley_tasks_queued", Type.GAUGE, "Tasks that wait for a free slot."),
  TASKS_CREATED("parley_tasks_created_total", Type.COUNTER, "Tasks that were created."),
  TASKS_ENDED(
      "parley_tasks_ended_total",
      Type.COUNTER,
      "Tasks that ended, by state (completed, failed, canceled) and, if failed, by error code.",
      "state",
      "code"),
  QUESTIONS(
      "parley_questions_waiting",
      Type.GAUGE,
      "Questions that wait for a person, by type; sign-in is a sign-in.",
      "type"),
  MODEL_REQUESTS(
      "parley_model_requests_total",
      Type.COUNTER,
      "Requests to models, by configured model and by result: ok or an error code. Retries count as"
          + " one request.",
      "model",
      "result"),
  MODEL_RETRIES(
      "parley_model_retries_total", Type.COUNTER, "Retries of requests to models.", "model"),
  MODEL_SECONDS(
      "parley_model_request_seconds",
      Type.SLOW_HISTOGRAM,
      "Time of a request to a model until its answer is complete, with retries.",
      "model"),
  MODEL_TOKENS(
      "parley_model_tokens_total",
      Type.COUNTER,
      "Tokens, by the provider's name of the model and by kind: input, output, cache_write,"
          + " cache_read.",
      "model",
      "kind"),
  MODEL_COST(
      "parley_model_cost_dollars_total",
      Type.COUNTER,
      "Cost in US dollars, as far as prices are configured or the agent reports it.",
      "model"),
  TOOL_CALLS(
      "parley_tool_calls_total",
      Type.COUNTER,
      "Calls of tools that ended, by tool and result: ok or failed.",
      "tool",
      "result"),
  TOOL_SECONDS(
      "parley_tool_call_seconds",
      Type.SLOW_HISTOGRAM,
      "Time from the start of a tool call until its end.",
      "tool"),
  TOOL_CALLS_WAITING(
      "parley_tool_calls_waiting", Type.GAUGE, "Tool calls that wait for a free thread."),
  THREADS_STUCK(
      "parley_threads_stuck", Type.GAUGE, "Threads of tools that ignored their interrupt."),
  BUDGET_USED(
      "parley_budget_used_percent",
      Type.GAUGE,
      "What is used of each budget in its period, by name, group and resource.",
      "budget"),
  BUILD("parley_build_info", Type.GAUGE, "Always 1; the label is the version.", "version"),
  HEAP_USED(
      "jvm_memory_used_bytes", Type.GAUGE, "Memory of the JVM in use: heap, nonheap.", "area"),
  HEAP_COMMITTED(
      "jvm_memory_committed_bytes",
      Type.GAUGE,
      "Memory that the JVM has from the system: heap, nonheap.",
      "area"),
  HEAP_MAX("jvm_memory_max_bytes", Type.GAUGE, "Largest heap that the JVM may use.", "area"),
  GC_COUNT("jvm_gc_collections_total", Type.COUNTER, "Garbage collections, by collector.", "gc"),
  GC_SECONDS(
      "jvm_gc_collection_seconds_total",
      Type.COUNTER,
      "Time in garbage collections, by collector.",
      "gc"),
  JVM_THREADS("jvm_threads", Type.GAUGE, "Platform threads."),
  CARRIERS("jvm_carrier_threads", Type.GAUGE, "Threads that carry virtual threads."),
  CARRIERS_BUSY(
      "jvm_carrier_threads_busy", Type.GAUGE, "Carrier threads on which a virtual thread runs."),
  VIRTUAL_QUEUED(
      "jvm_virtual_threads_queued", Type.GAUGE, "Virtual threads that wait for a carrier thread."),
  CPU_SECONDS("process_cpu_seconds_total", Type.COUNTER, "CPU time of the process."),
  OPEN_FILES("process_open_fds", Type.GAUGE, "Open file descriptors of the process."),
  START_TIME(
      "process_start_time_seconds", Type.GAUGE, "Start of the process, as seconds since 1970.");

  /// The type of a metric. A slow histogram has buckets up to ten minutes, the other up to ten
  /// seconds.
  enum Type {
    COUNTER,
    GAUGE,
    HISTOGRAM,
    SLOW_HISTOGRAM
  }

  private final String title;
  private final Type type;
  private final String help;

  @SuppressWarnings("ImmutableEnumChecker") // Made by List.of.
  private final List<String> labels;

  Metric(String title, Type type, String help, String... labels) {
    this.title = title;
    this.type = type;
    this.help = help;
    this.labels = List.of(labels);
  }

  /// The name in the exposition format.
  public String title() {
    return title;
  }

  public String help() {
    return help;
  }

  Type type() {
    return type;
  }

  List<String> labels() {
    return labels;
  }
}
