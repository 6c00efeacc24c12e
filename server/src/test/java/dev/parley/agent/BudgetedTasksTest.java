package dev.parley.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.parley.control.Budget;
import dev.parley.control.Budget.BudgetMatch;
import dev.parley.control.Budgets;
import dev.parley.control.ControlStorage;
import dev.parley.control.TaskControls;
import dev.parley.log.MemoryLog;
import dev.parley.protocol.BudgetView.BudgetGroup;
import dev.parley.protocol.BudgetView.BudgetPeriod;
import dev.parley.protocol.BudgetView.BudgetResource;
import dev.parley.protocol.BudgetView.BudgetState;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskAccount;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.runtime.ManualTime;
import dev.parley.task.Agent;
import dev.parley.task.LogInvariants;
import dev.parley.task.TaskLimits;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskTestBed;
import dev.parley.tool.Tool;
import dev.parley.tool.Tool.Permission;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Budgets that stop tasks. A model call of [CommandModel] uses 15 tokens.
@Timeout(120)
class BudgetedTasksTest {

  private static final TaskAccount LOCAL = TaskAccount.of("local");

  @TempDir Path folder;

  private final ManualTime time = new ManualTime();
  private final MemoryLog log = TaskTestBed.newLog(time);
  private final ControlStorage storage = ControlStorage.inMemory();
  private final TestTool echo = TestTool.echo("echo", Permission.ALLOW);

  private static Budget budget(BudgetResource resource, long limit, boolean stops) {
    return new Budget(
        "test",
        BudgetGroup.PERSON,
        BudgetMatch.ALL,
        BudgetPeriod.HOUR,
        Map.of(resource, BigDecimal.valueOf(limit)),
        80,
        stops);
  }

  private Budgets budgets(BudgetResource resource, long limit) {
    return Budgets.of(List.of(budget(resource, limit, true)), log, storage, time);
  }

  private TaskTestBed bed(Budgets budgets, Tool... tools) {
    var agents =
        TestTeam.agents(log, new CommandModel(), TaskLimits.DEFAULT, ToolPolicy.DEFAULT, tools);
    return TaskTestBed.with(log, agents, folder, TaskControls.in(storage, budgets));
  }

  private static BigDecimal used(Budgets budgets) {
    return budgets.all().getFirst().used();
  }

  @Test
  void a_task_is_rejected_when_the_budget_is_used_up_and_accepted_in_the_next_period()
      throws Exception {
    try (var budgets = budgets(BudgetResource.TOKENS, 15);
        var bed = bed(budgets)) {
      assertThat(bed.awaitEnd(bed.submit("one").taskId())).isEqualTo(TaskState.COMPLETED);
      assertThat(used(budgets)).isEqualByComparingTo("15");

      assertThatThrownBy(() -> bed.submit("two"))
          .isInstanceOf(Rejection.Busy.class)
          .hasMessageContaining("the budget test of local has used 15 of 15 tokens this hour")
          .hasMessageContaining("An operator can raise it")
          .extracting(thrown -> ((Rejection) thrown).code())
          .isEqualTo("budget-exceeded");

      time.advance(Duration.ofHours(1));
      assertThat(bed.awaitEnd(bed.submit("three").taskId())).isEqualTo(TaskState.COMPLETED);
    }
  }

  @Test
  void a_running_task_stops_before_its_next_model_call_and_says_why() throws Exception {
    try (var budgets = budgets(BudgetResource.TOKENS, 10);
        var bed = bed(budgets, echo)) {
      var task = bed.submit("!echo {\"n\":1}").taskId();

      assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      var error = bed.events(task, ErrorReported.class).getFirst();
      assertThat(error.code()).isEqualTo(ErrorCode.LIMIT);
      assertThat(error.message()).contains("the budget test of local has used 15 of 10 tokens");
      assertThat(bed.events(task, Usage.class)).hasSize(1);
      LogInvariants.check(log, TaskTestBed.CONTEXT);
    }
  }

  @Test
  void a_tree_of_tasks_stops_when_the_budget_of_its_root_is_used_up() throws Exception {
    try (var budgets = budgets(BudgetResource.TOKENS, 20);
        var bed = bed(budgets)) {
      var task = bed.submit(SubagentsTest.batch(Mode.SERIAL, "one", "two", "three")).taskId();

      assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      var calls = bed.entries().stream().filter(entry -> entry.event() instanceof Usage).count();
      assertThat(calls).isEqualTo(2);
      assertThat(used(budgets)).isEqualByComparingTo("30");
    }
  }

  @Test
  void no_sub_agent_is_created_beyond_a_budget_of_tasks() throws Exception {
    try (var budgets = budgets(BudgetResource.TASKS, 1);
        var bed = bed(budgets)) {
      var task = bed.submit(SubagentsTest.batch(Mode.PARALLEL, "one", "two")).taskId();

      assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(bed.answer(task).content()).contains("1 of 1 tasks");
      assertThat(bed.entries().stream().filter(entry -> entry.event() instanceof TaskCreated))
          .hasSize(1);
      assertThatThrownBy(() -> bed.submit("more")).hasMessageContaining("1 of 1 tasks");
    }
  }

