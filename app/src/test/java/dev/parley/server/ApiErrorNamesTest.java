package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Each API says what went wrong with its own names.
class ApiErrorNamesTest {

  @TempDir Path folder;
  private TestServer testServer;

  @BeforeEach
  void open() {
    testServer = TestServer.open(folder, TestServer.Wish.USUAL);
  }

  @AfterEach
  void close() {
    testServer.close();
  }

  @Test
  void the_chat_api_speaks_of_conversations() {
    assertThat(testServer.get("/chat/conversations/my-context/messages").body())
        .contains("\"success\":false", "no such conversation: my-context");
    assertThat(testServer.get("/chat/stream?conversationId=a%20b").body())
        .contains("conversationId must be")
        .doesNotContain("contextId");
  }

  @Test
  void the_agents_api_speaks_of_agents_and_sessions() {
    assertThat(testServer.get("/api/agents/a%20b").body())
        .contains("agentId must be")
        .doesNotContain("taskId");
    var wish = AgentsApiTestBed.body("agent-code", "say hi", "{\"sessionId\":\"nowhere\"}");
    assertThat(testServer.post("/api/agents", wish).body()).contains("no such session: nowhere");
  }

  @ParameterizedTest
  @CsvSource({
    "/chat/conversations/, success",
    "/api/sessions/, error",
    "/a2a/, error",
    "/api/contexts/, title"
  })
  void each_says_in_its_own_form_that_a_path_makes_no_sense(String path, String member)
      throws IOException {
    for (var bad : List.of("%00", "%zz", "%", "a%2fb", "%c0%80")) {
      var reply =
          testServer.raw(
              "GET " + path + bad + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");

      assertThat(reply).as(bad).startsWith("HTTP/1.1 400 ");
      var body = Json.mapper().readTree(reply.substring(reply.indexOf("\r\n\r\n")));
      assertThat(body.has(member)).as(reply).isTrue();
    }
  }

  @Test
  void contexts_are_contexts_to_others() {
    assertThat(testServer.get("/api/contexts/nowhere").body()).contains("no such context: nowhere");
  }
}
