package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.parley.encryption.MasterKeyFile;
import dev.parley.log.OwnerOnlyFiles;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Rejection;
import dev.parley.tool.process.IsolationLevel;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.node.BooleanNode;

/// Isolated programs of agents use, or attack, the server that started them.
@Timeout(120)
class IsolatedProgramTest {

  @TempDir Path folder;

  private final SecretLeaks secretLeaks = new SecretLeaks();
  private TestServer testServer;
  private TestUser testUser;

  private void open(IsolationLevel level, boolean network, boolean ownServer) throws IOException {
    open(
        level,
        """
        isolation: {level: %s, network: %s, ownServer: %s, readable: [%s]}
        agents:
          - {id: agent-code, tools: [shell, files]}
        """
            .formatted(level.wire(), network, ownServer, script().getParent()));
  }

  private void open(IsolationLevel level, String yaml) throws IOException {
    var config = Config.load(null, Config.ProcessEnvironment.ofProcess()).keepingDataIn(folder);
    var trial = Isolation.tryLevel(config, level, folder.resolve("probe"));
    assumeThat(trial.problem()).as("this machine supports " + level.wire()).isEmpty();
    testServer = TestServer.configured(folder, yaml);
    testUser = new TestUser(testServer, secretLeaks);
  }

  @AfterEach
  void close() {
    if (testServer != null) {
      testServer.close();
    }
    secretLeaks.close();
  }

  private static Path script() {
    try {
      return Path.of(IsolatedProgramTest.class.getResource("/approval/post.sh").toURI());
    } catch (URISyntaxException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /// Runs a command as the shell tool does, with a person's approval, and returns its output.
  private String run(String context, String command) {
    var own = testUser.say(context, "run " + command);
    var input = testUser.await(own, "input-required").path("inputId").asString();
    assertThat(testUser.answer(own, input, BooleanNode.TRUE).statusCode()).isEqualTo(202);
    var done = testUser.await(own, "tool-complete");
    return done.path("result").path("output").asString(done.toString());
  }

  private String post(String path, String body) {
    return "/bin/bash %s %d '%s' '%s'".formatted(script(), testServer.url.getPort(), path, body);
  }

  private String approval(ContextId victim) {
    var input = testUser.await(victim, "input-required").path("inputId").asString();
    return post("/api/contexts/" + victim + "/inputs/" + input, "{\"value\":true}");
  }

  @ParameterizedTest
  @EnumSource(
      value = IsolationLevel.class,
      names = {"NONE"},
      mode = EnumSource.Mode.EXCLUDE)
  void a_program_without_network_cannot_reach_the_server(IsolationLevel level) throws Exception {
    open(level, false, false);

    assertThat(run("a", post("/api/contexts", "{}"))).doesNotContain("HTTP/1.1");
    assertThat(run("b", "ls " + folder.resolve("data"))).doesNotContain("views.db");
  }

  @ParameterizedTest
  @EnumSource(
      value = IsolationLevel.class,
      names = {"NONE"},
      mode = EnumSource.Mode.EXCLUDE)
  void a_program_cannot_see_the_keys_that_the_configuration_names(IsolationLevel level)
      throws Exception {
    var key = MasterKeyFile.newLine();
    OwnerOnlyFiles.createFile(folder.resolve("master.key"));
    Files.writeString(folder.resolve("master.key"), key);
    open(
        level,
        """
        isolation: {level: %s}
        encryption: {masterKey: {file: master.key}}
        vault: {store: memory}
        agents:
          - {id: agent-code, tools: [shell, files]}
        """
            .formatted(level.wire()));

    assertThat(run("a", "cat master.key parley.yaml; echo end"))
        .contains("end")
        .doesNotContain(key)
        .doesNotContain("masterKey");
  }

  @ParameterizedTest
  @EnumSource(
      value = IsolationLevel.class,
      names = {"NONE"},
      mode = EnumSource.Mode.EXCLUDE)
  void the_server_rejects_a_program_with_network(IsolationLevel level) throws Exception {
    open(level, true, false);
    var victim = testUser.say("victim", "run touch " + folder.resolve("happened"));

    assertThat(run("a", "(" + approval(victim) + ") > out; cat out"))
        .contains("403 Forbidden", "isolated-program");
    assertThat(run("b", "env -i setsid " + post("/api/contexts", "{\"contextId\":\"new\"}")))
        .contains("403 Forbidden", "isolated-program");
    assertThat(testUser.get("/api/contexts/new").statusCode()).isEqualTo(404);
    assertThat(folder.resolve("happened")).doesNotExist();
  }

  @ParameterizedTest
  @EnumSource(
      value = IsolationLevel.class,
      names = {"NONE"},
      mode = EnumSource.Mode.EXCLUDE)
  void a_program_that_may_use_the_server_still_cannot_approve(IsolationLevel level)
      throws Exception {
    open(level, true, true);
    var victim = testUser.say("victim", "run touch " + folder.resolve("happened"));

    assertThat(run("a", post("/api/contexts", "{\"contextId\":\"new\"}"))).contains("201 Created");
    assertThat(run("b", approval(victim))).contains("403 Forbidden", "approval-from-child");
    assertThat(folder.resolve("happened")).doesNotExist();
  }

  /// The program of an agent answers with what it can see.
  @ParameterizedTest
  @EnumSource(
      value = IsolationLevel.class,
      names = {"NONE"},
      mode = EnumSource.Mode.EXCLUDE)
  void a_command_line_agent_works_and_sees_only_its_folder(IsolationLevel level) throws Exception {
    var data = folder.resolve("data").resolve("secret");
    Files.createDirectories(data.getParent());
    Files.writeString(data, "very-secret");
    var program =
        Files.writeString(
            folder.resolve("program.sh"),
            """
            cat '%s' > seen 2>&1
            printf '{"type":"result","result":"%%s files, %%s"}\\n' "$(ls | wc -l)" "$(cat seen)"
            """
                .formatted(data));
    open(
        level,
        """
        isolation: {level: %s}
        agents:
          - {id: agent-code, type: cli, cli: jsonl, permission: allow, command: [/bin/bash, %s]}
        """
            .formatted(level.wire(), program));

    var context = testUser.say("cli", "go");
    var done = testUser.await(context, "task-complete").toString();

    assertThat(done).contains("files, cat: ", "No such file").doesNotContain("very-secret");
  }

  @Test
  void a_server_that_cannot_isolate_does_not_start() throws Exception {
    // A path that cannot be created, because a file is in its place.
    Files.writeString(folder.resolve("file"), "");
    var config =
        Config.load(yaml("isolation: {level: unshare}"), Config.ProcessEnvironment.ofProcess())
            .keepingDataIn(folder.resolve("file"));

    assertThatThrownBy(() -> Isolation.open(config))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageContainingAll("isolation.level is unshare", "docs/isolation.md", "none");
  }

  @Test
  void at_home_nothing_is_isolated() {
    assertThat(Isolation.open(Config.standard()).level()).isEqualTo(IsolationLevel.NONE);
  }

  private Path yaml(String text) throws IOException {
    return Files.writeString(folder.resolve("parley.yaml"), text);
  }
}
