package dev.parley.task;

import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.TaskId;
import dev.parley.view.MessageView;
import dev.parley.view.Place;
import dev.parley.view.Views;
import java.util.List;
import java.util.Optional;

/// Queries about the past of a context, for tasks and agents.
public interface History {

  /// The latest messages that were not rewound, oldest first.
  List<MessageView> latestMessages(ContextId context, int limit);

  /// True if the context has this task, ended or not.
  boolean knows(ContextId context, TaskId task);

  /// The task that asked for an input or a sign-in, whether or not it was answered.
  Optional<TaskId> asker(ContextId context, Id asked);

  /// The working directories of the context's root tasks, latest first.
  default List<String> folders(ContextId context) {
    return List.of();
  }

  /// The number of the message that started the turn of a root task, if it is known.
  default Optional<Long> beginning(ContextId context, TaskId task) {
    return Optional.empty();
  }

  /// The event that rewinds the context to right after `toSeq`, which is before `task`.
  default ContextRewound rewound(ContextId context, long toSeq, TaskId task) {
    return new ContextRewound(toSeq, task, null, null, null);
  }

  /// The history as the projection has it.
  static History of(Views views) {
    return new History() {
      @Override
      public List<MessageView> latestMessages(ContextId context, int limit) {
        return views.latestMessages(context, limit);
      }

      @Override
      public boolean knows(ContextId context, TaskId task) {
        return views.task(context, task).isPresent();
      }

      @Override
      public Optional<TaskId> asker(ContextId context, Id asked) {
        return views.asker(context, asked);
      }

      @Override
      public List<String> folders(ContextId context) {
        return views.folders(context);
      }

      @Override
      public Optional<Long> beginning(ContextId context, TaskId task) {
        return views.place(context, task).map(Place::seq);
      }

      @Override
      public ContextRewound rewound(ContextId context, long toSeq, TaskId task) {
        var undo = views.undo(context, toSeq);
        return new ContextRewound(
            toSeq,
            task,
            null,
            undo.state().isEmpty() ? null : undo.state(),
            undo.artifacts().isEmpty() ? null : undo.artifacts());
      }
    };
  }
}
