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

/// What tasks and agents must know of a context's past.
public interface History {

  /// The latest messages that count, oldest first.
  List<MessageView> latestMessages(ContextId context, int limit);

  /// True if the context has, or had, this task.
  boolean knows(ContextId context, TaskId task);

  /// The task that asked for an input or a sign-in, whether or not that was answered.
  Optional<TaskId> asker(ContextId context, Id asked);

  /// The folders that root tasks of the context worked in, the latest first.
  default List<String> folders(ContextId context) {
    return List.of();
  }

  /// Where the turn of a root task begins, if that is known: with the message that asked for it.
  default Optional<Long> beginning(ContextId context, TaskId task) {
    return Optional.empty();
  }

  /// The event that takes the context back to right after `toSeq`, and so to before `task`.
  default ContextRewound rewound(ContextId context, long toSeq, TaskId task) {
    return new ContextRewound(toSeq, task, null, null, null);
  }

  /// The past as the views tell it.
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
