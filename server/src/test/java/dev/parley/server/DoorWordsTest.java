package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Each door says what went wrong with its own names.
class DoorWordsTest {

  @TempDir Path folder;
  private Site site;

  @BeforeEach
  void open() {
    site = Site.open(folder, Site.Wish.USUAL);
  }

  @AfterEach
  void close() {
    site.close();
  }

  @Test
  void the_chat_door_speaks_of_conversations() {
    assertThat(site.get("/chat/conversations/my-context/messages").body())
        .contains("\"success\":false", "no such conversation: my-context");
    assertThat(site.get("/chat/stream?conversationId=a%20b").body())
        .contains("conversationId must be")
        .doesNotContain("contextId");
  }

  @Test
  void the_agents_door_speaks_of_agents_and_sessions() {
    assertThat(site.get("/api/agents/a%20b").body())
        .contains("agentId must be")
        .doesNotContain("taskId");
    var wish = AgentsScene.body("agent-code", "say hi", "{\"sessionId\":\"nowhere\"}");
    assertThat(site.post("/api/agents", wish).body()).contains("no such session: nowhere");
  }

  @Test
  void contexts_are_contexts_to_others() {
    assertThat(site.get("/api/contexts/nowhere").body()).contains("no such context: nowhere");
  }
}
