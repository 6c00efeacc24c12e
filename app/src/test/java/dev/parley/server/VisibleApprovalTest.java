package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.Json;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.BooleanNode;

/// Whoever approves a call sees all of it, and what runs is what was asked for.
@Timeout(120)
class VisibleApprovalTest {

  @TempDir Path folder;

  @Test
  void what_cannot_be_seen_is_shown_in_words_and_the_call_stays_exact() throws Exception {
    var secretLeaks = new SecretLeaks();
    try (var testServer = TestServer.durable(folder, TestServer.Wish.USUAL)) {
      var testUser = new TestUser(testServer, secretLeaks);
      var command = "printf %s 'a\u202eb\u2066c" + " ".repeat(300) + "d\u200b'";

      var context = testUser.say("c", "run " + command);
      var asked =
          testUser.await(context, event -> event.path("kind").asString().equals("input-required"));
      var preview = asked.at("/metadata/preview").asString();
      assertThat(preview).isEqualTo("$ printf %s 'a\\u{202E}b\\u{2066}c⟨300 spaces⟩d\\u{200B}'");
      assertThat(asked.at("/metadata/toolCall/arguments/command").asString()).isEqualTo(command);
      testUser.answer(context, asked.path("inputId").asString(), BooleanNode.TRUE);

      var end =
          testUser.await(context, event -> event.path("kind").asString().equals("tool-complete"));
      assertThat(Json.mapper().writeValueAsString(end.path("result")))
          .contains("a\u202eb\u2066c" + " ".repeat(300) + "d\u200b");
    } finally {
      secretLeaks.close();
    }
  }
}
