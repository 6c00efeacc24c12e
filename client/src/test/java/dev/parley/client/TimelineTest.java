package dev.parley.client;

import static dev.parley.client.SubagentScenario.call;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.Timeline.Plain;
import dev.parley.client.Timeline.SubagentGroup;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolComplete;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The matrix of WORKFLOW-22, and further cases: WORKFLOW-6, WORKFLOW-9, WORKFLOW-18 to WORKFLOW-24.
class TimelineTest {

  private final SubagentScenario subagentScenario = new SubagentScenario();

  @Test
  void one_call_with_one_sub_agent_is_one_group_where_the_call_began() {
    subagentScenario.core("hello").spawn("x", "s1").sub("s1", "x", "one").end("x").core("bye");

    var items = Timeline.of(subagentScenario.entries()).items();

    assertThat(items).hasSize(4);
    assertThat(items.get(0)).isInstanceOf(Plain.class);
    assertThat(subagentScenario.groups()).containsExactly("x: s1[one]");
    assertThat(items.get(1)).isInstanceOf(SubagentGroup.class);
    assertThat(items.get(3)).isInstanceOf(Plain.class);
  }

  @Test
  void one_call_with_five_sub_agents_has_five_threads_in_the_order_of_the_call() {
    subagentScenario.core("hello").spawn("x", "s1", "s2", "s3", "s4", "s5");
    for (var task : List.of("s5", "s3", "s1", "s2", "s4", "s3")) {
      subagentScenario.sub(task, "x", "by " + task);
    }

    assertThat(subagentScenario.groups())
        .containsExactly("x: s1[by s1] s2[by s2] s3[by s3, by s3] s4[by s4] s5[by s5]");
  }

  @Test
  void two_batches_of_one_parent_are_kept_apart() {
    subagentScenario.spawn("x", "s1", "s2").sub("s1", "x", "a").sub("s2", "x", "b").end("x");
    subagentScenario.spawn("y", "s3", "s4").sub("s3", "y", "c").sub("s1", "x", "late");
    subagentScenario.sub("s4", "y", "d").end("y");

    assertThat(subagentScenario.groups()).containsExactly("x: s1[a, late] s2[b]", "y: s3[c] s4[d]");
  }

  @Test
  void a_group_is_there_as_soon_as_its_call_begins_and_grows_with_every_event() {
    var steps = new ArrayList<String>();
    subagentScenario.spawn("x", "s1", "s2");
    steps.addAll(subagentScenario.groups());
    subagentScenario.sub("s2", "x", "a");
    steps.addAll(subagentScenario.groups());
    subagentScenario.sub("s1", "x", "b");
    steps.addAll(subagentScenario.groups());
    subagentScenario.end("x");
    steps.addAll(subagentScenario.groups());

    assertThat(steps)
        .containsExactly("x: s1[] s2[]", "x: s1[] s2[a]", "x: s1[b] s2[a]", "x: s1[b] s2[a]");
  }

  /// The group has the progress that a collapsed card shows: WORKFLOW-22, WORKFLOW-28.
  @Test
  void a_collapsed_group_says_how_far_it_is_without_its_threads() {
    subagentScenario.spawn("x", "s1", "s2", "s3").status("s1", "x", TaskState.COMPLETED);
    subagentScenario.usage("s1", "x", 30).tool("s2", "x").status("s2", "x", TaskState.FAILED);

    assertThat(subagentScenario.group(0).progress())
        .isEqualTo(new BatchProgress(3, 2, 1, 1, 30, 1));
  }

  @Test
  void progress_includes_what_nested_sub_agents_cost() {
    subagentScenario.spawn("x", "s1").usage("s1", "x", 10);
    subagentScenario
        .nest("s1", "core", "x", "y", "n1")
        .usage("n1", "s1", "y", 5)
        .tool("n1", "s1", "y");

    assertThat(subagentScenario.group(0).progress())
        .isEqualTo(new BatchProgress(1, 0, 0, 0, 15, 2));
  }

  @Test
  void a_nested_sub_agent_stands_in_its_parents_thread() {
    subagentScenario.spawn("x", "s1").sub("s1", "x", "a").nest("s1", "core", "x", "y", "n1");
    subagentScenario.sub("n1", "s1", "y", "deep").sub("s1", "x", "b");

    assertThat(subagentScenario.groups()).containsExactly("x: s1[a, {y: n1[deep]}, b]");
  }

