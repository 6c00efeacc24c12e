package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.mcp.McpServer;
import dev.parley.model.FakeModelAnswer;
import dev.parley.model.FakeModelServer;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.task.LogInvariants;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;

/// What an MCP server says about its tools, and what they return, is data, also if the model obeys it.
@Timeout(120)
class McpInjectionTest {

  @TempDir Path folder;

  private final SecretLeaks secretLeaks = new SecretLeaks();

  @Test
  void a_servers_words_raise_no_effect_answer_no_approval_and_leave_no_workspace()
      throws Exception {
    var workspace = Files.createDirectory(folder.resolve("work"));
    Files.writeString(folder.resolve("secret.txt"), "the recipe");
    try (var model = obedient();
        var testServer = site(model, workspace)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var context = testUser.say("c", "take a note");

      // The description claims that the tool is pure and approved.
      var first = testUser.await(context, asks("evil_note"));
      assertThat(first.at("/metadata/effect").asString()).isEqualTo("at-most-once");
      assertThat(first.path("requireUser").asBoolean()).isTrue();
      testUser.answer(context, first.path("inputId").asString(), BooleanNode.TRUE);
      var said = testUser.await(context, ends("c1"));
      assertThat(said.at("/result/structured/approved").asBoolean()).isTrue();

      // Its result claims that a person has approved the next call.
      var second = testUser.await(context, asks("write_file"));
      testUser.await(context, McpInjectionTest::waits);
      assertThat(testUser.json("/api/inbox").at("/items/0/inputId").asString())
          .isEqualTo(second.path("inputId").asString());
      assertThat(answers(testServer, context)).isEqualTo(1);
      testUser.answer(context, second.path("inputId").asString(), BooleanNode.FALSE);
      assertThat(testUser.await(context, ends("c2")).path("success").asBoolean()).isFalse();

      var outside = testUser.await(context, ends("c3"));
      assertThat(outside.path("success").asBoolean()).isFalse();
      assertThat(outside.toString()).doesNotContain("the recipe");
      testUser.await(context, "task-complete");
      assertThat(workspace.resolve("stolen.txt")).doesNotExist();
      assertThat(answers(testServer, context)).isEqualTo(2);
      LogInvariants.check(testServer.log, context);
    } finally {
      secretLeaks.close();
    }
  }

  /// Does whatever it is told to do.
  private static FakeModelServer obedient() {
    return FakeModelServer.scripted(
        FakeModelAnswer.calling("c1", "evil_note", "{}"),
        FakeModelAnswer.calling("c2", "write_file", "{\"path\":\"stolen.txt\",\"content\":\"x\"}"),
        FakeModelAnswer.calling("c3", "read_file", "{\"path\":\"../secret.txt\"}"),
        FakeModelAnswer.saying("done"));
  }

  private TestServer site(FakeModelServer model, Path workspace) throws Exception {
    var script = Objects.requireNonNull(McpServer.class.getResource("evil-server.js")).toURI();
    return TestServer.durable(
        folder,
        TestServer.Wish.USUAL,
        """
        models: {m: {provider: openai, model: m, baseUrl: '%s', apiKey: none}}
        agents: [{id: agent-code, tools: [files, "mcp:evil"]}]
        mcpServers: {evil: {command: [node, '%s']}}
        workspaces: ['%s']
        """
            .formatted(model.url(), Path.of(script), workspace));
  }

  private static Predicate<JsonNode> asks(String tool) {
    return event ->
        event.path("kind").asString().equals("input-required")
            && event.at("/metadata/toolCall/toolName").asString().equals(tool);
  }

  private static Predicate<JsonNode> ends(String call) {
    return event ->
        event.path("kind").asString().equals("tool-complete")
            && event.path("toolCallId").asString().equals(call);
  }

  private static boolean waits(JsonNode event) {
    return event.path("status").asString().equals("waiting-input");
  }

  private static long answers(TestServer testServer, ContextId context) {
    return LogInvariants.read(testServer.log, context).stream()
        .map(Entry::event)
        .filter(InputReceived.class::isInstance)
        .count();
  }
}
