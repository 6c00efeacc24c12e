package dev.parley.task;

import dev.parley.log.AppendGuard;
import dev.parley.log.ContextState;
import dev.parley.log.EventDraft;
import dev.parley.log.EventLog;
import dev.parley.protocol.AuthEvent.AuthLapsed;
import dev.parley.protocol.AuthId;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Event;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// Polls agents at intervals for questions of waiting tasks that were answered in a remote system,
/// and lets such questions lapse.
///
/// Only for agents that have a [check][Agent#remoteQuestionCheck]; questions of other agents can only be
/// answered here. A waiting task has a timer, but no thread. Thread-safe.
final class RemoteQuestionPoller {

  private static final System.Logger LOGGER =
      System.getLogger(RemoteQuestionPoller.class.getName());
  private static final Duration FIRST_DELAY = Duration.ofSeconds(1);
  private static final Duration DELAY_MAX = Duration.ofMinutes(1);

  /// The key of a timer.
  private record PollTimerKey(ContextId context, TaskId task) {}

  private final EventLog log;
  private final AgentDirectory agentDirectory;
  private final Timers timers;
  private final Consumer<ContextId> onLapsed;

  RemoteQuestionPoller(
      EventLog log, AgentDirectory agentDirectory, Timers timers, Consumer<ContextId> moved) {
    this.log = log;
    this.agentDirectory = agentDirectory;
    this.timers = timers;
    this.onLapsed = moved;
  }

  /// Starts polling for all open questions of the context.
  void startPolling(ContextId context) {
    log.inspect(
            context,
            state ->
                state.openTasks().stream()
                    .map(task -> task.origin().taskId())
                    .filter(task -> questionCheck(state, task).isPresent())
                    .filter(task -> !openQuestions(state, task).isEmpty())
                    .toList())
        .forEach(task -> schedule(new PollTimerKey(context, task), FIRST_DELAY));
  }

  private void schedule(PollTimerKey pollTimerKey, Duration pause) {
    timers.schedule(pollTimerKey, pause, () -> poll(pollTimerKey, pause));
  }

  private void poll(PollTimerKey pollTimerKey, Duration pause) {
    try {
      var remoteQuestionCheck =
          log.inspect(pollTimerKey.context(), state -> questionCheck(state, pollTimerKey.task()))
              .orElse(null);
      // Read before the check: a question that is asked during the check is another one.
      var asked =
          log.inspect(pollTimerKey.context(), state -> openQuestions(state, pollTimerKey.task()));
      if (remoteQuestionCheck == null || asked.isEmpty()) {
        return;
      }
      var reason = remoteQuestionCheck.settledReason(pollTimerKey.context(), pollTimerKey.task());
      if (reason.isPresent()) {
        lapse(pollTimerKey, asked, reason.get());
        return;
      }
    } catch (Rejection.NotFound | Rejection.Gone deleted) {
      return;
    } catch (Rejection.Unavailable storeDown) {
      // Try again later.
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      return;
    } catch (RuntimeException failed) { // The root of a thread: the next check may succeed.
      LOGGER.log(
          System.Logger.Level.WARNING,
          "the questions of task "
              + pollTimerKey.task()
              + " could not be checked for remote answers",
          failed);
    }
    var longer = pause.multipliedBy(2);
    schedule(pollTimerKey, longer.compareTo(DELAY_MAX) > 0 ? DELAY_MAX : longer);
  }

  private void lapse(PollTimerKey pollTimerKey, List<Id> asked, String reason) {
    log.append(
        pollTimerKey.context(),
        AppendGuard.none(),
        state ->
            state.openTask(pollTimerKey.task()).stream()
                .flatMap(
                    task ->
                        asked.stream()
                            .filter(one -> TaskQuestions.isOpen(state, one))
                            .map(one -> new EventDraft(task.origin(), lapsed(one, reason))))
                .toList());
    onLapsed.accept(pollTimerKey.context());
  }

  private Optional<Agent.RemoteQuestionCheck> questionCheck(ContextState state, TaskId task) {
    return state
        .openTask(task)
        .flatMap(open -> Optional.ofNullable(agentDirectory.byId().get(open.origin().agentId())))
        .flatMap(Agent::remoteQuestionCheck);
  }

  private static List<Id> openQuestions(ContextState state, TaskId task) {
    return Stream.<Id>concat(
            state.openInputs().stream()
                .filter(open -> open.task().equals(task))
                .map(open -> open.required().inputId()),
            state.openAuths().stream()
                .filter(open -> open.task().equals(task))
                .map(open -> open.required().authId()))
        .toList();
  }

  private static Event lapsed(Id asked, String reason) {
    return switch (asked) {
      case InputId input -> new InputLapsed(input, reason);
      case AuthId auth -> new AuthLapsed(auth, reason);
      default -> throw new IllegalStateException("not the id of a question: " + asked);
    };
  }
}
