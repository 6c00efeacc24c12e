package dev.parley.projection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.AuthEvent.AuthType;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.InputEvent.InputType;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEvent.CancelRequested;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.math.BigDecimal;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.BooleanNode;

class TaskTreeTest {

  private static final ContextId CONTEXT = new ContextId("c");
  private static final InputId INPUT = new InputId("i");
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

  private final MemoryLog log = new MemoryLog();
  private final TaskTree tree = new TaskTree();
  private Position read = Position.START;

  @BeforeEach
  void begin() {
    log.create(CONTEXT, new ContextCreated("local", null, null));
    append(ROOT, created(), status(TaskState.WORKING));
    append(CHILD, created(), status(TaskState.WORKING));
    append(ROOT, status(TaskState.WAITING_SUBTASK));
  }

  @AfterEach
  void close() {
    log.close();
  }

  @Test
  void a_tree_waits_for_a_person_while_all_its_tasks_wait_and_one_of_them_asks() {
    assertThat(waits()).isFalse();

    append(CHILD, asked(), status(TaskState.WAITING_INPUT));
    assertThat(waits()).isTrue();
    assertThat(tree.waitsForPerson(CHILD.taskId())).isTrue();
    assertThat(tree.waitsForPerson(ROOT.taskId())).isFalse();
    assertThat(tree.openQuestions()).extracting(TaskTree.OpenQuestion::id).containsExactly(INPUT);

    append(CHILD, answer());
    assertThat(waits()).isFalse();
    assertThat(tree.openQuestions()).isEmpty();
  }

  @Test
  void a_tree_that_is_being_canceled_does_not_wait_for_a_person() {
    append(CHILD, asked(), status(TaskState.WAITING_INPUT));
    append(CHILD, new CancelRequested("local", null));

    assertThat(waits()).isFalse();
    append(CHILD, status(TaskState.CANCELED));
    assertThat(tree.openQuestions()).isEmpty();
    assertThat(tree.end(CHILD.taskId())).contains(TaskState.CANCELED);
  }

  @Test
  void a_message_to_a_task_that_waits_for_a_person_wakes_it() {
    var auth =
        new AuthRequired(new AuthId("a"), AuthType.API_KEY, null, null, null, "", null, null);
    append(CHILD, auth, status(TaskState.WAITING_AUTH));
    assertThat(waits()).isTrue();

    var metadata = Json.object().put("taskId", "root").put("steer", true);
    metadata.putArray("heardBy").add("child");
    append(null, new Message(new MessageId("m"), Role.USER, "go on", null, metadata));

    assertThat(waits()).isFalse();
  }

  @Test
  void the_end_and_the_error_of_a_task_stay_known() {
    var error = new ErrorReported(ErrorCode.REJECTED, "no", false, ErrorScope.TASK, null);
    append(CHILD, error, status(TaskState.FAILED));

    assertThat(tree.end(CHILD.taskId())).contains(TaskState.FAILED);
    assertThat(tree.error(CHILD.taskId())).contains(error);
    assertThat(tree.isActive(CHILD.taskId())).isFalse();
    assertThat(tree.end(ROOT.taskId())).isEmpty();
    assertThat(tree.isActive(ROOT.taskId())).isTrue();
  }

  @Test
  void the_answer_comes_from_the_only_agent_that_the_work_was_delegated_to() {
    assertThat(tree.isAnswer(ROOT)).isTrue();
    assertThat(tree.isAnswer(CHILD)).isFalse();

    var metadata = Json.object();
    metadata.putObject("routing").put("strategy", "single");
    append(ROOT, new TaskStatus(TaskState.WORKING, null, metadata));

    assertThat(tree.isAnswer(CHILD)).isTrue();
  }

  @Test
  void the_tree_leads_from_a_task_to_its_root() {
    var deep =
        new Origin(
            new TaskId("deep"),
            CHILD.taskId(),
            ROOT.taskId(),
            new AgentTypeId("worker"),
            AgentLevel.SUBAGENT,
            null,
            null,
            null);
    append(deep, created());

    assertThat(tree.ancestors(ROOT)).contains(List.of());
    assertThat(tree.ancestors(CHILD)).contains(List.of(ROOT.taskId()));
    assertThat(tree.ancestors(deep)).contains(List.of(ROOT.taskId(), CHILD.taskId()));
    assertThat(new TaskTree().ancestors(deep)).isEmpty();
    assertThat(tree.parent(deep.taskId())).contains(CHILD.taskId());
    assertThat(tree.parent(ROOT.taskId())).isEmpty();
    assertThat(tree.isWithin(deep.taskId(), ROOT.taskId())).isTrue();
    assertThat(tree.isWithin(deep.taskId(), deep.taskId())).isTrue();
    assertThat(tree.isWithin(CHILD.taskId(), deep.taskId())).isFalse();
  }

  @Test
  void a_task_ends_with_its_result_or_when_it_fails_or_is_canceled() {
    assertThat(TaskTree.endIn(status(TaskState.COMPLETED))).isEmpty();
    assertThat(TaskTree.endIn(new TaskComplete("", null, null))).contains(TaskState.COMPLETED);
    assertThat(TaskTree.endIn(status(TaskState.FAILED))).contains(TaskState.FAILED);
    assertThat(TaskTree.endIn(status(TaskState.CANCELED))).contains(TaskState.CANCELED);
    assertThat(TaskTree.endIn(status(TaskState.WAITING_INPUT))).isEmpty();
  }

  @Test
  void totals_have_the_tokens_of_the_cache_and_are_kept_by_model() {
    var totals = new UsageTotals();
    totals.add(new Usage("a", 1, 2, 4L, null, new BigDecimal("0.1")));
    totals.add(new Usage("b", 1, 1, null, null, null));
    totals.add(new Usage("a", 1, 2, null, 8L, new BigDecimal("0.2")));

    assertThat(totals.byModel())
        .containsEntry("a", new Usage("a", 2, 4, 4L, 8L, new BigDecimal("0.3")));
    assertThat(totals.total().totalTokens()).isEqualTo(20);
    assertThat(totals.total().model()).isEmpty();
  }

  /// The same answer as that of the state for decisions.
  private boolean waits() {
    boolean decided =
        log.inspect(CONTEXT, state -> TaskTree.treeWaitsForPerson(state, ROOT.taskId()));
    assertThat(tree.treeWaitsForPerson(ROOT.taskId())).isEqualTo(decided);
    return decided;
  }

  private void append(@Nullable Origin origin, Event... events) {
    for (var event : events) {
      log.append(CONTEXT, AppendGuard.none(), Decision.always(new EventDraft(origin, event)));
    }
    for (var entry : log.read(CONTEXT, read, 100)) {
      tree.apply(entry);
      read = entry.position();
    }
  }

  private static TaskCreated created() {
    return new TaskCreated(Initiator.USER, null, null, null, null, null, null, null);
  }

  private static TaskStatus status(TaskState state) {
    return new TaskStatus(state, null, null);
  }

  private static InputRequired asked() {
    return new InputRequired(INPUT, true, InputType.CLARIFICATION, "who?", null, null, null, null);
  }

  private static InputReceived answer() {
    return new InputReceived(
        INPUT, InputEvent.Provider.USER, "local", null, null, BooleanNode.TRUE);
  }
}
