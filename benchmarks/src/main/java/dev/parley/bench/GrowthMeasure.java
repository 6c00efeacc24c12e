package dev.parley.bench;

/// What `growth` measures at each size.
enum GrowthMeasure {
  FIRST_LIST("first list of contexts, with the catch-up of the projections", "s"),
  START("start after a stop", "s"),
  START_AFTER_KILL("start after kill -9", "s"),
  OPEN_STREAMS("opening all streams", "s"),
  LIST("list of 50 contexts, p50", "ms"),
  OPEN("snapshot of a context, p50", "ms"),
  FIRST_EVENT("first event of a stream from the beginning, p50", "ms"),
  APPEND("message accepted (durable), p50", "ms"),
  MESSAGE_EVENT("message to its event on an open stream, p50", "ms"),
  RESIDENT_IDLE("resident memory after the start", "MB"),
  RESIDENT("resident memory after the requests", "MB"),
  HEAP("heap in use after a collection", "MB"),
  DISK("data folder", "MB");

  private final String title;
  private final String unit;

  GrowthMeasure(String title, String unit) {
    this.title = title;
    this.unit = unit;
  }

  String title() {
    return title;
  }

  String unit() {
    return unit;
  }
}
