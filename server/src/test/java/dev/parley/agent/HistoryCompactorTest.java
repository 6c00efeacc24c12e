package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class HistoryCompactorTest {

  @TempDir Path folder;

  // CORE-19
  @Test
  void a_long_history_is_summarized_once_and_nothing_is_removed() throws Exception {
    var log = TaskTestBed.newLog();
    var model = new CommandModel();
    var taskLimits = limits(TaskLimits.DEFAULT.loop().historyMessages(), 250);
    try (var taskTestBed =
        TaskTestBed.with(
            log, TestTeam.agents(log, model, taskLimits, ToolPolicy.DEFAULT), folder, taskLimits)) {
      for (var i = 0; i < 20; i++) {
        taskTestBed.awaitEnd(taskTestBed.submit("message " + i + " " + "x".repeat(60)).taskId());
      }

      var summaries =
          taskTestBed.entries().stream()
              .filter(e -> e.event() instanceof Message m && m.role() == Role.SYSTEM)
              .toList();
      assertThat(summaries).hasSizeBetween(2, 6);
      assertThat(
              taskTestBed.entries().stream()
                  .filter(e -> e.event() instanceof Message m && m.role() != Role.SYSTEM))
          .hasSize(40);
      for (var prompt : model.asked) {
        var size =
            prompt.parts().stream()
                .map(promptPart -> ((PromptPart.PromptMessage) promptPart).text())
                .collect(Collectors.joining())
                .length();
        assertThat(size).isLessThan(2_500);
      }
      var last = model.asked.getLast().parts();
      assertThat(((PromptPart.PromptMessage) last.getFirst()).role()).isEqualTo(Role.USER);
      assertThat(((PromptPart.PromptMessage) last.getFirst()).text())
          .startsWith("[Summary of earlier messages");
      assertThat(((PromptPart.PromptMessage) last.getLast()).text()).startsWith("message 19");
    }
  }

  @Test
  void many_short_messages_are_summarized_before_any_is_dropped() throws Exception {
    var log = TaskTestBed.newLog();
    var model = new CommandModel();
    var taskLimits = limits(8, TaskLimits.DEFAULT.loop().historyTokens());
    try (var taskTestBed =
        TaskTestBed.with(
            log, TestTeam.agents(log, model, taskLimits, ToolPolicy.DEFAULT), folder, taskLimits)) {
      for (var i = 0; i < 10; i++) {
        taskTestBed.awaitEnd(taskTestBed.submit("message " + i).taskId());
      }

      var last = model.asked.getLast().parts();
      assertThat(((PromptPart.PromptMessage) last.getFirst()).text())
          .startsWith("[Summary of earlier messages");
      assertThat(taskTestBed.entries())
          .filteredOn(e -> e.event() instanceof Message m && m.role() == Role.SYSTEM)
          .hasSizeBetween(2, 6);
    }
  }

  private static TaskLimits limits(int historyMessages, int historyTokens) {
    var d = TaskLimits.DEFAULT;
    var loopLimits =
        new TaskLimits.LoopLimits(
            d.loop().maxTurns(),
            d.loop().maxTokens(),
            d.loop().maxFailedTurns(),
            historyMessages,
            historyTokens);
    return new TaskLimits(
        d.taskTimeout(),
        d.maxConcurrentTasks(),
        d.maxQueuedPerContext(),
        d.maxQueuedContexts(),
        d.maxContentLength(),
        d.stopGrace(),
        d.inputTimeout(),
        d.whenInputLapses(),
        loopLimits,
        d.tree());
  }
}
