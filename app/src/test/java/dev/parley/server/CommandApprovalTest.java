package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Rules for commands in the configuration, tried with an agent.
@Timeout(120)
class CommandApprovalTest {

  @TempDir Path folder;

  @Test
  void a_rule_for_git_does_not_allow_git_to_run_another_program() throws Exception {
    var workspace = Files.createDirectory(folder.resolve("work"));
    var secretLeaks = new SecretLeaks();
    try (var testServer =
        TestServer.durable(
            folder,
            TestServer.Wish.USUAL,
            """
            agents: [{id: agent-code, tools: [shell], permissions: {allow: ["shell(git *)"]}}]
            workspaces: ['%s']
            """
                .formatted(workspace))) {
      var testUser = new TestUser(testServer, secretLeaks);

      var attack = testUser.say("attack", "run git -c alias.x='!touch pwned' x");
      var asked = testUser.await(attack, "input-required");
      assertThat(asked.at("/metadata/toolCall/toolName").asString()).isEqualTo("shell");
      assertThat(workspace.resolve("pwned")).doesNotExist();

      // It runs unasked, or the test would wait for an answer.
      var benign = testUser.say("benign", "run git --version");
      assertThat(testUser.await(benign, "tool-complete").path("toolName").asString())
          .isEqualTo("shell");
    } finally {
      secretLeaks.close();
    }
  }
}
