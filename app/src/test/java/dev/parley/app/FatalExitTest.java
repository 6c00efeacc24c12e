package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.app.ServerRunner.FatalExit;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// How the program ends when its server cannot continue.
final class FatalExitTest {

  @Test
  void a_failed_thread_ends_the_program_with_one_line_and_a_code() {
    var bytes = new ByteArrayOutputStream();
    var err = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    var codes = new ArrayList<Integer>();

    new FatalExit(err, codes::add).failed("parley-log-writer", new OutOfMemoryError("heap"));

    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .hasLineCount(1)
        .contains("parley-log-writer", "OutOfMemoryError: heap");
    assertThat(codes).isEqualTo(List.of(1));
  }

  @Test
  void it_ends_even_if_the_line_cannot_be_printed() {
    var codes = new ArrayList<Integer>();
    var broken =
        new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8) {
          @Override
          public void println(String line) {
            throw new OutOfMemoryError("no memory for a line");
          }
        };

    try {
      new FatalExit(broken, codes::add).failed("views", new StackOverflowError());
    } catch (OutOfMemoryError expected) {
      assertThat(expected).hasMessageContaining("line");
    }

    assertThat(codes).isEqualTo(List.of(1));
  }
}
