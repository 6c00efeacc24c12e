package dev.parley.external.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.task.ClockAndIds;
import java.time.InstantSource;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class SpeakerOutputTest {

  private final SpeakerOutput speakerOutput =
      new SpeakerOutput(
          null,
          new ClockAndIds(InstantSource.system(), () -> UUID.randomUUID().toString()),
          0,
          false);

  @Test
  void a_few_lines_wait_for_the_end_of_an_open_text() {
    speakerOutput.appendText("a text");
    speakerOutput.addInternal(new InternalRaw("test", "\"a text\""));

    assertThat(speakerOutput.take(false)).hasSize(1);
    speakerOutput.endBlock();
    assertThat(speakerOutput.take(false))
        .hasSize(2)
        .first()
        .isEqualTo(new InternalRaw("test", "", 0));
  }

  @Test
  void many_lines_do_not_wait() {
    speakerOutput.appendText("a text");
    for (var i = 0; i < 300; i++) {
      speakerOutput.addInternal(new InternalRaw("test", "line " + i));
    }
    assertThat(speakerOutput.take(false)).hasSize(301);

    speakerOutput.addInternal(new InternalRaw("test", "x".repeat(2 << 20)));
    assertThat(speakerOutput.take(false)).hasSize(1);
  }
}
