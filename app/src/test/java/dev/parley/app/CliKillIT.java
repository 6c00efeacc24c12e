package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.EventStream;
import dev.parley.client.NewContext;
import dev.parley.client.NewMessage;
import dev.parley.client.ParleyClient;
import dev.parley.client.StreamFilter;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.Outcome;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.BooleanNode;

/// Kills the real server while a command-line agent is at work, starts it again, and checks the
/// program, its session and its task. The program is a script that uses Claude Code's protocol.
@Timeout(180)
final class CliKillIT {

  private static final AgentTypeId CODER = new AgentTypeId("coder");
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir Path folder;

  private Path home;
  private Path config;

  @BeforeEach
  void configure() throws IOException {
    home = Files.createDirectory(folder.resolve("home"));
    var work = Files.createDirectory(folder.resolve("work"));
    var script = Path.of("..", "server", "src", "test", "resources", "cli", "claude.sh");
    var yaml =
        """
        agents:
          - id: coder
            type: cli
            cli: claude
            command: [/bin/sh, %s]
            env: {HOME: %s}
        workspaces: [%s]
        """
            .formatted(script.toAbsolutePath().normalize(), home, work);
    config = Files.writeString(folder.resolve("parley.yaml"), yaml);
  }

  @Test
  void the_program_of_a_killed_server_is_ended_and_its_session_goes_on() throws Exception {
    ContextId context;
    List<ProcessHandle> left;
    try (var server = serve();
        var client = new ParleyClient(server.url())) {
      context = client.createContext(NewContext.UNTITLED).contextId();
      client.send(context, to("open the door"));
      await(client, context, ToolStart.class);
      left = program();
      while (left.size() < 2) {
        // The program, and the process that it starts.
        left = program();
      }
      server.kill();
    }
    assertThat(left).allMatch(ProcessHandle::isAlive);

    try (var server = serve();
        var client = new ParleyClient(server.url())) {
      left.forEach(process -> process.onExit().orTimeout(30, TimeUnit.SECONDS).join());
      awaitEnd(client, context);
      assertThat(all(client, context, ToolComplete.class))
          .extracting(ToolComplete::outcome)
          .containsExactly(Outcome.OUTCOME_UNKNOWN);
      assertThat(all(client, context, Message.class).getLast().content())
          .startsWith("you said Go on with what you were asked");

      try (var next = client.sendAndStream(context, to("recall now"))) {
        assertThat(next.text()).contains("open the door", "You were interrupted", "recall now");
        assertThat(next.outcome()).contains(TaskState.COMPLETED);
      }
      // There is only one session, and it got the prompt once.
      assertThat(sessions()).hasSize(1);
      assertThat(Files.readString(sessions().getFirst())).containsOnlyOnce("open the door");
    }
  }

  @Test
  void an_approval_outlives_a_killed_server_and_is_used_once() throws Exception {
    ContextId context;
    List<ProcessHandle> left;
    try (var server = serve();
        var client = new ParleyClient(server.url())) {
      context = client.createContext(NewContext.UNTITLED).contextId();
      client.send(context, to("ask touch it"));
      await(client, context, InputRequired.class);
      left = program();
      assertThat(left).isNotEmpty();
      server.kill();
    }
    try (var server = serve();
        var client = new ParleyClient(server.url())) {
      left.forEach(process -> process.onExit().orTimeout(30, TimeUnit.SECONDS).join());
      assertThat(home.resolve("done")).doesNotExist();
      var question = all(client, context, InputRequired.class).getFirst();
      client.answer(context, question.inputId(), BooleanNode.TRUE);
      awaitEnd(client, context);

      assertThat(Files.readAllLines(home.resolve("done"))).containsExactly("touch it");
      assertThat(all(client, context, InputRequired.class)).hasSize(1);
    }
  }

  private RealProcess serve() {
    return RealProcess.serve(folder.resolve("data"), "--config", config.toString());
  }

  private static NewMessage to(String text) {
    return NewMessage.text(text).to(CODER);
  }

  private static void await(ParleyClient client, ContextId context, Class<? extends Event> type)
      throws InterruptedException {
    try (var events = client.stream(context, Position.START, StreamFilter.ALL)) {
      await(events, type::isInstance);
    }
  }

  private static void awaitEnd(ParleyClient client, ContextId context) throws InterruptedException {
    try (var events = client.stream(context, Position.START, StreamFilter.ALL)) {
      await(
          events,
          event -> event instanceof TaskStatus status && status.status() == TaskState.COMPLETED);
    }
  }

  private static void await(EventStream events, Predicate<Event> wanted)
      throws InterruptedException {
    var found = false;
    while (!found) {
      var next = events.next(PATIENCE);
      assertThat(next).as("what is waited for comes").isPresent();
      found = wanted.test(next.orElseThrow().event());
    }
  }

  private static <E extends Event> List<E> all(
      ParleyClient client, ContextId context, Class<E> type) {
    return client.events(context, Position.START, 1000, StreamFilter.ALL).entries().stream()
        .map(Entry::event)
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }

  private List<Path> sessions() throws IOException {
    try (var files = Files.list(home.resolve("sessions"))) {
      return files.toList();
    }
  }

  /// The processes of the program. The session is named after the first one.
  private List<ProcessHandle> program() throws IOException {
    var name = sessions().getFirst().getFileName().toString();
    var first = ProcessHandle.of(Long.parseLong(name.substring(1))).orElseThrow();
    return Stream.concat(Stream.of(first), first.descendants()).toList();
  }
}
