package dev.parley.door.a2a;

import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WirePart;
import dev.parley.a2a.WireReader;
import dev.parley.a2a.WireTask;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.TaskId;
import dev.parley.view.TaskView;
import dev.parley.view.Views;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Tasks that clients stored: what they said, as it now reads.
public final class Stored {

  /// In the metadata of a task and of its messages: others worked on it.
  public static final String IMPORTED = "imported";

  private final Views views;

  public Stored(Views views) {
    this.views = views;
  }

  /// A stored task in the context that it is shown in; a fork shows the tasks of its source.
  public WireTask task(ContextId context, ObjectNode json) {
    var task = WireReader.task(json, "");
    var ended = task.status().state().terminal();
    var history = task.history() == null ? List.<WireMessage>of() : task.history();
    return new WireTask(
        task.id(),
        context.value(),
        task.status(),
        task.artifacts(),
        // Those of one that has not ended are not in the log yet, and nobody can have changed them.
        ended ? history.stream().flatMap(one -> now(context, one)).toList() : history,
        task.metadata());
  }

  /// The message as it now reads; none if it was hidden or rewound.
  private Stream<WireMessage> now(ContextId context, WireMessage message) {
    if (!Id.valid(message.messageId())) {
      return Stream.of(message);
    }
    return views.message(context, new MessageId(message.messageId())).stream()
        .map(
            said ->
                said.editedAt() == null
                    ? message
                    : new WireMessage(
                        message.messageId(),
                        message.contextId(),
                        message.taskId(),
                        message.role(),
                        List.of(WirePart.text(said.content())),
                        message.metadata()));
  }

  /// True if others worked on the task.
  static boolean is(TaskView task) {
    return task.metadata() != null && task.metadata().path(IMPORTED).asBoolean(false);
  }

  /// The task with so much of its history, and with or without its artifacts.
  static WireTask cut(WireTask task, @Nullable Integer historyLength, boolean artifacts) {
    var history = task.history();
    if (history != null && historyLength != null) {
      var from = Math.max(0, history.size() - Math.max(0, historyLength));
      history = historyLength == 0 ? null : history.subList(from, history.size());
    }
    return new WireTask(
        task.id(),
        task.contextId(),
        task.status(),
        artifacts ? task.artifacts() : List.of(),
        history,
        task.metadata());
  }

  /// The stored task with this id, if there is one that counts.
  public Optional<WireTask> find(ContextId context, TaskId task) {
    return views.keep().find(context, task).map(json -> task(context, json));
  }
}
