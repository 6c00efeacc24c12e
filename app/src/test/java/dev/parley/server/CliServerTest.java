package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.NewFork;
import dev.parley.client.NewMessage;
import dev.parley.client.Rewind;
import dev.parley.client.StreamFilter;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskId;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A command-line agent in a whole server, on the real store.
@Timeout(60)
class CliServerTest {

  @TempDir Path folder;

  private Config config(String more) throws Exception {
    var home = Files.createDirectories(folder.resolve("home"));
    var file =
        Files.writeString(
            folder.resolve("parley.yaml"),
            """
            agents:
              - {id: agent-code, description: "Writes code"}
              - id: coder
                type: cli
                cli: claude
                command: [/bin/sh, %s]
                env: {HOME: %s}
                %s
            """
                .formatted(script(), home, more));
    return Config.load(
            file, new Config.ProcessEnvironment(Map.of(), folder, folder), TestServer.MODULES)
        .listeningOn("127.0.0.1", 0);
  }

  private static Path script() throws URISyntaxException {
    return Path.of(CliServerTest.class.getResource("/cli/claude.sh").toURI());
  }

  private static TaskId tell(EmbeddedTestServer server, String text) {
    return server.say(NewMessage.text(text).to(new AgentTypeId("coder")));
  }

  private static String ask(EmbeddedTestServer server, String text) throws InterruptedException {
    return server.answer(tell(server, text));
  }

  @Test
  void it_answers_goes_on_and_forgets_what_is_taken_back_SESSION_58() throws Exception {
    try (var server = new EmbeddedTestServer(config(""), TestServer.MODULES)) {
      assertThat(server.client.agentTypes())
          .anyMatch(type -> type.id().value().equals("coder") && "cli".equals(type.type()));
      assertThat(ask(server, "say alpha")).isEqualTo("alpha");
      var taken = tell(server, "say bravo");
      server.answer(taken);
      assertThat(ask(server, "recall it")).contains("alpha", "bravo");
      server.client.rewind(server.context, Rewind.before(taken));

      assertThat(ask(server, "recall it")).contains("alpha").doesNotContain("bravo");
      assertThat(ask(server, "recall more")).contains("alpha").doesNotContain("bravo");
    }
  }

  @Test
  void a_fork_goes_on_with_a_session_of_its_own() throws Exception {
    try (var server = new EmbeddedTestServer(config(""), TestServer.MODULES)) {
      ask(server, "say alpha");
      var fork = server.client.fork(server.context, NewFork.OF_ALL).contextId();
      ask(server, "say bravo");

      var sent =
          server.client.send(fork, NewMessage.text("recall it").to(new AgentTypeId("coder")));
      try (var stream = server.client.stream(fork, Position.of(sent.seq()), StreamFilter.ALL)) {
        var next = stream.next();
        while (!(sent.taskId().equals(next.orElseThrow().taskId())
            && EmbeddedTestServer.terminal(next.get().event()))) {
          next = stream.next();
        }
        assertThat(next.get().event().toString()).contains("alpha").doesNotContain("bravo");
      }
      assertThat(ask(server, "recall it")).contains("alpha", "bravo");
    }
  }

  @Test
  void the_supervisor_chooses_it_only_if_it_is_described() throws Exception {
    try (var server =
        new EmbeddedTestServer(config("description: Knows about volcanoes"), TestServer.MODULES)) {
      assertThat(server.answer(server.say(NewMessage.text("say what about volcanoes"))))
          .isEqualTo("what about volcanoes");
      assertThat(Files.exists(folder.resolve("home/starts"))).isTrue();
    }
    Files.delete(folder.resolve("home/starts"));
    try (var server = new EmbeddedTestServer(config("name: Volcanoes"), TestServer.MODULES)) {
      server.answer(server.say(NewMessage.text("say what about volcanoes")));
      assertThat(Files.exists(folder.resolve("home/starts"))).isFalse();
    }
  }
}
