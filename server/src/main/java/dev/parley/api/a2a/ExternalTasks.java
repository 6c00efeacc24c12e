package dev.parley.api.a2a;

import dev.parley.a2a.A2aMessage;
import dev.parley.a2a.A2aParser;
import dev.parley.a2a.A2aTask;
import dev.parley.projection.Views;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// External tasks: tasks that another server ran and a client stored here.
public final class ExternalTasks {

  private final Views views;

  public ExternalTasks(Views views) {
    this.views = views;
  }

  /// A stored task as shown in a context: a fork also shows the tasks of its source.
  public A2aTask task(ContextId context, ObjectNode json) {
    var task = A2aParser.task(json, "");
    var ended = task.status().state().terminal();
    var history = task.history() == null ? List.<A2aMessage>of() : task.history();
    return new A2aTask(
        task.id(),
        context.value(),
        task.status(),
        task.artifacts(),
        // Before the task ends, its messages are not in the log and cannot be edited.
        ended ? history.stream().flatMap(one -> current(context, one)).toList() : history,
        task.metadata());
  }

  /// The message with edits applied; empty if it was deleted or rewound.
  private Stream<A2aMessage> current(ContextId context, A2aMessage message) {
    if (!Id.valid(message.messageId())) {
      return Stream.of(message);
    }
    return views.message(context, new MessageId(message.messageId())).stream()
        .map(now -> now.editedAt() == null ? message : message.withText(now.content()));
  }

  /// True if the task is external.
  static boolean isExternal(TaskView task) {
    return task.facts().imported();
  }

  /// Returns the task with the last `historyLength` messages, and with or without artifacts.
  static A2aTask truncate(A2aTask task, @Nullable Integer historyLength, boolean artifacts) {
    var history = task.history();
    if (history != null && historyLength != null) {
      var from = Math.max(0, history.size() - Math.max(0, historyLength));
      history = historyLength == 0 ? null : history.subList(from, history.size());
    }
    return task.with(artifacts ? task.artifacts() : List.of(), history);
  }

  /// The current stored task with this id.
  public Optional<A2aTask> find(ContextId context, TaskId task) {
    return views.storedTasks().find(context, task).map(json -> task(context, json));
  }
}
