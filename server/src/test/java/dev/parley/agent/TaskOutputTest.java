package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.runtime.SystemThreads;
import dev.parley.runtime.SystemTime;
import dev.parley.task.TaskSources;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class TaskOutputTest {

  private final TaskOutput taskOutput =
      new TaskOutput(
          new TaskSources(
              new SystemTime(new SystemThreads()),
              new SystemThreads(),
              () -> UUID.randomUUID().toString()),
          () -> 0,
          false);

  @Test
  void a_few_lines_wait_for_the_end_of_an_open_text() {
    taskOutput.appendText("a text");
    taskOutput.addInternal(new InternalRaw("test", "\"a text\""));

    assertThat(taskOutput.take(false)).hasSize(1);
    taskOutput.endBlock();
    assertThat(taskOutput.take(false)).hasSize(2).first().isEqualTo(new InternalRaw("test", "", 0));
  }

  @Test
  void many_lines_do_not_wait() {
    taskOutput.appendText("a text");
    for (var i = 0; i < 300; i++) {
      taskOutput.addInternal(new InternalRaw("test", "line " + i));
    }
    assertThat(taskOutput.take(false)).hasSize(301);

    taskOutput.addInternal(new InternalRaw("test", "x".repeat(2 << 20)));
    assertThat(taskOutput.take(false)).hasSize(1);
  }
}
