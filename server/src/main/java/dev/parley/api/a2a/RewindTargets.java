package dev.parley.api.a2a;

import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aParser;
import dev.parley.projection.StoredTask;
import dev.parley.projection.Views;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.task.Rewinder.RewindDestination;
import dev.parley.task.Tasks;
import java.util.List;
import java.util.stream.Stream;
import tools.jackson.databind.node.ObjectNode;

/// Resolves an invocation id to a rewind target: a root task, or a turn of an external task.
public final class RewindTargets {

  /// In a message's metadata or a request: cancel running tasks first.
  public static final String CANCEL = "kagent_rewind_cancel";

  private final Views views;
  private final Tasks tasks;

  public RewindTargets(Views views, Tasks tasks) {
    this.views = views;
    this.tasks = tasks;
  }

  /// The target before the invocation. If `cancel` is true, all tasks of the context have ended
  /// when this returns.
  ///
  /// @throws Rejection.Invalid if there is no such invocation; nothing is canceled then
  public RewindDestination find(
      ContextId context, String invocation, boolean cancel, String principal) {
    var rewindDestination = target(context, invocation);
    if (cancel) {
      tasks.cancelAll(context, "rewound", principal);
    }
    return rewindDestination;
  }

  private RewindDestination target(ContextId context, String invocation) {
    if (Id.valid(invocation)) {
      var task = new TaskId(invocation);
      if (views.turnPosition(context, task).isPresent()) {
        return new RewindDestination.BeforeTask(task);
      }
    }
    return views.storedTasks().list(context).stream()
        .filter(task -> contains(task, invocation))
        .findFirst()
        .map(
            task ->
                views.turnPosition(context, task.taskId()).isPresent()
                    ? new RewindDestination.BeforeTask(task.taskId())
                    : new RewindDestination.ToSeq(task.seq() - 1))
        .orElseThrow(
            () ->
                new Rejection.Invalid(
                    "no such invocation in this session: "
                        + (invocation.length() > Id.LENGTH_MAX
                            ? "its id is too long"
                            : invocation)));
  }

  private static boolean contains(StoredTask stored, String invocation) {
    var task = A2aParser.task(stored.task(), "");
    var history = task.history() == null ? List.<A2aMessage>of() : task.history();
    return task.id().equals(invocation)
        || Stream.concat(
                Stream.ofNullable(task.metadata()),
                history.stream().flatMap(message -> Stream.ofNullable(message.metadata())))
            .anyMatch(metadata -> matches(metadata, invocation));
  }

  private static boolean matches(ObjectNode metadata, String invocation) {
    return metadata.path(KagentMetadata.INVOCATION).asString("").equals(invocation)
        || metadata.path("adk_invocation_id").asString("").equals(invocation);
  }
}
