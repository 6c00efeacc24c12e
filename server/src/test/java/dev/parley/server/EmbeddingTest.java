package dev.parley.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.client.AgentTypeInfo;
import dev.parley.client.NewContext;
import dev.parley.client.NewMessage;
import dev.parley.client.ParleyClient;
import dev.parley.client.StreamFilter;
import dev.parley.embed.Assignment;
import dev.parley.embed.CustomAgent;
import dev.parley.embed.Handed;
import dev.parley.embed.WorkFailed;
import dev.parley.embed.Worker;
import dev.parley.log.Guard;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ArtifactId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Kind;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.TaskType;
import dev.parley.task.Tasks;
import dev.parley.tool.Answer;
import dev.parley.tool.Question;
import dev.parley.tool.ToolContext;
import dev.parley.tool.ToolResult;
import dev.parley.tool.TypedTool;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.BooleanNode;
import tools.jackson.databind.node.StringNode;

/// Programs that run a server in their own process, with agents and tools of their own.
@Timeout(60)
class EmbeddingTest {

  @TempDir Path folder;

  private static final Worker ECHO = work -> work.say(work.prompt());

  private static Extensions with(Worker worker) {
    return Extensions.NONE.with(
        CustomAgent.of("agent-own", "Knows about volcanoes", worker)
            .called("Own")
            .taking(TaskType.RESEARCH_DOCS));
  }

  private Config config(Config.Agent... agents) {
    var surroundings = new Config.Surroundings(Map.of(), folder, folder);
    return Config.load(null, surroundings).with(List.of(agents)).listeningOn("127.0.0.1", 0);
  }

  /// What happens in one context of a server that is given this message.
  private static final class Talk implements AutoCloseable {
    private final Tasks tasks;
    private final Server server;
    private final ParleyClient client;
    private final ContextId context;

    Talk(Config config, Extensions extensions) {
      var joined = config.joinedBy(extensions);
      var sources = Server.Sources.real();
      var parts = new Assembly(joined, sources, extensions).open();
      tasks = parts.tasks();
      server = Server.start(joined, extensions, parts, sources);
      client = new ParleyClient(URI.create(server.url()));
      context = client.createContext(NewContext.titled("test")).contextId();
    }

    TaskId say(NewMessage message) {
      return client.send(context, message).taskId();
    }

    void answer(InputId input, JsonNode value) {
      tasks.answer(context, input, value, "local", Guard.none());
    }

    /// Waits for this, and returns all until then.
    List<Entry> until(Predicate<Entry> wanted) throws InterruptedException {
      var entries = new ArrayList<Entry>();
      try (var stream = client.stream(context, Position.START, StreamFilter.ALL)) {
        for (var next = stream.next(); next.isPresent(); next = stream.next()) {
          entries.add(next.get());
          if (wanted.test(next.get())) {
            return entries;
          }
        }
      }
      throw new AssertionError("it did not come; there were " + entries);
    }

    List<Entry> untilEnd(TaskId task) throws InterruptedException {
      return until(entry -> task.equals(entry.taskId()) && terminal(entry.event()));
    }

    String answer(TaskId task) throws InterruptedException {
      var end = untilEnd(task).getLast().event();
      return end instanceof TaskComplete complete ? complete.content() : end.toString();
    }

    @Override
    public void close() {
      client.close();
      server.close();
    }
  }

  private static boolean terminal(Event event) {
    return event instanceof TaskComplete
        || (event instanceof TaskStatus status
            && status.status().terminal()
            && status.status() != TaskState.COMPLETED);
  }

  private static <E> List<E> all(List<Entry> entries, TaskId task, Class<E> type) {
    return entries.stream()
        .filter(entry -> task.equals(entry.taskId()))
        .map(Entry::event)
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }

