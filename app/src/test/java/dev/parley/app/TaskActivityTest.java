package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class TaskActivityTest {

  private final TaskActivity taskActivity = new TaskActivity(TestEntries.TASK);

  @Test
  void the_ones_that_work_are_named_and_not_those_who_wait_for_them() {
    assertThat(taskActivity.text()).isEqualTo("working");
    add(talk -> talk.add(subtask("s-1")).add(subtask("s-2")));
    assertThat(taskActivity.text()).isEqualTo("worker, worker");
    add(talk -> talk.add("s-1", start("call-1", "web_search")));
    assertThat(taskActivity.text()).isEqualTo("worker · web_search, worker");
    add(talk -> talk.add(end("s-2")));
    assertThat(taskActivity.text()).isEqualTo("worker · web_search");
    add(talk -> talk.add("s-1", complete("call-1", "web_search")));
    assertThat(taskActivity.text()).isEqualTo("worker");
    add(talk -> talk.add(end("s-1")));
    assertThat(taskActivity.text()).doesNotContain("worker,").doesNotContain("·");
  }

  @Test
  void a_retry_is_told_until_the_task_goes_on() {
    var metadata = Json.object();
    metadata
        .putObject("retry")
        .put("attempt", 2)
        .put("maxAttempts", 5)
        .put("reason", "the model's server failed with 503");
    add(talk -> talk.add(new TaskStatus(TaskState.WORKING, "Retrying", metadata)));
    assertThat(taskActivity.text())
        .endsWith(" · retrying 2 of 5: the model's server failed with 503");
    add(talk -> talk.add(new ContentDelta("x", 0, new BlockId("b-1"))));
    assertThat(taskActivity.text()).doesNotContain("retrying");
  }

  private void add(UnaryOperator<TestEntries> events) {
    events.apply(TestEntries.talk()).entries().forEach(taskActivity::add);
  }

  private static Event subtask(String id) {
    return new SubtaskCreated(new TaskId(id), new AgentTypeId("worker"), "do it");
  }

  private static Event end(String id) {
    return new SubtaskComplete(new TaskId(id), TaskState.COMPLETED, null, null);
  }

  private static Event start(String id, String tool) {
    return new ToolStart(new ToolCallId(id), tool, Json.object(), null, null, null, null, null);
  }

  private static Event complete(String id, String tool) {
    return new ToolComplete(new ToolCallId(id), tool, true, null, null, null, null, null);
  }
}
