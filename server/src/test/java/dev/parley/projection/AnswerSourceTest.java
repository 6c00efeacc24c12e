package dev.parley.projection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.parley.log.AppendGuard;
import dev.parley.log.Decision;
import dev.parley.log.EventDraft;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.AgentLevel;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BlockId;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContextEvent.ContextCreated;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Json;
import dev.parley.protocol.Origin;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.Initiator;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AnswerSourceTest {

  private static final ContextId CONTEXT = new ContextId("c");
  private static final Origin ROOT = Origin.root(new TaskId("root"), new AgentTypeId("boss"));
  private static final Origin CHILD = below("child", ROOT);
  private static final Origin GRANDCHILD = below("grandchild", CHILD);

  @TempDir Path folder;
  private final MemoryLog log = new MemoryLog();
  private Views views;
  private AnswerSource answerSource;

  @BeforeEach
  void open() {
    log.create(CONTEXT, new ContextCreated("local", null, null));
    views = TestViews.open(folder.resolve("views.db"), log);
    answerSource = new AnswerSource(log, views);
  }

  @AfterEach
  void close() {
    views.close();
    log.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"single", "delegate"})
  void where_one_agent_does_all_of_the_work_it_speaks(String strategy) {
    begin(strategy);

    assertThat(speaks(ROOT)).isTrue();
    assertThat(speaks(CHILD)).isTrue();
    assertThat(speaks(GRANDCHILD)).isFalse();
  }

  @Test
  void where_several_work_only_the_root_speaks() {
    begin("parallel");

    assertThat(speaks(ROOT)).isTrue();
    assertThat(speaks(CHILD)).isFalse();
    assertThat(speaks(GRANDCHILD)).isFalse();
  }

  @Test
  void a_sub_agent_that_nobody_was_routed_to_does_not_speak() {
    append(ROOT, created());
    append(ROOT, new TaskStatus(TaskState.WORKING, null, null));
    append(CHILD, created());

    assertThat(speaks(CHILD)).isFalse();
  }

  @Test
  void what_comes_from_no_task_is_nobodys_voice() {
    assertThat(answerSource.isAnswer(log.read(CONTEXT, Position.START, 1).getFirst())).isFalse();
  }

  private void begin(String strategy) {
    var metadata = Json.object();
    metadata.putObject("routing").put("strategy", strategy);
    append(ROOT, created());
    append(ROOT, new TaskStatus(TaskState.WORKING, null, null));
    append(ROOT, new TaskStatus(TaskState.WORKING, null, metadata));
    append(CHILD, created());
    append(GRANDCHILD, created());
  }

  private boolean speaks(Origin origin) {
    append(origin, new ContentDelta("x", 0, new BlockId("b-" + origin.taskId())));
    var entries = log.read(CONTEXT, Position.START, 100);
    return answerSource.isAnswer(entries.getLast());
  }

  private void append(Origin origin, Event event) {
    log.append(CONTEXT, AppendGuard.none(), Decision.always(new EventDraft(origin, event)));
  }

  private static TaskCreated created() {
    return new TaskCreated(Initiator.USER, null, null, null, null, null, null, null);
  }

  private static Origin below(String id, Origin parent) {
    return new Origin(
        new TaskId(id),
        parent.taskId(),
        ROOT.taskId(),
        new AgentTypeId("worker"),
        AgentLevel.SUBAGENT,
        null,
        null,
        null);
  }
}
