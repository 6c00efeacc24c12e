package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.NewContext;
import dev.parley.client.NewMessage;
import dev.parley.client.ParleyClient;
import dev.parley.client.StreamFilter;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.ToolEvent.Outcome;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.runtime.TestProgram;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A server in a process of its own that is killed while tools spin on every core, again and again.
@Timeout(120)
class SpinningRestartTest {

  private static final int MORE_THAN_CORES = Runtime.getRuntime().availableProcessors() + 1;

  @TempDir Path folder;

  @Test
  void calls_that_spin_are_started_three_times_and_then_end_as_failed() throws Exception {
    List<ContextId> contexts = new ArrayList<>();
    try (var server = start()) {
      for (var i = 0; i < MORE_THAN_CORES; i++) {
        var context = server.client.createContext(NewContext.titled("spins")).contextId();
        server.client.send(context, NewMessage.text("use spin {\"n\": 1}"));
        contexts.add(context);
      }
      for (var context : contexts) {
        server.await(context, entry -> entry.event() instanceof ToolStart);
      }
      assertThat(server.client.health()).isNotNull();
    }
    for (var attempt = 2; attempt <= 3; attempt++) {
      var number = attempt;
      try (var server = start()) {
        for (var context : contexts) {
          server.await(
              context,
              entry ->
                  entry.event() instanceof ToolProgress again
                      && again.metadata() != null
                      && again.metadata().path("attempt").asInt() == number);
        }
        assertThat(server.client.health()).isNotNull();
      }
    }
    try (var server = start()) {
      for (var context : contexts) {
        var end = server.await(context, entry -> entry.event() instanceof ToolComplete).event();
        assertThat(((ToolComplete) end).error()).contains("stopped 3 times");
        assertThat(((ToolComplete) end).outcome()).isEqualTo(Outcome.INTERRUPTED);
        server.await(context, entry -> entry.event() instanceof TaskComplete);
      }
      assertThat(server.client.health()).isNotNull();
    }
  }

  private Killed start() throws IOException {
    var process =
        TestProgram.command(SpinningRestartTest.class, folder.toString())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    for (var line : (Iterable<String>) process.inputReader().lines()::iterator) {
      if (line.startsWith("{")) {
        var url = Json.mapper().readTree(line).path("url").asString();
        return new Killed(process, new ParleyClient(URI.create(url)));
      }
    }
    throw new AssertionError("it did not start");
  }

  /// A server that ends as a crash ends it.
  private record Killed(Process process, ParleyClient client) implements AutoCloseable {

    Entry await(ContextId context, Predicate<Entry> wanted) throws InterruptedException {
      try (var stream = client.stream(context, Position.START, StreamFilter.ALL)) {
        for (var next = stream.next(); next.isPresent(); next = stream.next()) {
          if (wanted.test(next.get())) {
            return next.get();
          }
        }
      }
      throw new AssertionError("it did not come");
    }

    @Override
    public void close() {
      client.close();
      process.destroyForcibly().onExit().join();
    }
  }

  /// The server itself.
  public static void main(String[] arguments) throws InterruptedException {
    var folder = Path.of(arguments[0]);
    var config =
        Config.load(
                null, new Config.ProcessEnvironment(Map.of(), folder, folder), TestServer.MODULES)
            .with(List.of(AgentConfig.of("clerk", "Helps", "spin")))
            .keepingDataIn(folder.resolve("data"))
            .listeningOn("127.0.0.1", 0);
    try (var server = Server.start(config, TestServer.MODULES.with(new SpinningTool()))) {
      System.out.println(Json.object().put("url", server.url()));
      new CountDownLatch(1).await();
    }
  }
}
