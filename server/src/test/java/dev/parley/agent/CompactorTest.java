package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.model.Prompt.Part;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.task.Limits;
import dev.parley.task.World;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class CompactorTest {

  @TempDir Path folder;

  @Test
  void x_19_a_long_past_is_told_in_short_once_and_nothing_is_removed() throws Exception {
    var log = World.newLog();
    var model = new CommandModel();
    var limits = limits(Limits.DEFAULT.loop().historyMessages(), 250);
    try (var world =
        World.with(log, Team.agents(log, model, limits, Policy.USUAL), folder, limits)) {
      for (var i = 0; i < 20; i++) {
        world.end(world.say("message " + i + " " + "x".repeat(60)).taskId());
      }

      var summaries =
          world.entries().stream()
              .filter(e -> e.event() instanceof Message m && m.role() == Role.SYSTEM)
              .toList();
      assertThat(summaries).hasSizeBetween(2, 6);
      assertThat(
              world.entries().stream()
                  .filter(e -> e.event() instanceof Message m && m.role() != Role.SYSTEM))
          .hasSize(40);
      for (var prompt : model.asked) {
        var size =
            prompt.parts().stream()
                .map(part -> ((Part.Said) part).text())
                .collect(Collectors.joining())
                .length();
        assertThat(size).isLessThan(2_500);
      }
      var last = model.asked.getLast().parts();
      assertThat(((Part.Said) last.getFirst()).role()).isEqualTo(Role.USER);
      assertThat(((Part.Said) last.getFirst()).text()).startsWith("[Summary of earlier messages");
      assertThat(((Part.Said) last.getLast()).text()).startsWith("message 19");
    }
  }

  @Test
  void many_short_messages_are_told_in_short_before_any_is_forgotten() throws Exception {
    var log = World.newLog();
    var model = new CommandModel();
    var limits = limits(8, Limits.DEFAULT.loop().historyTokens());
    try (var world =
        World.with(log, Team.agents(log, model, limits, Policy.USUAL), folder, limits)) {
      for (var i = 0; i < 10; i++) {
        world.end(world.say("message " + i).taskId());
      }

      var last = model.asked.getLast().parts();
      assertThat(((Part.Said) last.getFirst()).text()).startsWith("[Summary of earlier messages");
      assertThat(world.entries())
          .filteredOn(e -> e.event() instanceof Message m && m.role() == Role.SYSTEM)
          .hasSizeBetween(2, 6);
    }
  }

  private static Limits limits(int historyMessages, int historyTokens) {
    var d = Limits.DEFAULT;
    var loop =
        new Limits.Loop(
            d.loop().maxTurns(),
            d.loop().maxTokens(),
            d.loop().maxFailedTurns(),
            historyMessages,
            historyTokens);
    return new Limits(
        d.taskTimeout(),
        d.maxConcurrentTasks(),
        d.maxQueuedPerContext(),
        d.maxQueuedContexts(),
        d.maxContentLength(),
        d.stopGrace(),
        d.inputTimeout(),
        d.whenInputLapses(),
        loop,
        d.tree());
  }
}
