package dev.parley.mcp;

import dev.parley.protocol.Json;
import dev.parley.runtime.Threads;
import dev.parley.tool.process.ManagedProcess;
import dev.parley.tool.process.ManagedProcesses;
import dev.parley.tool.process.ManagedProcesses.ProcessCommand;
import dev.parley.tool.process.ProcessIsolation;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A transport over the standard input and output of a process: one message per line.
///
/// Pipes are read and written on platform threads: reading a pipe blocks the carrier of a virtual
/// thread.
final class StdioTransport implements McpTransport {

  private static final System.Logger LOG = System.getLogger(StdioTransport.class.getName());
  private static final int OUTGOING_MAX = 1_000;
  private static final int GARBAGE_MAX = 1_000;
  private static final int GARBAGE_SHOWN = 200;
  private static final Duration LAST_OUTPUT_WAIT = Duration.ofSeconds(1);
  private static final Duration ENDING = Duration.ofSeconds(5);

  private final McpServer.StdioEndpoint server;
  private final ManagedProcesses managedProcesses;
  private final Threads threads;
  private final String name;
  private final ProcessIsolation isolation;
  private final Duration endPatience;
  private final BlockingQueue<McpMessage> outgoing = new ArrayBlockingQueue<>(OUTGOING_MAX);
  private final LastLines errors = new LastLines();
  private volatile @Nullable ManagedProcess managedProcess;
  private volatile @Nullable Thread writer;
  private volatile String garbage = "";

  StdioTransport(McpServer.StdioEndpoint server, McpDependencies dependencies, String name) {
    this.server = server;
    this.managedProcesses = dependencies.children();
    this.threads = dependencies.threads();
    this.name = name;
    this.isolation = dependencies.isolationOf(name);
    this.endPatience = dependencies.timeouts().shutdown();
  }

  @Override
  public String lastLines() {
    var text = errors.text();
    var wrote = garbage.isEmpty() ? "" : "\nIt wrote an invalid message: " + garbage;
    return wrote + (text.isEmpty() ? "" : "\nIts last lines on standard error:\n" + text);
  }

  @Override
  public List<String> versions() {
    return List.of("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25");
  }

  @Override
  public void setVersion(String version) {}

  @Override
  public void open(Receiver receiver) throws IOException {
    try {
      var started =
          managedProcesses.start(
              new ProcessCommand(
                  server.command(),
                  server.folder(),
                  server.environment(),
                  ProcessCommand.ProcessStreams.ALL,
                  isolation));
      managedProcess = started;
      var complaints = thread("errors", () -> errors.readAll(started.errors()));
      thread("in", () -> read(started, receiver, complaints));
      writer = thread("out", () -> write(started));
    } catch (IOException impossible) {
      throw new IOException("it cannot be started: " + impossible.getMessage(), impossible);
    }
  }

  @Override
  public Sending send(McpMessage message, String origin, Consumer<@Nullable IOException> done) {
    done.accept(outgoing.offer(message) ? null : new IOException("it does not read its input"));
    return () -> {};
  }

  private Thread thread(String what, Runnable work) {
    return threads.startPlatform("mcp-" + name + "-" + what, work);
  }

  private void read(ManagedProcess from, Receiver receiver, Thread complaints) {
    String why;
    try (var in = new BufferedInputStream(from.output())) {
      var strange = 0;
      var line = line(in);
      while (line != null && strange < GARBAGE_MAX) {
        if (!line.isBlank() && !receive(line, receiver)) {
          strange++;
        }
        line = line(in);
      }
      why = line == null ? exit(from, complaints) : "it writes invalid messages";
    } catch (IOException broken) {
      why = "its output cannot be read: " + broken.getMessage();
    }
    receiver.onFailure(new IOException(why), true);
  }

  private boolean receive(String line, Receiver receiver) {
    try {
      receiver.onMessage(McpMessage.parse(line), "");
      return true;
    } catch (IOException noMessage) {
      garbage = BoundedText.cut(line, GARBAGE_SHOWN);
      LOG.log(Level.DEBUG, "the MCP server {0} wrote an invalid message: {1}", name, garbage);
      return false;
    }
  }

  private static @Nullable String line(InputStream in) throws IOException {
    var line = new ByteArrayOutputStream();
    for (var next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        return line.size() == 0 ? null : line.toString(StandardCharsets.UTF_8);
      }
      if (line.size() == McpMessage.BYTES_MAX) {
        throw new IOException("a line has more than " + McpMessage.BYTES_MAX + " bytes");
      }
      line.write(next);
    }
    return line.toString(StandardCharsets.UTF_8);
  }

  private static String exit(ManagedProcess ended, Thread complaints) {
    try {
      if (!ended.await(ENDING)) {
        return "it closed its standard output";
      }
      // Its last error output explains most; but its child processes may keep the pipe open.
      complaints.join(LAST_OUTPUT_WAIT);
      return "it ended with exit code " + ended.exitCode();
    } catch (InterruptedException closing) {
      Thread.currentThread().interrupt();
      return "it ended";
    }
  }

  private void write(ManagedProcess to) {
    try (OutputStream out = to.input()) {
      while (true) {
        // Always one line: JSON escapes line ends.
        out.write(Json.bytes(outgoing.take().json()));
        out.write('\n');
        out.flush();
      }
    } catch (IOException gone) {
      // The reader thread reports the end.
    } catch (InterruptedException closing) {
      // Its input is closed with the stream, which makes a server end.
    }
  }

  /// Stops the process as the protocol requires: closes its input, then asks it to end, then kills
  /// it with all its child processes.
  @Override
  public void close() {
    var ending = managedProcess;
    var writing = writer;
    if (ending == null) {
      return;
    }
    if (writing != null) {
      writing.interrupt();
    }
    try {
      ending.await(endPatience);
    } catch (InterruptedException inHaste) {
      Thread.currentThread().interrupt();
    } finally {
      ending.close();
    }
  }

  /// The last lines that a process wrote, each truncated. The lock guards them.
  static final class LastLines {

    private static final int LINES_MAX = 10;
    private static final int LINE_MAX = 300;

    private final Deque<String> lines = new ArrayDeque<>();

    /// Reads to the end of the stream.
    void readAll(InputStream in) {
      var buffer = new byte[8 * 1024];
      var line = new byte[LINE_MAX];
      var length = 0;
      try (in) {
        for (var count = in.read(buffer); count >= 0; count = in.read(buffer)) {
          for (var i = 0; i < count; i++) {
            if (buffer[i] == '\n') {
              add(line, length);
              length = 0;
            } else if (length < LINE_MAX) {
              line[length++] = buffer[i];
            }
          }
        }
      } catch (IOException ended) {
        // The process is gone.
      }
      add(line, length);
    }

    synchronized String text() {
      return String.join("\n", lines);
    }

    private synchronized void add(byte[] line, int length) {
      var text = new String(line, 0, length, StandardCharsets.UTF_8).strip();
      if (text.isEmpty()) {
        return;
      }
      if (lines.size() == LINES_MAX) {
        lines.remove();
      }
      lines.add(text);
    }
  }
}
