package dev.parley.api.chat;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.api.chat.AgentEventMapper.AgentNames;
import dev.parley.api.chat.AgentEventMapper.PrecedingEvents;
import dev.parley.log.AppendGuard;
import dev.parley.log.EventDraft;
import dev.parley.log.MemoryLog;
import dev.parley.projection.AnswerSource;
import dev.parley.projection.TestViews;
import dev.parley.projection.Views;
import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The bytes of chat events: which fields they have, and in which order.
class ChatEventTest {

  private static final ContextId CONTEXT = new ContextId("c");
  private static final Origin ROOT = Origin.root(new TaskId("root"), new AgentTypeId("boss"));
  private static final Origin CHILD =
      new Origin(
          new TaskId("child"),
          ROOT.taskId(),
          ROOT.taskId(),
          new AgentTypeId("worker"),
          AgentLevel.SUBAGENT,
          null,
          null,
          null);

  @TempDir Path folder;
  private final MemoryLog log = new MemoryLog();
  private Views views;
  private ChatEventMapper mapper;

  @BeforeEach
  void open() {
    log.create(CONTEXT, new ContextCreated("local", null, null));
    views = TestViews.open(folder.resolve("views.db"), log);
    var past = new PrecedingEvents(log);
    mapper =
        new ChatEventMapper(
            new AgentEventMapper(past, new AgentNames(List.of())),
            past,
            new AnswerSource(log, views));
    append(ROOT, new TaskCreated(Initiator.USER, null, null, "go", null, null, null, null));
  }

  @AfterEach
  void close() {
    views.close();
    log.close();
  }

  @Test
  void a_message_names_its_task_after_itself() {
    var metadata = Json.object().put("taskId", "root");
    assertThat(last(null, new Message(new MessageId("m"), Role.USER, "hi", null, metadata)))
        .containsExactly(
            "{'type':'started','conversationId':'c',ID,'messageId':'m','taskId':'root'}");
  }

  @Test
  void the_parent_of_a_sub_agent_is_the_task_of_the_event() {
    var created = new SubtaskCreated(CHILD.taskId(), CHILD.agentId(), "do it");
    assertThat(last(ROOT, created))
        .containsExactly(
            "{'type':'subagent_start','conversationId':'c','taskId':'child',ID,'agentId':'worker',"
                + "'parentTaskId':'root','agentName':'worker','data':{'taskId':'child',"
                + "'agentId':'worker','agentName':'worker','prompt':'do it'}}");
    append(CHILD, new TaskCreated(Initiator.AGENT, null, null, "do it", null, null, null, null));
    assertThat(last(CHILD, new SubtaskCreated(new TaskId("deep"), null, "dig")))
        .containsExactly(
            "{'type':'subagent_start','conversationId':'c','taskId':'deep','parentTaskId':'child',"
                + "ID,'agentId':'worker','data':{'taskId':'deep','prompt':'dig'}}");
  }

  @Test
  void a_tool_without_result_and_error_has_a_null_output() {
    var call = new ToolCallId("t");
    append(ROOT, new ToolStart(call, "noop", Json.object(), null, null, null, null, null));
    assertThat(last(ROOT, new ToolComplete(call, "noop", true, null, null, null, null, null)))
        .containsExactly(
            "{'type':'tool_result','conversationId':'c','taskId':'root',ID,'agentId':'boss',"
                + "'tool':'noop','data':{'tool':'noop','output':null,'success':true,"
                + "'toolUseId':'t'}}");
  }

  @Test
  void a_failed_root_task_has_two_events_with_its_error_and_its_partial_answer() {
    append(
        ROOT,
        new TaskStatus(TaskState.WORKING, null, null),
        new ErrorReported(ErrorCode.RATE_LIMITED, "too fast", true, ErrorScope.TASK, null),
        new Message(new MessageId("m"), Role.ASSISTANT, "half", null, Json.object()));
    var body =
        ",'conversationId':'c','taskId':'root',ID,'agentId':'boss','error':'too fast',"
            + "'code':'rate_limited','recoverable':true,'data':{'error':'too fast',"
            + "'recoverable':true,'code':'rate_limited'},'messageId':'m','content':'half',"
            + "'partial':true}";
    assertThat(last(ROOT, new TaskStatus(TaskState.FAILED, null, null)))
        .containsExactly("{'type':'task_failed'" + body, "{'type':'error'" + body);
  }

  private void append(@Nullable Origin origin, Event... events) {
    for (var event : events) {
      log.append(CONTEXT, AppendGuard.none(), _ -> List.of(new EventDraft(origin, event)));
    }
  }

  /// The chat events of an event. The id and the time of the entry are `ID`.
  private List<String> last(@Nullable Origin origin, Event event) {
    append(origin, event);
    var entry = log.read(CONTEXT, Position.START, 100).getLast();
    return mapper.of(entry).stream()
        .map(
            chat ->
                Json.mapper()
                    .writeValueAsString(chat)
                    .replaceAll("\"eventId\":\"[^\"]*\",\"timestamp\":\"[^\"]*\"", "ID")
                    .replace('"', '\''))
        .toList();
  }
}