  @Test
  void what_a_worker_says_is_streamed_and_is_the_answer() throws InterruptedException {
    Worker worker =
        work -> {
          work.progress("halfway", 50);
          work.think("hm");
          work.say("Hello, ");
          work.say(work.prompt());
        };
    try (var talk = new Talk(config(), with(worker))) {
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
  void a_custom_agent_is_shown_and_the_supervisor_chooses_it() throws InterruptedException {
    try (var talk = new Talk(config(Config.Agent.of("clerk", "Counts")), with(ECHO))) {
      assertThat(talk.client.agentTypes())
          .extracting(AgentTypeInfo::id)
          .extracting(AgentTypeId::value)
          .containsExactly("supervisor", "clerk", "agent-own");

      var byWords = talk.say(NewMessage.text("tell me of volcanoes"));
      talk.untilEnd(byWords);
      var byName = talk.say(NewMessage.text("delegate this to own"));
      var entries = talk.untilEnd(byName);

      assertThat(entries)
          .filteredOn(entry -> entry.event() instanceof TaskCreated)
          .extracting(entry -> entry.origin().agentId().value())
          .containsExactly("supervisor", "agent-own", "supervisor", "agent-own");
      assertThat(((TaskComplete) entries.getLast().event()).content()).isEqualTo("this");
    }
  }

  @Test
  void the_default_team_has_the_custom_agent_beside_it() {
    var standard =
        Config.load(null, new Config.Surroundings(Map.of(), folder, folder))
            .listeningOn("127.0.0.1", 0);
    try (var talk = new Talk(standard, with(ECHO))) {
      assertThat(talk.client.agentTypes())
          .extracting(info -> info.id().value())
          .containsExactly(
              "supervisor",
              "agent-code",
              "agent-research",
              "agent-data",
              "agent-writer",
              "agent-own");
    }
  }

  @Test
  void a_configured_agent_hands_work_to_a_custom_one() throws InterruptedException {
    var clerk = Config.Agent.of("clerk", "Counts", "agent:agent-own");
    try (var talk = new Talk(config(clerk), with(ECHO))) {
      var task = talk.say(NewMessage.text("delegate hello to own").to(new AgentTypeId("clerk")));
      var entries = talk.untilEnd(task);

      assertThat(all(entries, task, ToolStart.class))
          .extracting(ToolStart::toolName)
          .containsExactly("agent_agent-own");
      assertThat(((TaskComplete) entries.getLast().event()).content()).isEqualTo("hello");
    }
  }

  @Test
  void a_custom_tool_is_named_in_a_file_and_called() throws Exception {
    var file = folder.resolve("parley.yaml");
    Files.writeString(file, "agents: [{id: clerk, tools: [shout, 'agent:agent-own']}]");
    var extensions = with(ECHO).with(new Shout());
    var surroundings = new Config.Surroundings(Map.of(), folder, folder);
    var config = Config.load(file, surroundings, extensions).listeningOn("127.0.0.1", 0);
    try (var talk = new Talk(config, extensions)) {
      var task =
          talk.say(NewMessage.text("use shout {\"text\": \"hello\"}").to(new AgentTypeId("clerk")));

      assertThat(talk.answer(task)).isEqualTo("shout answered: {\"loud\":\"HELLO\"}");
    }
    assertThatThrownBy(() -> Config.load(file, surroundings))
        .isInstanceOf(Rejection.Invalid.class)
        .hasMessageContaining("there is no tool shout");
  }

  @Test
  void names_that_stand_for_two_things_are_refused() {
    assertThatThrownBy(() -> Server.start(config(), Extensions.NONE))
        .hasMessageContaining("at least one is needed");
    assertThatThrownBy(() -> Server.start(config(), with(ECHO).with(ECHO_AGAIN)))
        .hasMessageContaining("two are called agent-own");
    assertThatThrownBy(() -> Server.start(config(), with(ECHO).with(new Shout()).with(new Shout())))
        .hasMessageContaining("two are called shout");
    assertThatThrownBy(
            () -> Server.start(config(Config.Agent.of("clerk", "", "whisper")), with(ECHO)))
        .hasMessageContaining("there is no tool whisper");
  }

  private static final CustomAgent ECHO_AGAIN = CustomAgent.of("agent-own", "The same", ECHO);

  @Test
  void a_worker_asks_a_person_and_goes_on_with_the_answer() throws InterruptedException {
    Worker worker =
        work -> {
          var answer = work.ask(Question.open("Which colour?", true));
          work.say(answer instanceof Answer.Given(var value) ? "It is " + value.asString() : "?");
        };
    try (var talk = new Talk(config(), with(worker))) {
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
          work.say("One: " + work.hand(Handed.to("clerk", "say a")));
          var both = work.hand(List.of(Handed.to("clerk", "say b"), Handed.to("clerk", "fail")));
          work.say("Then: " + both.getFirst().result() + ", " + both.getLast().status().wire());
        };
    var file = folder.resolve("parley.yaml");
    Files.writeString(file, "agents: [{id: clerk}]\nlimits: {maxConcurrentTasks: 1}");
    var extensions = with(worker);
    var config =
        Config.load(file, new Config.Surroundings(Map.of(), folder, folder), extensions)
            .listeningOn("127.0.0.1", 0);
    try (var talk = new Talk(config, extensions)) {
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
          work.file(new ArtifactId("note"), "note.txt", "text/plain", "sum " + sum.path("sum"));
          work.data(new ArtifactId("sum"), "sum", Json.object().put("sum", 2));
          work.say("done");
        };
    try (var talk = new Talk(config(), with(worker))) {
      var task = talk.say(NewMessage.text("add"));
      var entries = talk.untilEnd(task);

      assertThat(all(entries, task, Event.class))
          .extracting(Event::kind)
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
          work.say("Let me see.");
          throw new WorkFailed(ErrorCode.INVALID_INPUT, "this is not a volcano", false);
        };
    try (var talk = new Talk(config(), with(worker))) {
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
    try (var talk = new Talk(config(), with(worker))) {
      var task = talk.say(NewMessage.text("wait"));
      begun.await();
      talk.client.cancel(talk.context, task);

      assertThat(all(talk.untilEnd(task), task, TaskStatus.class).getLast().status())
          .isEqualTo(TaskState.CANCELED);
    }
  }

  @Test
  void canceling_reaches_a_worker_that_waits_for_a_person() throws InterruptedException {
    try (var talk = new Talk(config(), with(EmbeddingTest::askForever))) {
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
    try (var talk = new Talk(config(), with(EmbeddingTest::askForever))) {
      var task = talk.say(new Timed(300).message("ask"));
      var asked = talk.until(entry -> entry.event() instanceof InputRequired).getLast().event();
      talk.until(
          entry -> entry.event() instanceof TaskStatus s && s.status() == TaskState.WAITING_INPUT);
      // A second task of as long a time has timed out meanwhile, so that its time is over.
      var other = talk.client.createContext(NewContext.titled("other")).contextId();
      var late = talk.client.send(other, new Timed(300).message("wait"));
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

  private static void askForever(Assignment work) throws InterruptedException {
    if (work.prompt().equals("wait")) {
      new CountDownLatch(1).await();
    }
    work.ask(Question.open("Well?", true));
    work.say("thank you");
  }

  /// A message with so many milliseconds.
  private record Timed(long millis) {
    NewMessage message(String text) {
      return new NewMessage(text, null, null, null, null, millis, null, null, null);
    }
  }

  @Test
  void a_task_of_a_worker_ends_as_interrupted_when_the_server_stops() throws InterruptedException {
    TaskId task;
    ContextId context;
    try (var talk = new Talk(config(), with(EmbeddingTest::askForever))) {
      task = talk.say(NewMessage.text("ask"));
      context = talk.context;
      talk.until(
          entry -> entry.event() instanceof TaskStatus s && s.status() == TaskState.WAITING_INPUT);
    }
    try (var talk = new Talk(config(), with(ECHO))) {
      var info = talk.client.task(context, task);

      assertThat(info.status()).isEqualTo(TaskState.FAILED);
    }
  }

  private static final class Shout implements TypedTool<Shout.Arguments> {
    record Arguments(String text) {}

    @Override
    public String name() {
      return "shout";
    }

    @Override
    public String description() {
      return "Says it loudly.";
    }

    @Override
    public Class<Arguments> arguments() {
      return Arguments.class;
    }

    @Override
    public Effect effect() {
      return Effect.PURE;
    }

    @Override
    public boolean concurrent() {
      return true;
    }

    @Override
    public ToolResult call(Arguments arguments, ToolContext context) {
      return new ToolResult.Done(
          Json.object().put("loud", arguments.text().toUpperCase(java.util.Locale.ROOT)));
    }
  }
}
