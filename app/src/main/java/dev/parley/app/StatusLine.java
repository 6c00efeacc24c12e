package dev.parley.app;

import dev.parley.app.Terminal.TextStyle;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The last line of the screen, which shows what is at work and for how long.
///
/// Output to [#terminal] erases it first, and it is never drawn on a line that has text. On a
/// terminal that does not support it, nothing is drawn. Safe for use by many threads.
final class StatusLine implements AutoCloseable {

  private static final String FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
  private static final long TICK_MILLIS = 100;

  /// The line is drawn only after this time without output; otherwise streamed text would flicker.
  private static final long QUIET_NANOS = Duration.ofMillis(200).toNanos();

  private static final int TEXT_MAX = 100;
  private static final String ERASE = "\r\u001b[2K";

  // The terminal cuts a long line instead of wrapping it: a wrapped line could not be erased.
  private static final String NO_WRAP = "\u001b[?7l";
  private static final String WRAP = "\u001b[?7h";

  private final PrintStream screen;
  private final Terminal terminal;
  private final TextStyle textStyle;
  private final LongSupplier nanos;
  private final @Nullable Thread ticker;

  private final Object lock = new Object();
  // All guarded by lock.
  private @Nullable String text;
  private long since;
  private long lastOutput;
  private boolean drawn;
  private boolean lineBegun;
  private boolean closed;
  private int frame;

  StatusLine(Terminal terminal) {
    this(terminal, System::nanoTime, true);
  }

  /// A status line with another clock. Without `ticks`, only [#tick] draws the line.
  StatusLine(Terminal terminal, LongSupplier nanos, boolean ticks) {
    this.screen = terminal.err();
    this.textStyle = terminal.errStyle();
    this.nanos = nanos;
    var possible = terminal.hasStatusLine();
    this.terminal =
        possible
            ? terminal.withStreams(erasing(terminal.out()), erasing(terminal.err()))
            : terminal;
    this.ticker =
        possible && ticks
            ? Thread.ofPlatform().daemon().name("parley-status").unstarted(this::run)
            : null;
    if (ticker != null) {
      ticker.start();
    }
  }

  /// The terminal for all other output.
  Terminal terminal() {
    return terminal;
  }

  /// Sets the text of the line; null erases the line.
  void show(@Nullable String work) {
    synchronized (lock) {
      if (work == null) {
        erase();
      } else if (!work.equals(text)) {
        since = nanos.getAsLong();
      }
      text = work;
    }
  }

  /// Draws the line again, if it has a text and there was no output for a moment.
  void tick() {
    synchronized (lock) {
      var now = nanos.getAsLong();
      if (text == null || closed || lineBegun || now - lastOutput < QUIET_NANOS) {
        return;
      }
      var seconds = Duration.ofNanos(now - since).toSeconds();
      var sign = FRAMES.charAt(frame++ % FRAMES.length());
      var line = sign + " " + TextSanitizer.line(text, TEXT_MAX) + " · " + seconds + " s";
      screen.print(ERASE + NO_WRAP + textStyle.dim(line) + WRAP);
      screen.flush();
      drawn = true;
    }
  }

  private void run() {
    while (true) {
      try {
        Thread.sleep(TICK_MILLIS);
      } catch (InterruptedException closing) {
        return;
      }
      tick();
    }
  }

  // Only with the lock held.
  private void erase() {
    if (drawn) {
      screen.print(ERASE);
      screen.flush();
      drawn = false;
    }
  }

  private PrintStream erasing(PrintStream stream) {
    return new PrintStream(new ErasingStream(stream), true, StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    if (ticker != null) {
      ticker.interrupt();
    }
    synchronized (lock) {
      erase();
      closed = true;
    }
  }

  /// A stream that erases the line before it writes.
  private final class ErasingStream extends FilterOutputStream {

    ErasingStream(OutputStream stream) {
      super(stream);
    }

    @Override
    public void write(int b) throws IOException {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int count) throws IOException {
      if (count == 0) {
        return;
      }
      synchronized (lock) {
        erase();
        out.write(bytes, from, count);
        lineBegun = bytes[from + count - 1] != '\n';
        lastOutput = nanos.getAsLong();
      }
    }
  }
}
