package dev.parley.cli;

import dev.parley.cli.Mailbox.Mail;
import dev.parley.protocol.Rejection;
import dev.parley.tool.process.Child;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/// The pipes of a running program, each with a platform thread of its own: threads that wait for pipes
/// would freeze virtual ones. Closing it ends the program, and so the threads.
final class Wires implements AutoCloseable {

  private static final int LAST_LINES = 20;
  private static final int LAST_LINE_MAX = 500;
  private static final int INPUT_MAX = 1_000;
  private static final long CHARACTERS_MAX = 32L << 20;
  private static final Duration FOREVER = Duration.ofDays(365);
  private static final Duration LAST_WORDS = Duration.ofMillis(200);

  private final Child child;
  private final Consumer<String> overhear;
  private final Mailbox mailbox = new Mailbox();
  private final BlockingQueue<String> input = new LinkedBlockingQueue<>(INPUT_MAX);
  private final AtomicLong characters = new AtomicLong();
  private final Deque<String> errors = new ArrayDeque<>();
  private final Thread errorReader;

  /// `overhear` is given each line when it comes, and `whenGone` is called when the program has ended.
  Wires(Child child, String name, Consumer<String> overhear, Runnable whenGone) {
    this.child = child;
    this.overhear = overhear;
    var reader = Thread.ofPlatform().daemon().name("cli-out-" + name).start(this::read);
    Thread.ofPlatform().daemon().name("cli-in-" + name).start(this::write);
    this.errorReader = Thread.ofPlatform().daemon().name("cli-err-" + name).start(this::readErrors);
    Thread.ofVirtual()
        .name("cli-end-" + name)
        .start(
            () -> {
              awaitEnd(reader);
              // Before the mail: who takes that may be waiting for just this.
              whenGone.run();
              put(new Mail.Gone());
            });
  }

  Mailbox mailbox() {
    return mailbox;
  }

  /// Tells the program something; an empty text ends its input.
  ///
  /// @throws Rejection.TooLarge if the program does not read, and too much waits for it already
  void tell(String text) {
    if (characters.get() > CHARACTERS_MAX || !input.offer(text)) {
      throw new Rejection.TooLarge(
          "content-too-long", "the program asks on and on, and does not read what it is told");
    }
    characters.addAndGet(text.length());
  }

  /// The last that it said about errors, once it has ended.
  String lastErrors() throws InterruptedException {
    errorReader.join(Duration.ofSeconds(2));
    synchronized (errors) {
      return String.join("\n", errors);
    }
  }

  private void read() {
    try {
      var reader = new LineReader(child.output());
      for (var line = reader.next(); line != null; line = reader.next()) {
        overhear.accept(line.text());
        mailbox.put(line);
      }
    } catch (IOException closed) {
      // So there is no more to read.
    } catch (InterruptedException stopped) {
      return;
    }
    put(new Mail.Silent());
  }

  private void readErrors() {
    try {
      var reader = new LineReader(child.errors(), LAST_LINE_MAX);
      for (var line = reader.next(); line != null; line = reader.next()) {
        synchronized (errors) {
          if (!line.text().isBlank()) {
            errors.add(line.text());
          }
          if (errors.size() > LAST_LINES) {
            errors.removeFirst();
          }
        }
      }
    } catch (IOException closed) {
      // So there is no more to read.
    }
  }

  private void write() {
    try (var out = child.input()) {
      for (var text = input.take(); !text.isEmpty(); text = input.take()) {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
        characters.addAndGet(-text.length());
      }
    } catch (IOException closed) {
      // It does not listen any more; what it prints says why.
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /// Waits for the program's end, and a moment for what it said last to be heard: that still counts.
  private void awaitEnd(Thread reader) {
    try {
      child.await(FOREVER);
      var _ = reader.join(LAST_WORDS);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void put(Mail mail) {
    try {
      mailbox.put(mail);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /// Ends the program, whatever it is doing.
  void hangUp() {
    mailbox.close();
    input.clear();
    var _ = input.offer("");
    child.close();
  }

  @Override
  public void close() {
    hangUp();
  }
}
