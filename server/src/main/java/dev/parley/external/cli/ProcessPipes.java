package dev.parley.external.cli;

import dev.parley.external.cli.ProgramOutput.OutputItem;
import dev.parley.protocol.Rejection;
import dev.parley.task.TaskRun;
import dev.parley.tool.process.ManagedProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/// The pipes of a running program, each with its own platform thread: waiting for pipes would block
/// the carriers of virtual threads. Closing it stops the program, and so the threads.
final class ProcessPipes implements AutoCloseable {

  private static final int LAST_LINES = 20;
  private static final int LAST_LINE_MAX = 500;
  private static final int INPUT_MAX = 1_000;
  private static final long CHARACTERS_MAX = 32L << 20;
  private static final Duration FOREVER = Duration.ofDays(365);
  private static final Duration LAST_OUTPUT_WAIT = Duration.ofMillis(200);

  private final ManagedProcess managedProcess;
  private final Consumer<String> lineListener;
  private final ProgramOutput programOutput;
  private final BlockingQueue<String> input = new LinkedBlockingQueue<>(INPUT_MAX);
  private final AtomicLong characters = new AtomicLong();
  private final Deque<String> errors = new ArrayDeque<>();
  private final Thread errorReader;

  /// `overhear` receives each line as soon as it is read; `whenGone` runs when the program has
  /// ended.
  ProcessPipes(
      ManagedProcess managedProcess,
      TaskRun taskRun,
      Consumer<String> overhear,
      Runnable whenGone) {
    var name = taskRun.origin().taskId().value();
    var threads = taskRun.sources().threads();
    this.managedProcess = managedProcess;
    this.lineListener = overhear;
    this.programOutput = new ProgramOutput(taskRun.sources().time());
    var reader = threads.startPlatform("cli-out-" + name, this::read);
    threads.startPlatform("cli-in-" + name, this::write);
    this.errorReader = threads.startPlatform("cli-err-" + name, this::readErrors);
    threads.start(
        "cli-end-" + name,
        () -> {
          awaitEnd(reader);
          // Before the item is queued: the reader of the queue may be waiting for this.
          whenGone.run();
          put(new OutputItem.ProcessExited());
        });
  }

  ProgramOutput programOutput() {
    return programOutput;
  }

  /// Sends text to the program; an empty text closes its input.
  ///
  /// @throws Rejection.TooLarge if the program does not read its input, and too much is queued
  void send(String text) {
    if (characters.get() > CHARACTERS_MAX || !input.offer(text)) {
      throw new Rejection.TooLarge(
          "content-too-long",
          "the program does not read its input, and too many replies are queued");
    }
    characters.addAndGet(text.length());
  }

  /// The last lines of its standard error, after it has ended.
  String lastErrors() throws InterruptedException {
    errorReader.join(Duration.ofSeconds(2));
    synchronized (errors) {
      return String.join("\n", errors);
    }
  }

  private void read() {
    try {
      var reader = new LineReader(managedProcess.output());
      for (var outputLine = reader.next(); outputLine != null; outputLine = reader.next()) {
        lineListener.accept(outputLine.text());
        programOutput.put(outputLine);
      }
    } catch (IOException closed) {
      // There is no more to read.
    } catch (InterruptedException stopped) {
      return;
    }
    put(new OutputItem.OutputClosed());
  }

  private void readErrors() {
    try {
      var reader = new LineReader(managedProcess.errors(), LAST_LINE_MAX);
      for (var outputLine = reader.next(); outputLine != null; outputLine = reader.next()) {
        synchronized (errors) {
          if (!outputLine.text().isBlank()) {
            errors.add(outputLine.text());
          }
          if (errors.size() > LAST_LINES) {
            errors.removeFirst();
          }
        }
      }
    } catch (IOException closed) {
      // There is no more to read.
    }
  }

  private void write() {
    try (var out = managedProcess.input()) {
      for (var text = input.take(); !text.isEmpty(); text = input.take()) {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
        characters.addAndGet(-text.length());
      }
    } catch (IOException closed) {
      // The program has closed its input; its output shows why.
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /// Waits for the end of the program, and briefly for its last output to be read.
  private void awaitEnd(Thread reader) {
    try {
      managedProcess.await(FOREVER);
      var _ = reader.join(LAST_OUTPUT_WAIT);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void put(OutputItem outputItem) {
    try {
      programOutput.put(outputItem);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  /// Stops the program.
  void stop() {
    programOutput.close();
    input.clear();
    var _ = input.offer("");
    managedProcess.close();
  }

  @Override
  public void close() {
    stop();
  }
}
