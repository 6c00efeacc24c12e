package dev.parley.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.Timeline.Item;
import dev.parley.client.Timeline.Plain;
import dev.parley.client.Timeline.SubagentGroup;
import dev.parley.client.Timeline.SubagentThread;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Origin;
import dev.parley.protocol.RandomTaskTrees;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Properties of every tree of sub-agents, up to six levels deep: WORKFLOW-14, WORKFLOW-15, WORKFLOW-19, WORKFLOW-20,
/// WORKFLOW-24.
class TimelinePropertyTest {

  private static final int TREES = 40;
  private static final int PREFIXES_MAX = 150;

  static LongStream seeds() {
    return LongStream.range(0, TREES);
  }

  @Test
  void the_trees_are_worth_looking_at() {
    var depths = new HashSet<Integer>();
    seeds()
        .forEach(
            seed -> depths.add(depth(Timeline.of(new RandomTaskTrees(seed).entries()).items())));

    assertThat(depths).contains(1, 2, RandomTaskTrees.DEPTH_MAX);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void every_event_is_there_once(long seed) {
    var entries = new RandomTaskTrees(seed).entries();

    var timeline = Timeline.of(entries);

    assertThat(timeline.orphans()).isEmpty();
    assertThat(inOrder(flat(timeline.items()))).isEqualTo(entries);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void a_thread_has_the_events_of_its_task_in_order_and_no_others(long seed) {
    var entries = new RandomTaskTrees(seed).entries();

    each(
        Timeline.of(entries).items(),
        group ->
            group
                .threads()
                .forEach(
                    thread ->
                        assertThat(own(thread.items())).isEqualTo(of(entries, thread.taskId()))));
  }

  /// WORKFLOW-14: the call and its sub-agents refer to each other, and to no others.
  @ParameterizedTest
  @MethodSource("seeds")
  void a_group_is_what_its_call_says_and_what_its_sub_agents_say(long seed) {
    each(
        Timeline.of(new RandomTaskTrees(seed).entries()).items(),
        group -> {
          var start = (ToolStart) group.trigger().event();
          var metadata = start.subagentMetadata();
          assertThat(metadata.count()).isEqualTo(metadata.taskIds().size());
          assertThat(group.threads())
              .extracting(SubagentThread::taskId)
              .isEqualTo(metadata.taskIds());
          for (var thread : group.threads()) {
            for (var entry : own(thread.items())) {
              assertThat(entry.origin().spawnedByCallId()).isEqualTo(start.toolCallId());
              assertThat(entry.origin().parentTaskId()).isEqualTo(group.trigger().taskId());
            }
          }
        });
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void event_by_event_gives_the_same_as_all_at_once(long seed) {
    var entries = new RandomTaskTrees(seed).entries();
    var fold = new TimelineFold();

    for (var i = 0; i < Math.min(entries.size(), PREFIXES_MAX); i++) {
      fold.add(entries.get(i));
      assertThat(fold.timeline()).isEqualTo(Timeline.of(entries.subList(0, i + 1)));
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void the_order_of_arrival_makes_no_difference_and_nothing_is_lost_on_the_way(long seed) {
    var entries = new RandomTaskTrees(seed).entries();
    var shuffled = new ArrayList<>(entries);
    Collections.shuffle(shuffled, new Random(seed));
    var fold = new TimelineFold();

    for (var i = 0; i < shuffled.size(); i++) {
      fold.add(shuffled.get(i));
      if (i % 50 == 0) {
        var timeline = fold.timeline();
        var all = flat(timeline.items());
        timeline.orphans().forEach(thread -> all.addAll(flat(thread.items())));
        assertThat(inOrder(all)).isEqualTo(inOrder(shuffled.subList(0, i + 1)));
      }
    }

    assertThat(fold.timeline()).isEqualTo(Timeline.of(entries));
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void progress_is_what_one_would_count(long seed) {
    var entries = new RandomTaskTrees(seed).entries();

    each(
        Timeline.of(entries).items(),
        group -> {
          var below = new ArrayList<Entry>();
          group.threads().forEach(thread -> below.addAll(flat(thread.items())));
          var progress = group.progress();
          assertThat(progress.total()).isEqualTo(group.threads().size());
          assertThat(progress.completed()).isEqualTo(progress.total());
          assertThat(progress.succeeded() + progress.failed()).isEqualTo(progress.completed());
          assertThat(progress.tokens())
              .isEqualTo(below.stream().mapToLong(TimelinePropertyTest::tokens).sum());
          assertThat(progress.toolCalls())
              .isEqualTo(below.stream().filter(e -> e.event() instanceof ToolStart).count());
        });
  }

  /// WORKFLOW-21: batches of one parent follow each other, so their position identifies them.
  @ParameterizedTest
  @MethodSource("seeds")
  void logs_without_the_new_fields_give_the_same_groups(long seed) {
    var entries = new RandomTaskTrees(seed).entries();

    assertThat(shape(Timeline.of(entries.stream().map(TimelinePropertyTest::older).toList())))
        .isEqualTo(shape(Timeline.of(entries)));
  }

  private static Entry older(Entry entry) {
    var event =
        switch (entry.event()) {
          case ToolStart(var id, var name, var arguments, _, _, _, _, _) ->
              new ToolStart(id, name, arguments, null, null, null, null, null);
          case ToolComplete(var id, var name, var well, _, _, _, _, _) ->
              new ToolComplete(id, name, well, null, null, null, null, null);
          default -> entry.event(); // Other events have no new fields.
        };
    return new Entry(
        entry.contextId(),
        entry.position(),
        entry.eventId(),
        entry.timestamp(),
        older(entry.origin()),
        event);
  }

  private static @Nullable Origin older(@Nullable Origin origin) {
    return origin == null
        ? null
        : new Origin(
            origin.taskId(),
            origin.parentTaskId(),
            origin.rootTaskId(),
            origin.agentId(),
            origin.agentLevel(),
            null,
            null,
            null);
  }

  /// The event that each task belongs to.
  private static Set<String> shape(Timeline timeline) {
    var shape = new HashSet<String>();
    each(
        timeline.items(),
        group ->
            group
                .threads()
                .forEach(
                    thread -> shape.add(thread.taskId() + " at " + group.trigger().position())));
    return shape;
  }

  private static long tokens(Entry entry) {
    return entry.event() instanceof Usage usage ? usage.inputTokens() + usage.outputTokens() : 0;
  }

  private static List<Entry> of(List<Entry> entries, TaskId task) {
    return entries.stream().filter(entry -> task.equals(entry.taskId())).toList();
  }

  private static List<Entry> own(List<Item> items) {
    return items.stream().map(TimelinePropertyTest::head).toList();
  }

  private static Entry head(Item item) {
    return switch (item) {
      case Plain(var entry) -> entry;
      case SubagentGroup(var trigger, _, _) -> trigger;
    };
  }

  private static List<Entry> flat(List<Item> items) {
    var all = new ArrayList<>(own(items));
    below(items).forEach(thread -> all.addAll(flat(thread.items())));
    return all;
  }

  private static List<Entry> inOrder(List<Entry> entries) {
    return entries.stream().sorted(Comparator.comparing(Entry::position)).toList();
  }

  private static void each(List<Item> items, Consumer<SubagentGroup> check) {
    for (var item : items) {
      if (item instanceof SubagentGroup group) {
        check.accept(group);
      }
    }
    below(items).forEach(thread -> each(thread.items(), check));
  }

  private static Stream<SubagentThread> below(List<Item> items) {
    return items.stream()
        .filter(SubagentGroup.class::isInstance)
        .flatMap(item -> ((SubagentGroup) item).threads().stream());
  }

  private static int depth(List<Item> items) {
    return 1 + below(items).mapToInt(thread -> depth(thread.items())).max().orElse(0);
  }
}
