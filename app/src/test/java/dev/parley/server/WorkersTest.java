package dev.parley.server;

import static dev.parley.server.EmbeddedTestServer.ECHO;
import static dev.parley.server.EmbeddedTestServer.all;
import static dev.parley.server.EmbeddedTestServer.config;
import static dev.parley.server.EmbeddedTestServer.with;
import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.client.NewContext;
import dev.parley.client.NewMessage;
import dev.parley.client.StreamFilter;
import dev.parley.embed.DelegatedWork;
import dev.parley.embed.WorkFailed;
import dev.parley.embed.Worker;
import dev.parley.embed.WorkerTask;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.tool.ToolAnswer;
import dev.parley.tool.ToolQuestion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.StringNode;

/// What an agent of a program can do, and what becomes of it.
@Timeout(60)
class WorkersTest {

  @TempDir Path folder;

  @Test
  void what_a_worker_says_is_streamed_and_is_the_answer() throws InterruptedException {
    Worker worker =
        work -> {
          work.progress("halfway", 50);
          work.think("hm");
          work.sendText("Hello, ");
          work.sendText(work.prompt());
        };
    try (var talk = new EmbeddedTestServer(config(folder), with(worker))) {
      var task = talk.say(NewMessage.text("world"));
      var entries = talk.untilEnd(task);

      assertThat(all(entries, task, ContentDelta.class))
          .extracting(ContentDelta::delta)
          .containsExactly("Hello, ", "world");
      assertThat(all(entries, task, TaskStatus.class))
          .anyMatch(
              s -> "halfway".equals(s.message()) && s.metadata().path("percentage").asInt() == 50);
      assertThat(((TaskComplete) entries.getLast().event()).content()).isEqualTo("Hello, world");
      assertThat(talk.client.messages(talk.context, null, 10).items().getLast().content())
          .isEqualTo("Hello, world");
    }
  }

  @Test
  void a_worker_asks_a_person_and_goes_on_with_the_answer() throws InterruptedException {
    Worker worker =
        work -> {
          var toolAnswer = work.ask(ToolQuestion.open("Which colour?", true));
          work.sendText(
              toolAnswer instanceof ToolAnswer.Given(var value)
                  ? "It is " + value.asString()
                  : "?");
        };
    try (var talk = new EmbeddedTestServer(config(folder), with(worker))) {
      var task = talk.say(NewMessage.text("paint"));
      var asked = talk.until(entry -> entry.event() instanceof InputRequired).getLast().event();
      talk.until(
          entry -> entry.event() instanceof TaskStatus s && s.status() == TaskState.WAITING_INPUT);
      talk.answer(((InputRequired) asked).inputId(), StringNode.valueOf("green"));

      assertThat(talk.answer(task)).isEqualTo("It is green");
    }
  }

  /// With one place only: who waits gives it to those it waits for.
  @Test
  void a_worker_hands_work_to_others_and_leaves_them_its_place() throws Exception {
    Worker worker =
        work -> {
          work.sendText("One: " + work.delegate(DelegatedWork.to("clerk", "say a")));
          var both =
              work.delegate(
                  List.of(DelegatedWork.to("clerk", "say b"), DelegatedWork.to("clerk", "fail")));
          work.sendText(
              "Then: " + both.getFirst().result() + ", " + both.getLast().status().wire());
        };
    var file = folder.resolve("parley.yaml");
    Files.writeString(file, "agents: [{id: clerk}]\nlimits: {maxConcurrentTasks: 1}");
    var extensions = with(worker);
    var config =
        Config.load(file, new Config.ProcessEnvironment(Map.of(), folder, folder), extensions)
            .listeningOn("127.0.0.1", 0);
    try (var talk = new EmbeddedTestServer(config, extensions)) {
      var task = talk.say(NewMessage.text("go").to(new AgentTypeId("agent-own")));
      var entries = talk.untilEnd(task);

      assertThat(((TaskComplete) entries.getLast().event()).content())
          .isEqualTo("One: a\n\nThen: b, failed");
      assertThat(all(entries, task, TaskStatus.class))
          .extracting(TaskStatus::status)
          .contains(TaskState.WAITING_SUBTASK);
      var starts = all(entries, task, ToolStart.class);
      assertThat(starts)
          .extracting(ToolStart::toolName)
          .containsExactly("agent_clerk", "subagents");
      assertThat(all(entries, task, ToolComplete.class))
          .extracting(ToolComplete::subagentMetadata)
          .containsExactlyElementsOf(starts.stream().map(ToolStart::subagentMetadata).toList());
      assertThat(all(entries, task, SubtaskCreated.class)).hasSize(3);
      assertThat(entries)
          .filteredOn(entry -> entry.origin() != null && entry.origin().parentTaskId() != null)
          .allSatisfy(
              entry -> {
                assertThat(entry.origin().parentTaskId()).isEqualTo(task);
                assertThat(entry.origin().spawnedByCallId())
                    .isIn(starts.get(0).toolCallId(), starts.get(1).toolCallId());
              });
    }
  }

