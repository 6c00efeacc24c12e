package dev.parley.bench;

import java.util.List;

/// The sizes that `growth` measures: numbers of contexts in a data folder, of events of a context,
/// of nested forks, of tasks in a tree and of open streams, and the bytes of a message and of the
/// result of a tool. Without `restarts`, the server is started only once for each size.
record GrowthSizes(
    List<Long> contexts,
    List<Long> events,
    List<Long> forks,
    List<Long> tasks,
    List<Long> messageBytes,
    List<Long> resultBytes,
    List<Long> streams,
    boolean restarts) {

  private static final long MB = 1_000_000;

  static final GrowthSizes FULL =
      new GrowthSizes(
          List.of(1_000L, 10_000L, 100_000L, 1_000_000L),
          List.of(10_000L, 100_000L, 1_000_000L, 10_000_000L),
          List.of(1L, 10L, 50L),
          List.of(10L, 100L, 1_000L),
          List.of(MB / 10, MB, 10 * MB),
          List.of(MB / 2, 5 * MB, 50 * MB),
          List.of(100L, 1_000L, 10_000L),
          true);

  static final GrowthSizes QUICK =
      new GrowthSizes(
          List.of(100L, 1_000L, 10_000L),
          List.of(1_000L, 10_000L, 100_000L),
          List.of(1L, 10L),
          List.of(10L, 100L),
          List.of(MB / 10, MB),
          List.of(MB / 2, 5 * MB),
          List.of(100L, 1_000L),
          true);

  static final GrowthSizes TINY =
      new GrowthSizes(
          List.of(2L, 6L),
          List.of(20L),
          List.of(2L),
          List.of(3L),
          List.of(1_000L),
          List.of(1_000L),
          List.of(2L),
          false);

  GrowthSizes {
    contexts = List.copyOf(contexts);
    events = List.copyOf(events);
    forks = List.copyOf(forks);
    tasks = List.copyOf(tasks);
    messageBytes = List.copyOf(messageBytes);
    resultBytes = List.copyOf(resultBytes);
    streams = List.copyOf(streams);
  }

  /// The sizes of one kind of data.
  List<Long> of(GrowthKind growthKind) {
    return switch (growthKind) {
      case CONTEXTS -> contexts;
      case EVENTS -> events;
      case FORKS -> forks;
      case TASKS -> tasks;
      case MESSAGE -> messageBytes;
      case TOOL_RESULT -> resultBytes;
      case STREAMS -> streams;
    };
  }
}
