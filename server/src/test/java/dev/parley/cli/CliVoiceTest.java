package dev.parley.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.task.Sources;
import java.time.InstantSource;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class CliVoiceTest {

  private final Voice voice =
      new Voice(
          null, new Sources(InstantSource.system(), () -> UUID.randomUUID().toString()), 0, false);

  @Test
  void a_few_lines_wait_for_the_end_of_an_open_text() {
    voice.say("a text");
    voice.note(new InternalRaw("test", "\"a text\""));

    assertThat(voice.take(false)).hasSize(1);
    voice.endBlock();
    assertThat(voice.take(false)).hasSize(2).first().isEqualTo(new InternalRaw("test", "", 0));
  }

  @Test
  void many_lines_do_not_wait() {
    voice.say("a text");
    for (var i = 0; i < 300; i++) {
      voice.note(new InternalRaw("test", "line " + i));
    }
    assertThat(voice.take(false)).hasSize(301);

    voice.note(new InternalRaw("test", "x".repeat(2 << 20)));
    assertThat(voice.take(false)).hasSize(1);
  }
}
