package dev.parley.bench;

import java.time.Duration;
import java.util.List;

/// The length and size of a run. Only a full run gives meaningful numbers.
///
/// Contenders take turns of `turn`, each `turns` times. Acknowledgements are timed for `halfLoad`.
/// `tokens` is the number of tokens for the comparison of sizes, `replayed` the number of events of
/// a long context. There are `posts` messages, `firstRequests` of new servers, and `starts` of the
/// program, which is then idle for `idle`. Each way of writing to `readers` is measured for
/// `fanout`. With `others`, contenders on Node are measured, too. Tasks run in `taskContexts` at
/// once for `taskTime`; `openTasks` are the numbers of open tasks at a crash. A cluster has up to
/// `servers`, and loses its active server `takeovers` times in each way. `growth` has the sizes of
/// growing data.
record RunLength(
    List<Integer> contexts,
    int turns,
    Duration turn,
    Duration warmUp,
    Duration halfLoad,
    int tokens,
    int replayEvents,
    int posts,
    int firstRequests,
    int starts,
    Duration idle,
    List<Integer> readers,
    Duration fanout,
    boolean withNode,
    List<Integer> taskContexts,
    Duration taskTime,
    List<Integer> openTasks,
    int servers,
    int takeovers,
    GrowthSizes growth) {

  static final RunLength FULL =
      new RunLength(
          List.of(1, 100, 1_000),
          6,
          Duration.ofSeconds(10),
          Duration.ofSeconds(5),
          Duration.ofSeconds(20),
          400_000,
          1_000_000,
          200,
          20,
          5,
          Duration.ofSeconds(5),
          List.of(1, 100, 1_000, 5_000),
          Duration.ofSeconds(6),
          true,
          List.of(1, 10, 100, 500),
          Duration.ofSeconds(10),
          List.of(1_000, 10_000),
          3,
          5,
          GrowthSizes.FULL);

  static final RunLength QUICK =
      new RunLength(
          List.of(1, 100, 1_000),
          2,
          Duration.ofSeconds(1),
          Duration.ofSeconds(1),
          Duration.ofSeconds(3),
          40_000,
          100_000,
          30,
          5,
          2,
          Duration.ofSeconds(1),
          List.of(1, 100, 1_000),
          Duration.ofSeconds(2),
          true,
          List.of(1, 10, 100, 500),
          Duration.ofSeconds(2),
          List.of(1_000),
          3,
          2,
          GrowthSizes.QUICK);

  static final RunLength TINY =
      new RunLength(
          List.of(1, 10),
          1,
          Duration.ofMillis(50),
          Duration.ofMillis(20),
          Duration.ofMillis(100),
          1_000,
          2_000,
          3,
          1,
          1,
          Duration.ofMillis(10),
          List.of(1, 5),
          Duration.ofMillis(100),
          false,
          List.of(1, 5),
          Duration.ofMillis(100),
          List.of(4),
          2,
          1,
          GrowthSizes.TINY);
}
