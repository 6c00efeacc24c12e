package dev.parley.task;

import dev.parley.log.ContextState;
import dev.parley.log.Draft;
import dev.parley.log.EventLog;
import dev.parley.log.Guard;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageEvent.Role;
import dev.parley.protocol.Position;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.util.ArrayList;
import java.util.List;

/// Writes that a task waits or has succeeded, unless the log has new entries for it that its agent
/// has not read.
final class Finisher {

  /// Conflict code: the task cannot wait or end, because there are new entries for it.
  static final String NEWS = "news";

  /// Conflict code: the task cannot wait or succeed, because its cancellation was requested.
  static final String CANCEL_REQUESTED = "cancel-requested";

  /// Conflict code: the task cannot end, because it has open subtasks.
  static final String CHILDREN = "children";

  private final EventLog log;
  private final Sources sources;
  private final Stubborn stubborn;

  Finisher(EventLog log, Sources sources, Stubborn stubborn) {
    this.log = log;
    this.sources = sources;
    this.stubborn = stubborn;
  }

  /// Writes that the task waits. Returns an empty string on success, else the conflict code.
  String park(Run run, Outcome.Parked parked) {
    run.reach("before-park");
    var seen = run.seen();
    var refusal =
        stubborn.refusal(
            () ->
                log.append(
                    run.context(),
                    Guard.none(),
                    state -> {
                      checkQuiet(run, state, seen);
                      var status = new TaskStatus(parked.state(), null, parked.metadata());
                      return List.of(new Draft(run.origin(), status));
                    }));
    run.reach("after-park");
    return refusal;
  }

  /// Writes the end of a task that succeeded. Returns an empty string on success, else the conflict
  /// code.
  String complete(Run run, Agent agent, Outcome.Completed completed) {
    var seen = agent.resumes() ? run.seen() : Position.of(Long.MAX_VALUE);
    // Read all entries, so that the totals are complete.
    stubborn.write(
        () -> {
          run.news();
          return true;
        });
    var now = sources.clock().instant();
    var content = completed.content();
    var tally = run.tally();
    var message =
        new Message(
            sources.messageId(), Role.ASSISTANT, content, null, tally.ofMessage(content, now));
    var metadata = tally.ofTask(now);
    if (completed.result() != null) {
      metadata.setAll(completed.result());
    }
    run.reach("before-complete");
    var refusal =
        stubborn.refusal(
            () ->
                log.append(
                    run.context(),
                    Guard.none(),
                    state -> {
                      checkQuiet(run, state, seen);
                      if (Lineup.children(state, run.taskId()).findAny().isPresent()) {
                        throw new Rejection.Conflict(CHILDREN, "subtasks have not ended");
                      }
                      var drafts = new ArrayList<Draft>();
                      if (run.origin().parentTaskId() == null) {
                        drafts.add(new Draft(run.origin(), message));
                      }
                      var status = new TaskStatus(TaskState.COMPLETED, null, null);
                      drafts.add(new Draft(run.origin(), status));
                      var complete = new TaskComplete(content, tally.artifacts(), metadata);
                      drafts.add(new Draft(run.origin(), complete));
                      var end = new Lineup.Ended(TaskState.COMPLETED, content, null);
                      Lineup.ended(state, run.origin(), end).ifPresent(drafts::add);
                      return drafts;
                    }));
    run.reach("after-complete");
    return refusal;
  }

  /// Rejects the append if the log has new entries for the task, or its cancellation was requested.
  private static void checkQuiet(Run run, ContextState state, Position seen) {
    var task = state.openTask(run.taskId());
    if (task.isPresent() && task.get().cancelRequested()) {
      throw new Rejection.Conflict(CANCEL_REQUESTED, "the task is being canceled");
    }
    if (task.isPresent() && task.get().wokenSeq() > seen.seq()) {
      throw new Rejection.Conflict(NEWS, "there are new entries for the task");
    }
  }
}
