package dev.parley.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.NewContext;
import dev.parley.client.NewMessage;
import dev.parley.client.ParleyClient;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputEvent.InputRequired;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Contexts, tasks, questions and artifacts are found by the first characters of their ids, on a
/// real server.
@Timeout(120)
class IdLookupTest {

  @TempDir Path data;
  @TempDir Path folder;

  private LocalServer server;
  private ParleyClient client;

  @BeforeEach
  void start() {
    var options = new ServeOptions();
    options.port = 0;
    server = LocalServer.start(options, data, Map.of());
    client = new ParleyClient(server.url());
    make("alpha-one");
    make("alpha-two");
    make("beta");
  }

  @AfterEach
  void stop() {
    client.close();
    server.close();
  }

  @Test
  void a_context_is_named_by_the_first_characters_of_its_id() throws Exception {
    say("alpha-one", "count to 3");
    for (var command : new String[] {"show", "tasks", "tail", "export", "fork"}) {
      var testTerminal = screen();
      var code =
          command.equals("tail")
              ? testTerminal.run(command, "alpha-o", "--no-follow")
              : testTerminal.run(command, "alpha-o");
      assertThat(code).as(command).isZero();
    }
    var chat = screen();
    assertThat(chat.run("chat", "--context", "alpha-o", "count to 4")).isZero();
    assertThat(chat.out()).isEqualTo("1 2 3 4\n");
    assertThat(client.context(new ContextId("alpha-one")).messageCount()).isEqualTo(4);
  }

  @Test
  void what_begins_several_ids_is_wrong_usage_and_they_are_listed() {
    var testTerminal = screen();
    assertThat(testTerminal.run("show", "alpha")).isEqualTo(2);
    assertThat(testTerminal.err())
        .startsWith("2 contexts begin with alpha:\n")
        .contains("\n  alpha-one\n", "\n  alpha-two\n");
  }

  @Test
  void too_few_characters_and_unknown_ones_find_nothing() {
    for (var typed : new String[] {"bet", "gamma"}) {
      var testTerminal = screen();
      assertThat(testTerminal.run("show", typed)).isEqualTo(1);
      assertThat(testTerminal.err()).contains("(not-found)");
    }
    assertThat(screen().run("show", "beta")).isZero();
  }

  @Test
  void a_whole_id_means_itself_though_it_begins_another() throws Exception {
    make("beta-more");
    say("beta", "count to 1");
    var testTerminal = screen();
    assertThat(testTerminal.run("show", "beta")).isZero();
    assertThat(testTerminal.out()).contains("context beta,");
  }

  @Test
  void the_last_context_needs_no_id() throws Exception {
    say("alpha-two", "count to 3");
    var show = screen();
    assertThat(show.run("show", "--last")).isZero();
    assertThat(show.out()).contains("context alpha-two,");
    var chat = screen();
    assertThat(chat.run("chat", "--continue", "count to 2")).isZero();
    assertThat(client.context(new ContextId("alpha-two")).messageCount()).isEqualTo(4);
    assertThat(screen().run("show", "--last", "beta")).isEqualTo(2);
    assertThat(screen().run("chat", "--continue", "--context", "beta", "x")).isEqualTo(2);
    assertThat(screen().run("show")).isEqualTo(2);
  }

  @Test
  void a_task_is_named_by_the_first_characters_of_its_id() throws Exception {
    say("beta", "count to 3");
    var running =
        client.send(new ContextId("beta"), NewMessage.text("count slowly to 400")).taskId();
    var testTerminal = screen();
    assertThat(testTerminal.run("cancel", running.value().substring(0, 12))).isZero();
    assertThat(testTerminal.out()).isEqualTo("Cancellation requested: " + running + "\n");
    var again = screen();
    assertThat(again.run("rewind", "beta", "--before", running.value().substring(0, 12)))
        .as(again.err())
        .isZero();
  }

