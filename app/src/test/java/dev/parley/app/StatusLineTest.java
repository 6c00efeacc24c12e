package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StatusLineTest {

  private static final String ERASE = "\r\u001b[2K";

  private final AtomicLong clock = new AtomicLong(Duration.ofHours(1).toNanos());
  private final TestTerminal testTerminal = TestTerminal.terminal(Map.of("TERM", "xterm"), "");
  private final StatusLine status = new StatusLine(testTerminal.terminal(), clock::get, false);

  @Test
  void it_says_what_is_at_work_and_for_how_long() {
    status.show("researcher · web_search");
    pass(Duration.ofSeconds(3));

    assertThat(testTerminal.out()).endsWith("⠋ researcher · web_search · 3 s\u001b[?7h");
    status.show("researcher");
    pass(Duration.ofSeconds(1));
    assertThat(testTerminal.out()).endsWith("researcher · 1 s\u001b[?7h");
  }

  @Test
  void it_is_erased_before_anything_is_printed_and_comes_back_when_it_is_quiet() {
    status.show("coder");
    pass(Duration.ofSeconds(1));
    status.terminal().out().println("text");
    assertThat(testTerminal.out()).endsWith("\u001b[?7h" + ERASE + "text\n");
    pass(Duration.ofMillis(50));
    assertThat(testTerminal.out()).endsWith("text\n");
    pass(Duration.ofSeconds(1));
    assertThat(testTerminal.out()).contains("text\n" + ERASE).endsWith("coder · 2 s\u001b[?7h");
  }

  @Test
  void it_never_stands_in_a_line_that_has_begun() {
    status.show("coder");
    status.terminal().out().print("half a li");
    pass(Duration.ofSeconds(5));
    assertThat(testTerminal.out()).isEqualTo("half a li");
  }

  @Test
  void nothing_is_left_of_it() {
    status.show("coder");
    pass(Duration.ofSeconds(1));
    status.show(null);
    assertThat(testTerminal.out()).endsWith(ERASE);
    pass(Duration.ofSeconds(1));
    status.close();
    assertThat(testTerminal.out()).endsWith(ERASE).containsOnlyOnce("coder");
  }

  @Test
  void a_terminal_that_cannot_erase_has_none() {
    var dumb = TestTerminal.terminal(Map.of("TERM", "dumb"), "");
    var none = new StatusLine(dumb.terminal(), clock::get, false);

    assertThat(none.terminal()).isSameAs(dumb.terminal());
    var both = testTerminal.terminal();
    var paged =
        new Terminal(both.in(), both.out(), both.err(), both.environment(), true, false, true);
    assertThat(new StatusLine(paged, clock::get, false).terminal()).isSameAs(paged);
    var pipe = TestTerminal.piped(Map.of("TERM", "xterm")).terminal();
    assertThat(new StatusLine(pipe, clock::get, false).terminal()).isSameAs(pipe);
  }

  private void pass(Duration time) {
    clock.addAndGet(time.toNanos());
    status.tick();
  }
}
