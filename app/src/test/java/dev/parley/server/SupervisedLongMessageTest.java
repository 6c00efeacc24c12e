package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Messages for the rules of the supervisor that take for ever in a matcher that tries all
/// combinations. Without a named agent, the supervisor reads them first.
@Timeout(60)
class SupervisedLongMessageTest {

  @TempDir static Path folder;
  private static TestServer testServer;

  @BeforeAll
  static void open() {
    testServer = TestServer.open(folder);
  }

  @AfterAll
  static void close() {
    testServer.close();
  }

  @ParameterizedTest
  @MethodSource("dev.parley.server.RunawayPatternsTest#longMessages")
  void a_supervised_message_of_any_form_is_answered(String message) throws Exception {
    var context = "c-" + UUID.randomUUID();
    try (var leaks = new SecretLeaks()) {
      var user = new TestUser(testServer, leaks);
      user.post("/api/contexts", Json.object().put("contextId", context));
      var sent =
          user.post(
              "/api/contexts/" + context + "/messages", Json.object().put("content", message));
      assertThat(sent.statusCode()).as(sent.body()).isEqualTo(202);
      var root = Json.mapper().readTree(sent.body()).path("taskId").asString();

      user.await(
          new ContextId(context),
          event ->
              event.path("kind").asString().equals("task-complete")
                  && event.path("taskId").asString("").equals(root));
    }
    assertThat(testServer.get("/healthz").statusCode()).isEqualTo(200);
  }
}
