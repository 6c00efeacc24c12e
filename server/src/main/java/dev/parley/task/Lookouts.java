package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
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
/// Only for agents that have a [check][Agent#lookout]; questions of other agents can only be
/// answered here. A waiting task has a timer, but no thread. Thread-safe.
final class Lookouts {

  private static final System.Logger LOGGER = System.getLogger(Lookouts.class.getName());
  private static final Duration FIRST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofMinutes(1);

  /// The key of a timer.
  private record Key(ContextId context, TaskId task) {}

  private final EventLog log;
  private final Agents agents;
  private final Timers timers;
  private final Consumer<ContextId> moved;

  Lookouts(EventLog log, Agents agents, Timers timers, Consumer<ContextId> moved) {
    this.log = log;
    this.agents = agents;
    this.timers = timers;
    this.moved = moved;
  }

  /// Starts polling for all open questions of the context.
  void watch(ContextId context) {
    log.inspect(
            context,
            state ->
                state.openTasks().stream()
                    .map(task -> task.origin().taskId())
                    .filter(task -> lookout(state, task).isPresent())
                    .filter(task -> !asked(state, task).isEmpty())
                    .toList())
        .forEach(task -> set(new Key(context, task), FIRST));
  }

  private void set(Key key, Duration pause) {
    timers.set(key, pause, () -> look(key, pause));
  }

  private void look(Key key, Duration pause) {
    try {
      var lookout = log.inspect(key.context(), state -> lookout(state, key.task())).orElse(null);
      // Read before the check: a question that is asked during the check is another one.
      var asked = log.inspect(key.context(), state -> asked(state, key.task()));
      if (lookout == null || asked.isEmpty()) {
        return;
      }
      var reason = lookout.settled(key.context(), key.task());
      if (reason.isPresent()) {
        lapse(key, asked, reason.get());
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
          "the questions of task " + key.task() + " could not be checked for remote answers",
          failed);
    }
    var longer = pause.multipliedBy(2);
    set(key, longer.compareTo(LONGEST) > 0 ? LONGEST : longer);
  }

  private void lapse(Key key, List<Id> asked, String reason) {
    log.append(
        key.context(),
        Guard.none(),
        state ->
            state.openTask(key.task()).stream()
                .flatMap(
                    task ->
                        asked.stream()
                            .filter(one -> Inputs.asks(state, one))
                            .map(one -> new Draft(task.origin(), lapsed(one, reason))))
                .toList());
    moved.accept(key.context());
  }

  private Optional<Agent.Lookout> lookout(ContextState state, TaskId task) {
    return state
        .openTask(task)
        .flatMap(open -> Optional.ofNullable(agents.byId().get(open.origin().agentId())))
        .flatMap(Agent::lookout);
  }

  private static List<Id> asked(ContextState state, TaskId task) {
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