  @Test
  void an_orphan_is_held_until_its_call_comes() {
    subagentScenario.core("hello").sub("s1", "x", "early");
    assertThat(subagentScenario.groups()).isEmpty();
    assertThat(subagentScenario.timeline().orphans())
        .singleElement()
        .satisfies(
            thread -> {
              assertThat(thread.taskId()).isEqualTo(new TaskId("s1"));
              assertThat(thread.items()).hasSize(1);
            });

    subagentScenario.spawn("x", "s1");

    assertThat(subagentScenario.groups()).containsExactly("x: s1[early]");
    assertThat(subagentScenario.timeline().orphans()).isEmpty();
  }

  @Test
  void where_the_beginning_of_the_call_is_filtered_out_its_end_is_the_anchor() {
    subagentScenario.sub("s1", "x", "a").end("x");

    assertThat(subagentScenario.groups()).containsExactly("x: s1[a]");
    assertThat(subagentScenario.group(0).trigger().event()).isInstanceOf(ToolComplete.class);
  }

  @Test
  void where_all_tool_events_are_filtered_out_sub_agents_stand_where_they_were_asked_for() {
    subagentScenario.core(created("s1")).core(created("s2")).core(created("s3"));
    subagentScenario.sub("s1", "x", "a").sub("s3", "y", "c").sub("s2", "x", "b");

    assertThat(subagentScenario.groups()).containsExactly("s1: s1[a] s2[b]", "s3: s3[c]");
  }

  @Test
  void a_parents_word_on_how_a_sub_agent_ended_counts_when_its_own_is_missing() {
    subagentScenario.spawn("x", "s1").sub("s1", "x", "a");
    subagentScenario.core(new SubtaskComplete(new TaskId("s1"), TaskState.CANCELED, null, null));

    assertThat(subagentScenario.group(0).threads().getFirst().status())
        .isEqualTo(TaskState.CANCELED);
    assertThat(subagentScenario.group(0).progress().failed()).isEqualTo(1);
  }

  @Test
  void without_the_new_fields_a_sub_agent_belongs_to_its_parents_last_spawning_call() {
    subagentScenario.core(call("x", "subagent"));
    subagentScenario.legacy("s1", "a").legacy("s2", "b");
    subagentScenario.core(call("y", "subagent"));
    subagentScenario.legacy("s3", "c").legacy("s1", "late");

    assertThat(subagentScenario.groups()).containsExactly("x: s1[a, late] s2[b]", "y: s3[c]");
  }

  @Test
  void without_the_new_fields_an_early_sub_agent_belongs_to_the_first_call_that_comes() {
    subagentScenario
        .legacy("s1", "a")
        .core(call("q", "calculator"))
        .core(call("x", "agent_writer"));

    assertThat(subagentScenario.groups()).containsExactly("x: s1[a]");
  }

  @Test
  void what_a_call_says_of_its_sub_agents_is_stronger_than_the_order() {
    subagentScenario.spawn("x", "s1").spawn("y", "s2").legacy("s1", "a").legacy("s2", "b");

    assertThat(subagentScenario.groups()).containsExactly("x: s1[a]", "y: s2[b]");
  }

  @Test
  void an_event_that_comes_twice_counts_once() {
    subagentScenario.core("hello").spawn("x", "s1").sub("s1", "x", "a");
    var twice = new ArrayList<>(subagentScenario.entries());
    twice.addAll(subagentScenario.entries());

    assertThat(Timeline.of(twice)).isEqualTo(subagentScenario.timeline());
  }

  @Test
  void tasks_that_claim_to_be_each_others_parents_are_shown_and_end() {
    subagentScenario.sub("a", "b", "x", "one").sub("b", "a", "y", "two");
    subagentScenario.nest("a", "b", "x", "y", "b").nest("b", "a", "y", "x", "a");

    var timeline = subagentScenario.timeline();

    assertThat(timeline.items()).isEmpty();
    assertThat(timeline.orphans()).hasSize(1);
  }

  /// WORKFLOW-23.
  @Test
  void the_parents_text_has_nothing_of_its_sub_agents() {
    subagentScenario
        .core("1 ")
        .spawn("x", "s1", "s2")
        .sub("s1", "x", "A")
        .sub("s2", "x", "B")
        .core("2");

    var text = new StringBuilder();
    for (var item : subagentScenario.timeline().items()) {
      if (item instanceof Plain(var entry) && entry.event() instanceof ContentDelta delta) {
        text.append(delta.delta());
      }
    }
    assertThat(text).hasToString("1 2");
  }

  private static SubtaskCreated created(String task) {
    return new SubtaskCreated(new TaskId(task), new AgentTypeId("worker"), "do it");
  }
}
