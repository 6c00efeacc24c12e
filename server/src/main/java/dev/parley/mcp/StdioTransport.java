package dev.parley.mcp;

import dev.parley.tool.process.ManagedProcess;
import dev.parley.tool.process.ManagedProcesses;
import dev.parley.tool.process.ProcessCommand;
import io.modelcontextprotocol.json.TypeRef;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCMessage;
import io.modelcontextprotocol.spec.McpTransportException;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// A transport over the standard input and output of a process: one message per line.
///
/// The transport of the SDK passes the complete environment of the server to the process, stops at
/// the first invalid line, does not report the end of the process, and leaves its child processes
/// running. This one reports the end to the exception handler with an [ProcessEndedException]. Pipes are read and
/// written on platform threads: reading a pipe blocks the carrier of a virtual thread.
final class StdioTransport implements McpClientTransport {

  private static final System.Logger LOG = System.getLogger(StdioTransport.class.getName());
  private static final int OUTGOING_MAX = 1_000;
  private static final int GARBAGE_MAX = 1_000;
  private static final int GARBAGE_SHOWN = 200;
  private static final Duration LAST_OUTPUT_WAIT = Duration.ofSeconds(1);
  private static final Duration ENDING = Duration.ofSeconds(5);

  /// The process has ended or must be stopped.
  static final class ProcessEndedException extends McpTransportException {
    private static final long serialVersionUID = 1L;

    ProcessEndedException(String message) {
      super(message);
    }
  }

  private final McpServer.StdioEndpoint server;
  private final ManagedProcesses managedProcesses;
  private final String name;
  private final Duration endPatience;
  private final BlockingQueue<JSONRPCMessage> outgoing = new ArrayBlockingQueue<>(OUTGOING_MAX);
  private final LastLines errors = new LastLines();
  private volatile Consumer<Throwable> onEnd = _ -> {};
  private volatile @Nullable ManagedProcess managedProcess;
  private volatile @Nullable Thread writer;
  private volatile String garbage = "";

  StdioTransport(
      McpServer.StdioEndpoint server,
      ManagedProcesses managedProcesses,
      String name,
      Duration endPatience) {
    this.server = server;
    this.managedProcesses = managedProcesses;
    this.name = name;
    this.endPatience = endPatience;
  }

  /// The last lines of the process that are not messages, as the end of an error message.
  String lastLines() {
    var text = errors.text();
    var wrote = garbage.isEmpty() ? "" : "\nIt wrote an invalid message: " + garbage;
    return wrote + (text.isEmpty() ? "" : "\nIts last lines on standard error:\n" + text);
  }

  @Override
  public Mono<Void> connect(Function<Mono<JSONRPCMessage>, Mono<JSONRPCMessage>> handler) {
    return Mono.fromRunnable(() -> start(handler));
  }

  @Override
  public void setExceptionHandler(Consumer<Throwable> handler) {
    onEnd = handler;
  }

  @Override
  public Mono<Void> sendMessage(JSONRPCMessage message) {
    return Mono.defer(
        () ->
            outgoing.offer(message)
                ? Mono.empty()
                : Mono.error(new McpTransportException("it does not read its input")));
  }

  @Override
  public <T> T unmarshalFrom(Object data, TypeRef<T> type) {
    return McpChannel.JSON.convertValue(data, type);
  }

  @Override
  public Mono<Void> closeGracefully() {
    return Mono.fromRunnable(this::end);
  }

  private void start(Function<Mono<JSONRPCMessage>, Mono<JSONRPCMessage>> handler) {
    try {
      var started =
          managedProcesses.start(
              new ProcessCommand(
                  server.command(),
                  server.folder(),
                  server.environment(),
                  ProcessCommand.ProcessStreams.ALL));
      managedProcess = started;
      var complaints = thread("errors", () -> errors.readAll(started.errors()));
      thread("in", () -> read(started, handler, complaints));
      writer = thread("out", () -> write(started));
    } catch (IOException impossible) {
      throw new ProcessEndedException("it cannot be started: " + impossible.getMessage());
    }
  }

  private Thread thread(String what, Runnable work) {
    return Thread.ofPlatform().daemon().name("mcp-" + name + "-" + what).start(work);
  }

  private void read(
      ManagedProcess from,
      Function<Mono<JSONRPCMessage>, Mono<JSONRPCMessage>> handler,
      Thread complaints) {
    String why;
    try (var in = new BufferedInputStream(from.output())) {
      var strange = 0;
      var line = line(in);
      while (line != null && strange < GARBAGE_MAX) {
        if (!line.isBlank() && !receive(line, handler)) {
          strange++;
        }
        line = line(in);
      }
      why = line == null ? exit(from, complaints) : "it writes invalid messages";
    } catch (IOException broken) {
      why = "its output cannot be read: " + broken.getMessage();
    }
    onEnd.accept(new ProcessEndedException(why));
  }

  private boolean receive(
      String line, Function<Mono<JSONRPCMessage>, Mono<JSONRPCMessage>> handler) {
    JSONRPCMessage message;
    try {
      message = McpSchema.deserializeJsonRpcMessage(McpChannel.JSON, line);
    } catch (IOException | RuntimeException noMessage) {
      garbage = BoundedText.cut(line, GARBAGE_SHOWN);
      LOG.log(Level.DEBUG, "the MCP server {0} wrote an invalid message: {1}", name, garbage);
      return false;
    }
    handler
        .apply(Mono.just(message))
        .subscribe(
            _ -> {}, broken -> LOG.log(Level.ERROR, "cannot handle a message of " + name, broken));
    return true;
  }

  private static @Nullable String line(InputStream in) throws IOException {
    var line = new ByteArrayOutputStream();
    for (var next = in.read(); next != '\n'; next = in.read()) {
      if (next < 0) {
        return line.size() == 0 ? null : line.toString(StandardCharsets.UTF_8);
      }
      if (line.size() == McpChannel.MESSAGE_BYTES_MAX) {
        throw new IOException("a line has more than " + McpChannel.MESSAGE_BYTES_MAX + " bytes");
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
        out.write(McpChannel.JSON.writeValueAsBytes(outgoing.take()));
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
  private void end() {
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
}
