package dev.parley.task;

import dev.parley.control.ApprovalRules.RuledCall;
import dev.parley.control.Budgets;
import dev.parley.control.TaskControls;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.BudgetView.BudgetResource;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Json;
import dev.parley.protocol.PauseView;
import dev.parley.protocol.RuleView;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskAccount;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/// The pauses and budgets that apply to a running task.
public final class TaskRunControls {

  private final TaskControls controls;
  private final AgentTypeId agent;
  private final Supplier<TaskAccount> account;

  TaskRunControls(TaskControls controls, AgentTypeId agent, Supplier<TaskAccount> account) {
    this.controls = controls;
    this.agent = agent;
    this.account = account;
  }

  /// The id of the pause that applies to the task, if there is one. Then the agent stops where it
  /// can continue later, see [TaskOutcome.Suspended].
  public Optional<String> pause() {
    return controls.pauses().active().isEmpty()
        ? Optional.empty()
        : controls.pauses().find(agent, account.get()).map(PauseView::id);
  }

  /// The id of the rule with which the owner of the context always allows a call, if there is one.
  /// `hash` binds the rule to the tool and its arguments.
  public Optional<String> rule(String owner, ContextId context, String hash, Instant now) {
    return controls.rules().active(now).isEmpty()
        ? Optional.empty()
        : controls.rules().find(new RuledCall(owner, context, agent, hash), now).map(RuleView::id);
  }

  /// Why the task may not use more of these resources; empty if it may.
  public Optional<String> exceeded(Set<BudgetResource> resources) {
    return controls.budgets().active()
        ? controls.budgets().exceeded(account.get(), agent.value(), resources).map(Budgets::reason)
        : Optional.empty();
  }

  /// A status for a budget that is nearly used up, once in its period.
  public Optional<TaskStatus> budgetWarning() {
    if (!controls.budgets().active()) {
      return Optional.empty();
    }
    return controls
        .budgets()
        .takeWarning(account.get(), agent.value())
        .map(
            view ->
                new TaskStatus(
                    TaskState.WORKING,
                    view.text(),
                    StatusFacts.ofBudget(Json.mapper().valueToTree(view))));
  }
}
