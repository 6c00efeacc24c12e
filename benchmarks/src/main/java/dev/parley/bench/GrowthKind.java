package dev.parley.bench;

/// What grows in the benchmark `growth`, and the unit of its size.
enum GrowthKind {
  CONTEXTS("contexts", "Contexts in one data folder", "contexts"),
  EVENTS("events", "Events of one context", "events"),
  FORKS("forks", "Nested forks", "forks"),
  TASKS("tasks", "Tasks of one tree", "tasks"),
  MESSAGE("message", "Bytes of one message", "bytes"),
  TOOL_RESULT("tool-result", "Bytes of the result of one tool", "bytes"),
  STREAMS("streams", "Open streams, each on its own context", "streams");

  private final String id;
  private final String title;
  private final String unit;

  GrowthKind(String id, String title, String unit) {
    this.id = id;
    this.title = title;
    this.unit = unit;
  }

  /// A short name, for folders and files.
  String id() {
    return id;
  }

  String title() {
    return title;
  }

  String unit() {
    return unit;
  }
}
