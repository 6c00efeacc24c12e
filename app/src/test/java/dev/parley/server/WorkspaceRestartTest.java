package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.NewContext;
import dev.parley.client.NewMessage;
import dev.parley.client.ParleyClient;
import dev.parley.client.StreamFilter;
import dev.parley.client.TaskStream;
import dev.parley.log.AppendGuard;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.runtime.TestProgram;
import dev.parley.task.Submission;
import dev.parley.task.Submission.TaskOptions;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.StringNode;

/// Servers that stop, and start again in another folder with the same data.
@Timeout(120)
class WorkspaceRestartTest {

  private static final String READ = "use read_file {\"path\": \"note.txt\"}";

  @TempDir Path folder;
  private Path first;
  private Path second;

  @BeforeEach
  void make() throws IOException {
    first = Files.createDirectory(folder.toRealPath().resolve("first"));
    second = Files.createDirectory(folder.toRealPath().resolve("second"));
    Files.writeString(first.resolve("note.txt"), "written in the first");
    Files.writeString(second.resolve("note.txt"), "written in the second");
  }

  @Test
  void a_context_keeps_its_folder_when_the_program_starts_in_another_one() throws Exception {
    ContextId asking;
    ContextId reading;
    TaskId asked;
    InputId input;
    try (var server = start(first)) {
      var client = server.client();
      reading = client.createContext(NewContext.titled("reads")).contextId();
      assertThat(answer(client, reading, NewMessage.text(READ))).contains("in the first");
      asking = client.createContext(NewContext.titled("asks")).contextId();
      try (var stream = client.sendAndStream(asking, NewMessage.text("ask me which colour"))) {
        asked = stream.accepted().taskId();
        input = question(stream);
      }
    }
    try (var server = start(second)) {
      var client = server.client();
      client.answer(asking, input, StringNode.valueOf("blue"));
      assertThat(ended(client, asking, asked)).isEqualTo(TaskState.COMPLETED);
      assertThat(answer(client, reading, NewMessage.text(READ))).contains("in the first");
      assertThat(answer(client, reading, NewMessage.text(READ).in(second.toString())))
          .contains("in the second");
      // Also one that is no longer the latest.
      assertThat(answer(client, reading, NewMessage.text(READ).in(first.toString())))
          .contains("in the first");
      var fresh = client.createContext(NewContext.titled("new")).contextId();
      assertThat(answer(client, fresh, NewMessage.text(READ))).contains("in the second");
      assertThatThrownBy(() -> client.send(fresh, NewMessage.text(READ).in(first.toString())))
          .hasMessageContaining("outside the workspaces: " + first);
    }
  }

  @Test
  void a_folder_that_is_gone_is_named_with_what_to_do() throws Exception {
    ContextId context;
    try (var testServer = started(first, "")) {
      context = testServer.context("c");
      answered(testServer, context);
    }
    Files.delete(first.resolve("note.txt"));
    Files.delete(first);
    try (var testServer = started(second, "")) {
      var refused = testServer.post("/api/contexts/c/messages", "{\"content\":\"say hi\"}");
      assertThat(refused.statusCode()).isEqualTo(400);
      assertThat(refused.body())
          .contains("invalid-working-directory", "does not exist: " + first)
          .contains("Create the folder, or send another workingDirectory");
      var types = Json.mapper().readTree(testServer.get("/api/agent-types").body());
      var other = types.path("workingDirectory").asString();
      assertThat(other).isEqualTo(second.toString());
      var message = Json.object().put("content", READ).put("workingDirectory", other);
      assertThat(testServer.post("/api/contexts/c/messages", message.toString()).statusCode())
          .isEqualTo(202);
    }
  }

  @Test
  void a_link_in_the_place_of_the_folder_is_not_the_folder() throws Exception {
    try (var testServer = started(first, "")) {
      answered(testServer, testServer.context("c"));
    }
    Files.delete(first.resolve("note.txt"));
    Files.delete(first);
    Files.createSymbolicLink(first, Files.createDirectory(folder.resolve("third")));
    try (var testServer = started(second, "")) {
      var refused = testServer.post("/api/contexts/c/messages", "{\"content\":\"say hi\"}");
      assertThat(refused.body()).contains("outside the workspaces: " + first);
    }
  }

