package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.log.MemoryLog;
import dev.parley.log.ReadCountingLog;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.task.Answerer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.StringNode;

/// Answers to what nobody asks: refused without reading the past of the context.
class UnknownInputTest {

  private static final ContextId CONTEXT = new ContextId("c");
  private static final InputId ASKED = new InputId("asked");

  @TempDir Path folder;

  @Test
  void an_answer_to_an_unknown_or_answered_question_does_not_read_the_log() {
    var reads = new AtomicInteger();
    var log = ReadCountingLog.of(new MemoryLog(), reads);
    var config = TestServer.config(folder).keepingDataIn(folder);
    var serverSources = Server.ServerSources.real();
    var serverDependencies =
        new ServerFactory(config, serverSources, TestServer.MODULES).createOn(log);
    try {
      log.create(CONTEXT, new ContextCreated("local", null, null));
      var origin = Origin.root(new TaskId("t"), new AgentTypeId("a"));
      log.append(
          CONTEXT,
          AppendGuard.none(),
          _ ->
              List.of(
                  new EventDraft(
                      origin,
                      new TaskCreated(Initiator.USER, null, null, null, null, null, null, null)),
                  new EventDraft(origin, new TaskStatus(TaskState.WORKING, null, null)),
                  new EventDraft(
                      origin,
                      new InputRequired(
                          ASKED, true, InputType.CLARIFICATION, "who?", null, null, null, null)),
                  new EventDraft(
                      origin,
                      new InputReceived(
                          ASKED,
                          InputEvent.Provider.USER,
                          "local",
                          null,
                          null,
                          StringNode.valueOf("me")))));
      serverDependencies.views().context(CONTEXT);
      reads.set(0);

      assertThatThrownBy(() -> answer(serverDependencies, new InputId("unknown")))
          .isInstanceOf(Rejection.NotFound.class);
      assertThatThrownBy(() -> answer(serverDependencies, ASKED))
          .isInstanceOfSatisfying(
              Rejection.Conflict.class, c -> assertThat(c.code()).isEqualTo("not-wanted"));
      assertThat(reads).hasValue(0);
    } finally {
      serverDependencies.close();
    }
  }

  private static void answer(Server.ServerDependencies serverDependencies, InputId input) {
    serverDependencies
        .tasks()
        .answer(
            CONTEXT,
            input,
            StringNode.valueOf("me"),
            Answerer.trusted("local"),
            AppendGuard.none());
  }
}