  @Test
  void a_question_is_named_by_the_first_characters_of_its_id() throws Exception {
    var asked = new String[1];
    try (var answer =
        client.sendAndStream(new ContextId("beta"), NewMessage.text("ask me How many?"))) {
      while (asked[0] == null) {
        if (answer.next().orElseThrow().event() instanceof InputRequired required) {
          asked[0] = required.inputId().value();
        }
      }
    }
    var testTerminal = screen();
    assertThat(testTerminal.run("answer", "--last", asked[0].substring(0, 12), "seven")).isZero();
    assertThat(testTerminal.out()).isEqualTo("Answered: " + asked[0] + "\n");
  }

  @Test
  void artifacts_are_listed_printed_and_saved() throws Exception {
    say("beta", "write a report on parrots");
    var artifact = client.artifacts(new ContextId("beta"), null, 10).items().getFirst();
    var name = artifact.name();
    var list = screen();
    assertThat(list.run("artifacts", "--last")).isZero();
    assertThat(list.out()).contains("ARTIFACT", artifact.artifactId().value(), name);
    var print = screen();
    assertThat(print.run("artifacts", "beta", name)).isZero();
    assertThat(print.out()).containsIgnoringCase("parrots");
    var byId = screen();
    assertThat(byId.run("artifacts", "beta", artifact.artifactId().value())).isZero();
    assertThat(byId.out()).isEqualTo(print.out());
    assertThat(screen().run("artifacts", "beta", name, "--out", folder.toString())).isZero();
    assertThat(folder.resolve(name)).hasContent(print.out());
    var file = folder.resolve("other.md");
    assertThat(screen().run("artifacts", "--last", name, "--out", file.toString())).isZero();
    assertThat(Files.readString(file)).isEqualTo(print.out());
    assertThat(folder).isDirectoryNotContaining("glob:**.part");
    assertThat(screen().run("artifacts", "beta", "no-such")).isEqualTo(1);
    assertThat(screen().run("artifacts", "beta", "--out", "x")).isEqualTo(2);
    assertThat(screen().run("artifacts", "alpha-one")).isZero();
  }

  @Test
  void agents_are_listed() {
    var testTerminal = screen();
    assertThat(testTerminal.run("agents")).isZero();
    assertThat(testTerminal.out()).contains("AGENT", "agent-code", "supervisor");
  }

  @Test
  void a_chat_has_commands() throws Exception {
    var typed =
        """
        /agents
        /cost
        /agent agent-writr
        /agent agent-code
        write a report on parrots
        /artifacts
        /cost
        @agent-data count to 3
        /rewind
        /continue alpha-o
        /verbose
        count to 2
        /quit
        """;
    var testTerminal = TestTerminal.terminal(Map.of("PARLEY_URL", server.url().toString()), typed);

    assertThat(testTerminal.run("chat", "--context", "beta")).isZero();
    assertThat(testTerminal.out())
        .containsSubsequence(
            "agent-writer",
            "No model was called yet.",
            "There is no agent agent-writr. Did you mean agent-writer?",
            "Messages go to agent-code.",
            "agent-code> ",
            "ARTIFACT",
            "TOKENS IN",
            "1 2 3\n",
            "Taken back: count to 3",
            "context alpha-one, 0 messages",
            "All details are shown.",
            "1 2\n");
    assertThat(client.tasks(new ContextId("beta"), null, 10).items())
        .extracting(task -> task.agentId().value())
        .contains("agent-code");
    assertThat(client.context(new ContextId("alpha-one")).messageCount()).isEqualTo(2);
  }

  private void make(String id) {
    client.createContext(new NewContext(new ContextId(id), null, null));
  }

  private void say(String context, String text) throws InterruptedException {
    try (var answer = client.sendAndStream(new ContextId(context), NewMessage.text(text))) {
      assertThat(answer.text()).isNotEmpty();
    }
  }

  private TestTerminal screen() {
    return TestTerminal.piped(Map.of("PARLEY_URL", server.url().toString()));
  }
}
