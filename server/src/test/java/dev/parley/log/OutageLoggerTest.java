package dev.parley.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.runtime.ManualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.ResourceBundle;
import org.junit.jupiter.api.Test;

class OutageLoggerTest {

  private final List<String> lines = new ArrayList<>();
  private final ManualTime time = new ManualTime();
  private final OutageLogger outageLogger =
      new OutageLogger(new LineRecorder(), "it fails", "it works", time);

  @Test
  void a_long_outage_is_one_line_a_minute_and_one_at_the_end() {
    for (var second = 0; second < 150; second++) {
      outageLogger.failed("disk full");
      time.advance(Duration.ofSeconds(1));
    }
    outageLogger.recovered();
    outageLogger.recovered();

    assertThat(lines)
        .containsExactly(
            "WARNING it fails: disk full",
            "WARNING it fails: disk full",
            "WARNING it fails: disk full",
            "INFO it works (since the last warning: 30 s)");
  }

  @Test
  void a_second_outage_soon_after_the_first_is_logged_too() {
    for (var reason : List.of("disk full", "disk full again")) {
      outageLogger.failed(reason);
      outageLogger.failed(reason);
      time.advance(Duration.ofSeconds(10));
      outageLogger.recovered();
    }

    assertThat(lines)
        .containsExactly(
            "WARNING it fails: disk full",
            "INFO it works (since the last warning: 10 s)",
            "WARNING it fails: disk full again",
            "INFO it works (since the last warning: 10 s)");
  }

  @Test
  void one_that_comes_and_goes_is_a_few_lines_a_minute() {
    for (var second = 0; second < 59; second++) {
      outageLogger.failed("disk full");
      outageLogger.recovered();
      time.advance(Duration.ofSeconds(1));
    }

    assertThat(lines).hasSize(2 * OutageLogger.BEGINS_MAX);
  }

  private final class LineRecorder implements System.Logger {
    @Override
    public String getName() {
      return "test";
    }

    @Override
    public boolean isLoggable(Level level) {
      return level.compareTo(Level.INFO) >= 0;
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String message, Throwable thrown) {
      lines.add(level + " " + message);
    }

    @Override
    public void log(Level level, ResourceBundle bundle, String format, Object... values) {
      if (isLoggable(level)) {
        lines.add(level + " " + java.text.MessageFormat.format(format, values));
      }
    }
  }
}