  @Test
  void steps_and_artifacts_of_a_worker_are_seen() throws InterruptedException {
    Worker worker =
        work -> {
          var sum = work.call("add", Json.object().put("a", 1), () -> Json.object().put("sum", 2));
          work.writeFile(
              new ArtifactId("note"), "note.txt", "text/plain", "sum " + sum.path("sum"));
          work.writeData(new ArtifactId("sum"), "sum", Json.object().put("sum", 2));
          work.sendText("done");
        };
    try (var talk = new EmbeddedTestServer(config(folder), with(worker))) {
      var task = talk.say(NewMessage.text("add"));
      var entries = talk.untilEnd(task);

      assertThat(all(entries, task, Event.class))
          .extracting(Kind::of)
          .containsSubsequence(
              Kind.TOOL_START, Kind.TOOL_COMPLETE, Kind.FILE_WRITE, Kind.DATA_WRITE);
      assertThat(((TaskComplete) entries.getLast().event()).artifacts())
          .containsExactly(new ArtifactId("note"), new ArtifactId("sum"));
    }
  }

  @Test
  void a_worker_that_cannot_do_it_says_why() throws InterruptedException {
    Worker worker =
        work -> {
          work.sendText("Let me see.");
          throw new WorkFailed(ErrorCode.INVALID_INPUT, "this is not a volcano", false);
        };
    try (var talk = new EmbeddedTestServer(config(folder), with(worker))) {
      var task = talk.say(NewMessage.text("a molehill"));
      var entries = talk.untilEnd(task);

      assertThat(all(entries, task, ErrorReported.class))
          .extracting(ErrorReported::message)
          .containsExactly("this is not a volcano");
      assertThat(all(entries, task, TaskStatus.class).getLast().status())
          .isEqualTo(TaskState.FAILED);
    }
  }

  @Test
  void canceling_interrupts_a_worker() throws InterruptedException {
    var begun = new CountDownLatch(1);
    var never = new CountDownLatch(1);
    Worker worker =
        work -> {
          begun.countDown();
          never.await();
        };
    try (var talk = new EmbeddedTestServer(config(folder), with(worker))) {
      var task = talk.say(NewMessage.text("wait"));
      begun.await();
      talk.client.cancel(talk.context, task);

      assertThat(all(talk.untilEnd(task), task, TaskStatus.class).getLast().status())
          .isEqualTo(TaskState.CANCELED);
    }
  }

  @Test
  void canceling_reaches_a_worker_that_waits_for_a_person() throws InterruptedException {
    try (var talk = new EmbeddedTestServer(config(folder), with(WorkersTest::askForever))) {
      var task = talk.say(NewMessage.text("ask"));
      talk.until(
          entry -> entry.event() instanceof TaskStatus s && s.status() == TaskState.WAITING_INPUT);
      talk.client.cancel(talk.context, task);

      assertThat(all(talk.untilEnd(task), task, TaskStatus.class).getLast().status())
          .isEqualTo(TaskState.CANCELED);
    }
  }

  @Test
  void the_time_of_a_worker_stands_still_while_it_waits_for_a_person() throws InterruptedException {
    try (var talk = new EmbeddedTestServer(config(folder), with(WorkersTest::askForever))) {
      var task = talk.say(new Timed(3_000).message("ask"));
      var asked = talk.until(entry -> entry.event() instanceof InputRequired).getLast().event();
      talk.until(
          entry -> entry.event() instanceof TaskStatus s && s.status() == TaskState.WAITING_INPUT);
      // A second task of as long a time has timed out meanwhile, so that its time is over.
      var other = talk.client.createContext(NewContext.titled("other")).contextId();
      var late = talk.client.send(other, new Timed(3_000).message("wait"));
      try (var stream = talk.client.stream(other, Position.START, StreamFilter.ALL)) {
        for (var next = stream.next(); next.isPresent(); next = stream.next()) {
          if (late.taskId().equals(next.get().taskId())
              && next.get().event() instanceof ErrorReported) {
            break;
          }
        }
      }
      talk.answer(((InputRequired) asked).inputId(), BooleanNode.TRUE);

      assertThat(talk.answer(task)).isEqualTo("thank you");
    }
  }

  @Test
  void a_task_of_a_worker_ends_as_interrupted_when_the_server_stops() throws InterruptedException {
    TaskId task;
    ContextId context;
    try (var talk = new EmbeddedTestServer(config(folder), with(WorkersTest::askForever))) {
      task = talk.say(NewMessage.text("ask"));
      context = talk.context;
      talk.until(
          entry -> entry.event() instanceof TaskStatus s && s.status() == TaskState.WAITING_INPUT);
    }
    try (var talk = new EmbeddedTestServer(config(folder), with(ECHO))) {
      var info = talk.client.task(context, task);

      assertThat(info.status()).isEqualTo(TaskState.FAILED);
    }
  }

  private static void askForever(WorkerTask work) throws InterruptedException {
    if (work.prompt().equals("wait")) {
      new CountDownLatch(1).await();
    }
    work.ask(ToolQuestion.open("Well?", true));
    work.sendText("thank you");
  }

  /// A message with so many milliseconds.
  private record Timed(long millis) {
    NewMessage message(String text) {
      return new NewMessage(text, null, null, null, null, millis, null, null, null);
    }
  }
}
