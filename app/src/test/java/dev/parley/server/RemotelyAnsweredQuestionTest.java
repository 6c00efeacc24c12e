package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.StringNode;

/// What an agent elsewhere asks, and somebody settles there.
@Timeout(120)
class RemotelyAnsweredQuestionTest {

  private static final String REASON = "it was answered or withdrawn where the agent works";

  @TempDir Path folder;
  private RemoteAgentTestBed far;
  private final ContextId context = RemoteAgentTestBed.context();

  @BeforeEach
  void open() {
    far =
        new RemoteAgentTestBed(
            folder.resolve("far"), "agents: [{id: worker, tools: [shell, ask_user]}]\n");
  }

  @AfterEach
  void close() {
    far.close();
  }

  private RemoteAgentTestBed near(String version) {
    var url = far.site.url + "/a2a/worker";
    return new RemoteAgentTestBed(
        folder.resolve("near"), RemoteAgentTestBed.peer(url, ", version: \"" + version + "\""));
  }

  /// The context there, once it asks something.
  private ContextId farContext() throws InterruptedException {
    var item = far.json("/api/contexts").path("items").get(0);
    return new ContextId(item.path("contextId").asString());
  }

  private static String lapsed(RemoteAgentTestBed near, ContextId context, InputRequired question)
      throws InterruptedException {
    var event =
        near.await(
            context,
            entry ->
                entry.event() instanceof InputLapsed lapsed
                    && lapsed.inputId().equals(question.inputId()));
    return String.valueOf(((InputLapsed) event).reason());
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.3", "1.0"})
  void a_question_that_is_answered_there_lapses_here_and_the_task_goes_on(String version)
      throws Exception {
    try (var near = near(version)) {
      var task = near.say(context, "peer", "run echo settled");
      var question = near.question(context, 0);
      assertThat(question.metadata().path("urgency").asString()).isEqualTo("medium");
      near.awaitWaiting(context, task);
      var there = farContext();

      far.give(there, far.question(there, 0), BooleanNode.TRUE);

      assertThat(lapsed(near, context, question)).isEqualTo(REASON);
      assertThat(near.answer(context, task)).contains("settled");
      assertThat(near.json("/api/inbox").path("items")).isEmpty();
      // The question itself is no tool call, in whatever form it comes.
      assertThat(near.entries(context))
          .filteredOn(ToolStart.class::isInstance)
          .extracting(event -> ((ToolStart) event).toolName())
          .containsExactly("shell");
    }
  }

  @Test
  void also_if_that_happens_while_this_server_does_not_run() throws Exception {
    String task;
    InputRequired question;
    try (var near = near("1.0")) {
      task = near.say(context, "peer", "run echo settled");
      question = near.question(context, 0);
      near.awaitWaiting(context, task);
    }
    var there = farContext();
    far.give(there, far.question(there, 0), BooleanNode.TRUE);

    try (var near = near("1.0")) {
      assertThat(lapsed(near, context, question)).isEqualTo(REASON);
      assertThat(near.answer(context, task)).contains("settled");
    }
  }

  @Test
  void a_task_that_is_canceled_there_fails_here() throws Exception {
    try (var near = near("1.0")) {
      var task = near.say(context, "peer", "run echo never");
      var question = near.question(context, 0);
      near.awaitWaiting(context, task);
      var there = farContext();
      var root = far.json("/api/contexts/" + there + "/tasks").path("items").get(0);

      far.cancel(there, root.path("taskId").asString());

      assertThat(lapsed(near, context, question)).isEqualTo(REASON);
      assertThat(near.end(context, task)).isInstanceOf(TaskStatus.class);
      assertThat(near.failure(context, task)).contains("its task was canceled");
    }
  }

  @Test
  void a_question_that_nobody_settles_there_stays_and_is_answered_here() throws Exception {
    try (var near = near("1.0")) {
      var task = near.say(context, "peer", "ask me which one");
      var question = near.question(context, 0);
      near.awaitWaiting(context, task);
      // Meanwhile it was looked at, at least once.
      var there = farContext();
      var other = RemoteAgentTestBed.context();
      var second = near.say(other, "peer", "run echo later");
      var asked = near.question(other, 0);
      near.awaitWaiting(other, second);
      var later =
          far.json("/api/inbox")
              .path("items")
              .valueStream()
              .map(item -> item.path("contextId").asString())
              .filter(id -> !id.equals(there.value()))
              .findFirst()
              .orElseThrow();
      far.give(new ContextId(later), far.question(new ContextId(later), 0), BooleanNode.TRUE);
      assertThat(lapsed(near, other, asked)).isEqualTo(REASON);

      near.give(context, question, StringNode.valueOf("the red one"));

      assertThat(near.answer(context, task)).contains("the red one");
      assertThat(near.entries(context)).noneMatch(event -> event instanceof InputLapsed);
    }
  }
}
