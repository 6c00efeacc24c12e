package dev.parley.door.a2a;

import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WireReader;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import dev.parley.task.Rewinder.Target;
import dev.parley.task.Tasks;
import dev.parley.view.StoredTask;
import dev.parley.view.Views;
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
  public Target find(ContextId context, String invocation, boolean cancel, String principal) {
    var target = target(context, invocation);
    if (cancel) {
      tasks.cancelAll(context, "rewound", principal);
    }
    return target;
  }

  private Target target(ContextId context, String invocation) {
    if (Id.valid(invocation)) {
      var task = new TaskId(invocation);
      if (views.place(context, task).isPresent()) {
        return new Target.BeforeTask(task);
      }
    }
    return views.keep().list(context).stream()
        .filter(task -> belongs(task, invocation))
        .findFirst()
        .map(
            task ->
                views.place(context, task.taskId()).isPresent()
                    ? new Target.BeforeTask(task.taskId())
                    : new Target.ToSeq(task.seq() - 1))
        .orElseThrow(
            () ->
                new Rejection.Invalid(
                    "no such invocation in this session: "
                        + (invocation.length() > Id.LENGTH_MAX
                            ? "its id is too long"
                            : invocation)));
  }

  private static boolean belongs(StoredTask stored, String invocation) {
    var task = WireReader.task(stored.task(), "");
    var history = task.history() == null ? List.<WireMessage>of() : task.history();
    return task.id().equals(invocation)
        || Stream.concat(
                Stream.ofNullable(task.metadata()),
                history.stream().flatMap(message -> Stream.ofNullable(message.metadata())))
            .anyMatch(metadata -> names(metadata, invocation));
  }

  private static boolean names(ObjectNode metadata, String invocation) {
    return metadata.path(Marks.INVOCATION).asString("").equals(invocation)
        || metadata.path("adk_invocation_id").asString("").equals(invocation);
  }
}