  @Test
  void no_tool_is_called_beyond_a_budget_of_tool_calls_and_the_model_is_told() throws Exception {
    try (var budgets = budgets(BudgetResource.TOOL_CALLS, 1);
        var bed = bed(budgets, echo)) {
      var first = bed.submit("!echo").taskId();
      assertThat(bed.awaitEnd(first)).isEqualTo(TaskState.COMPLETED);
      var second = bed.submit("!echo").taskId();
      assertThat(bed.awaitEnd(second)).isEqualTo(TaskState.COMPLETED);

      assertThat(echo.called()).hasSize(1);
      assertThat(bed.events(second, ToolComplete.class).getFirst().error())
          .contains("1 of 1 tool calls");
    }
  }

  @Test
  void a_budget_that_only_warns_stops_nothing_and_is_reported_once() throws Exception {
    var budget = budget(BudgetResource.TOKENS, 10, false);
    try (var budgets = Budgets.of(List.of(budget), log, storage, time);
        var bed = bed(budgets, echo)) {
      var task = bed.submit("!echo").taskId();
      assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.COMPLETED);
      assertThat(bed.awaitEnd(bed.submit("more").taskId())).isEqualTo(TaskState.COMPLETED);

      var warnings =
          bed.entries().stream()
              .filter(
                  entry ->
                      entry.event() instanceof TaskStatus status
                          && status.message() != null
                          && status.message().contains("15 of 10 tokens"))
              .toList();
      assertThat(warnings).hasSize(1);
      assertThat(budgets.all().getFirst().state()).isEqualTo(BudgetState.EXCEEDED);
    }
  }

  @Test
  void an_agent_that_does_not_check_is_stopped_while_it_works() throws Exception {
    var never = new CountDownLatch(1);
    Agent greedy =
        taskRun -> {
          taskRun.emit(List.of(new Usage("m", 100, 0, null, null, null)));
          never.await();
          return new TaskOutcome.Completed("never");
        };
    try (var budgets = budgets(BudgetResource.TOKENS, 50);
        var bed =
            TaskTestBed.with(
                log,
                Map.of(TaskTestBed.AGENT, greedy),
                folder,
                TaskControls.in(storage, budgets))) {
      var task = bed.submit("go").taskId();

      assertThat(bed.awaitEnd(task)).isEqualTo(TaskState.FAILED);
      assertThat(bed.events(task, ErrorReported.class).getFirst().message())
          .contains("100 of 50 tokens");
    }
  }

  @Test
  void what_was_used_is_exact_after_a_stop_without_a_last_write() throws Exception {
    var lost = budgets(BudgetResource.TOKENS, 1_000);
    try (var bed = bed(lost)) {
      assertThat(bed.awaitEnd(bed.submit("one").taskId())).isEqualTo(TaskState.COMPLETED);
      assertThat(used(lost)).isEqualByComparingTo("15");
      // Written, and then counted further without another write.
      lost.settle(TaskTestBed.CONTEXT);
      assertThat(bed.awaitEnd(bed.submit("two").taskId())).isEqualTo(TaskState.COMPLETED);
      assertThat(used(lost)).isEqualByComparingTo("30");
    }
    try (var found = budgets(BudgetResource.TOKENS, 1_000)) {
      assertThat(used(found)).isEqualByComparingTo("30");
    }
    try (var again = budgets(BudgetResource.TOKENS, 1_000)) {
      assertThat(used(again)).isEqualByComparingTo("30");
    }
  }

  @Test
  void a_deleted_context_still_counts() throws Exception {
    try (var budgets = budgets(BudgetResource.TOKENS, 1_000)) {
      try (var bed = bed(budgets)) {
        assertThat(bed.awaitEnd(bed.submit("one").taskId())).isEqualTo(TaskState.COMPLETED);
        budgets.settle(TaskTestBed.CONTEXT);
        log.delete(TaskTestBed.CONTEXT);
      }
      assertThat(used(budgets)).isEqualByComparingTo("15");
    }
    try (var found = budgets(BudgetResource.TOKENS, 1_000)) {
      assertThat(used(found)).isEqualByComparingTo("15");
    }
  }

  @Test
  void the_use_of_others_does_not_count() {
    var match = new BudgetMatch(Set.of("ann"), Set.of(), Set.of("acme"), Set.of());
    var budget =
        new Budget(
            "acme",
            BudgetGroup.KEY,
            match,
            BudgetPeriod.MONTH,
            Map.of(BudgetResource.REQUESTS, BigDecimal.TWO),
            80,
            true);
    try (var budgets = Budgets.of(List.of(budget), log, storage, time)) {
      var ann = new TaskAccount("ann", "acme", "key:k1");
      for (var i = 0; i < 5; i++) {
        budgets.use(LOCAL, BudgetResource.REQUESTS);
        budgets.use(new TaskAccount("ann", "other", "key:k1"), BudgetResource.REQUESTS);
        budgets.use(new TaskAccount("bob", "acme", "key:k2"), BudgetResource.REQUESTS);
      }
      budgets.use(ann, BudgetResource.REQUESTS);
      budgets.use(ann, BudgetResource.REQUESTS);
      budgets.use(new TaskAccount("ann", "acme", "key:k2"), BudgetResource.REQUESTS);

      assertThatThrownBy(() -> budgets.use(ann, BudgetResource.REQUESTS))
          .hasMessageContaining("the budget acme of key:k1 has used 2 of 2 requests this month");
      assertThat(budgets.of(ann)).singleElement().matches(view -> view.remaining().signum() == 0);
      assertThat(budgets.of(LOCAL)).isEmpty();
      assertThat(budgets.all()).hasSize(2);
    }
  }
}
