package dev.parley.agent;

import static dev.parley.agent.QuestionsTest.asked;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.control.Budgets;
import dev.parley.control.ControlStorage;
import dev.parley.control.TaskControls;
import dev.parley.log.AppendGuard;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.RuleView;
import dev.parley.protocol.RuleView.RuleScope;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.runtime.ManualTime;
import dev.parley.task.Answerer;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.Tool.Permission;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.node.ObjectNode;

/// "Always allow": rules that approvals create.
@Timeout(120)
class ApprovalRulesTest {

  private static final String CALL = "!guarded {\"n\":1}";

  @TempDir Path folder;

  private final ManualTime time = new ManualTime();
  private final MemoryLog log = TaskTestBed.newLog(time);
  private final ControlStorage storage = ControlStorage.inMemory();
  private final TestTool guarded = TestTool.echo("guarded", Permission.ASK);

  private TaskTestBed bed(ToolPolicy policy) {
    var agents = TestTeam.agents(log, new CommandModel(), TaskLimits.DEFAULT, policy, guarded);
    return TaskTestBed.with(log, agents, folder, TaskControls.in(storage, Budgets.none()));
  }

  private TaskTestBed bed() {
    return bed(ToolPolicy.DEFAULT);
  }

  private static ObjectNode always(String scope, @Nullable String expires) {
    var value = Json.object().put("approved", true);
    var remember = value.putObject("remember").put("scope", scope);
    Json.putPresent(remember, "expires", expires);
    return value;
  }

  private static void answer(TaskTestBed bed, InputRequired asked, ObjectNode value, String by) {
    bed.tasks()
        .answer(
            TaskTestBed.CONTEXT, asked.inputId(), value, Answerer.trusted(by), AppendGuard.none());
  }

  /// Approves a call for ever after, and returns its rule.
  private RuleView remember(TaskTestBed bed, String scope) throws InterruptedException {
    var task = bed.submit(CALL).taskId();
    answer(bed, asked(bed, task), always(scope, null), "local");
    assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
    return bed.controls().rules().active(time.instant()).getLast();
  }

  private static boolean asks(TaskTestBed bed, TaskId task) throws InterruptedException {
    bed.await(
        entry ->
            entry.taskId() != null
                && Objects.requireNonNull(entry.origin()).rootTaskId().equals(task)
                && (entry.event() instanceof InputRequired || starts(entry.event())));
    var asked =
        bed.entries().stream()
            .anyMatch(
                entry ->
                    entry.taskId() != null
                        && Objects.requireNonNull(entry.origin()).rootTaskId().equals(task)
                        && entry.event() instanceof InputRequired);
    if (asked) {
      bed.tasks().cancel(TaskTestBed.CONTEXT, task, "local", null);
    }
    bed.awaitEnd(task);
    return asked;
  }

  private static boolean starts(Event event) {
    return event instanceof ToolStart start && start.toolName().equals("guarded");
  }

  @Test
  void the_same_call_is_allowed_afterwards_and_names_its_rule_also_after_a_restart()
      throws Exception {
    RuleView rule;
    try (var bed = bed()) {
      rule = remember(bed, "context");
      assertThat(rule.owner()).isEqualTo("local");
      assertThat(rule.scope()).isEqualTo(RuleScope.CONTEXT);
      assertThat(rule.contextId()).isEqualTo(TaskTestBed.CONTEXT);
      assertThat(rule.expiresAt()).isEqualTo(time.instant().plus(Duration.ofDays(30)));
    }
    try (var bed = bed()) {
      var task = bed.submit(CALL).taskId();
      assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(bed.events(task, InputRequired.class)).isEmpty();
      assertThat(bed.events(task, ToolStart.class).getFirst().facts().rule()).hasValue(rule.id());
      assertThat(guarded.called()).hasSize(2);
    }
  }

  @Test
  void other_arguments_a_revoked_rule_and_an_expired_rule_ask_again() throws Exception {
    try (var bed = bed()) {
      var rule = remember(bed, "everywhere");
      assertThat(asks(bed, bed.submit("!guarded {\"n\":2}").taskId())).isTrue();
      assertThat(asks(bed, bed.submit("!guarded {\"n\":1,\"m\":1}").taskId())).isTrue();
      assertThat(asks(bed, bed.submit(CALL).taskId())).isFalse();

      bed.controls().rules().revoke(rule);
      assertThat(asks(bed, bed.submit(CALL).taskId())).isTrue();

      remember(bed, "everywhere");
      time.advance(Duration.ofDays(30));
      assertThat(asks(bed, bed.submit(CALL).taskId())).isTrue();
    }
  }

  @Test
  void a_rule_for_an_agent_is_for_no_other_one() throws Exception {
    try (var bed = bed()) {
      var rule = remember(bed, "agent");
      assertThat(rule.agentId()).isEqualTo(TaskTestBed.AGENT);
      assertThat(asks(bed, bed.submit(CALL).taskId())).isFalse();
      var prompt = Json.object().put("prompt", CALL);
      assertThat(asks(bed, bed.submit("!agent_a " + prompt).taskId())).isTrue();

      bed.controls().rules().revoke(rule);
      remember(bed, "everywhere");
      assertThat(asks(bed, bed.submit("!agent_a " + prompt).taskId())).isFalse();
    }
  }

  @Test
  void a_rule_of_the_configuration_that_denies_has_precedence() throws Exception {
    try (var bed = bed()) {
      remember(bed, "everywhere");
    }
    var deny = new ToolPolicy(null, List.of(), List.of(), List.of("guarded"));
    try (var bed = bed(deny)) {
      var task = bed.submit(CALL).taskId();
      assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(bed.answer(task).content()).contains("not allowed here");
      assertThat(guarded.called()).hasSize(1);
    }
  }

  @Test
  void wrong_requests_create_no_rule_and_leave_the_question_open() throws Exception {
    try (var bed = bed()) {
      var task = bed.submit(CALL).taskId();
      var asked = asked(bed, task);

      assertThatThrownBy(() -> answer(bed, asked, always("context", null), "bob"))
          .isInstanceOf(Rejection.Forbidden.class)
          .hasMessageContaining("only the owner of the context");
      assertThatThrownBy(() -> answer(bed, asked, always("all", null), "local"))
          .hasMessageContaining("context, agent or everywhere");
      assertThatThrownBy(() -> answer(bed, asked, always("agent", "tomorrow"), "local"))
          .hasMessageContaining("within the next 365 days");
      assertThatThrownBy(() -> answer(bed, asked, always("agent", "2999-01-01T00:00:00Z"), "local"))
          .hasMessageContaining("within the next 365 days");
      var edited = always("agent", null);
      edited.putObject("arguments").put("n", 7);
      assertThatThrownBy(() -> answer(bed, asked, edited, "local"))
          .hasMessageContaining("without changed arguments");
      var denied = always("agent", null).put("approved", false);
      assertThatThrownBy(() -> answer(bed, asked, denied, "local"))
          .hasMessageContaining("only an approval");

      assertThat(bed.controls().rules().active(time.instant())).isEmpty();
      answer(bed, asked, Json.object().put("approved", true), "local");
      assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
    }
  }
}