  @Test
  void workspaces_that_the_configuration_lists_are_the_only_ones() throws Exception {
    try (var testServer = started(first, "")) {
      answered(testServer, testServer.context("c"));
    }
    var listed = "workspaces: [" + second + "]";
    try (var testServer = started(second, listed)) {
      var message = Json.object().put("content", READ).put("workingDirectory", first.toString());
      var refused = testServer.post("/api/contexts/c/messages", message.toString());
      assertThat(refused.body())
          .contains("outside the workspaces: " + first)
          .contains("add the folder to workspaces in the configuration");
      var taken = testServer.post("/api/contexts/c/messages", "{\"content\":\"say hi\"}");
      assertThat(taken.statusCode()).isEqualTo(202);
      var task = Json.mapper().readTree(taken.body()).path("taskId").asString();
      assertThat(testServer.get("/api/contexts/c/tasks/" + task).body())
          .contains("\"workingDirectory\":\"" + second + "\"");
    }
  }

  @Test
  void the_folder_of_another_persons_context_is_not_found_out() throws Exception {
    var context = new ContextId("d");
    try (var testServer = started(first, "")) {
      testServer.log.create(context, new ContextCreated("alice", null, null));
      testServer.tasks.submit(
          new Submission(context, "alice", "say hi", null, TaskOptions.NONE, AppendGuard.none()));
    }
    var digest = MessageDigest.getInstance("SHA-256").digest("e".getBytes(StandardCharsets.UTF_8));
    var tokens = "auth: {tokens: [{name: eve, sha256: " + HexFormat.of().formatHex(digest) + "}]}";
    try (var testServer = started(second, tokens)) {
      for (var directory : List.of(first, second, folder.resolve("nowhere"))) {
        var body =
            Json.object()
                .put("content", "say hi")
                .put("conversationId", "d")
                .put("workingDirectory", directory.toString());
        var reply = testServer.post("/chat/messages", body.toString(), "Authorization", "Bearer e");
        assertThat(reply.statusCode()).isEqualTo(directory.equals(second) ? 404 : 400);
      }
    }
  }

  private Path data() {
    return folder.resolve("data");
  }

  private TestServer started(Path where, String yaml) throws IOException {
    return TestServer.startedIn(where, data(), yaml);
  }

  private static void answered(TestServer testServer, ContextId context)
      throws InterruptedException {
    try (var client = new ParleyClient(testServer.url)) {
      assertThat(answer(client, context, NewMessage.text(READ))).contains("in the first");
    }
  }

  private static String answer(ParleyClient client, ContextId context, NewMessage message)
      throws InterruptedException {
    try (var stream = client.sendAndStream(context, message)) {
      return stream.text();
    }
  }

  private static InputId question(TaskStream stream) throws InterruptedException {
    for (var next = stream.next(); next.isPresent(); next = stream.next()) {
      if (next.get().event() instanceof InputRequired required) {
        return required.inputId();
      }
    }
    throw new AssertionError("nothing was asked");
  }

  private static TaskState ended(ParleyClient client, ContextId context, TaskId task)
      throws InterruptedException {
    try (var stream = client.stream(context, Position.START, StreamFilter.ALL.onlyTask(task))) {
      for (var next = stream.next(); next.isPresent(); next = stream.next()) {
        if (next.get().event() instanceof TaskStatus status && status.status().terminal()) {
          return status.status();
        }
      }
    }
    throw new AssertionError("it did not end");
  }

  /// Starts a server as a program of its own whose working directory is `where`.
  private Running start(Path where) throws IOException {
    var process =
        TestProgram.command(WorkspaceRestartTest.class, data().toString())
            .directory(where.toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    for (var line : (Iterable<String>) process.inputReader().lines()::iterator) {
      if (line.startsWith("{")) {
        var url = Json.mapper().readTree(line).path("url").asString();
        return new Running(process, new ParleyClient(URI.create(url)));
      }
    }
    throw new AssertionError("it did not start");
  }

  private record Running(Process process, ParleyClient client) implements AutoCloseable {
    @Override
    public void close() {
      client.close();
      process.destroyForcibly().onExit().join();
    }
  }

  /// The server itself.
  public static void main(String[] arguments) throws InterruptedException {
    var config =
        Config.load(null, Config.ProcessEnvironment.ofProcess(), TestServer.MODULES)
            .keepingDataIn(Path.of(arguments[0]))
            .listeningOn("127.0.0.1", 0);
    try (var server = Server.start(config, TestServer.MODULES)) {
      System.out.println(Json.object().put("url", server.url()));
      new CountDownLatch(1).await();
    }
  }
}
