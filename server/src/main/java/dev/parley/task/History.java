package dev.parley.task;

import dev.parley.protocol.ContextId;
import dev.parley.protocol.TaskId;
import dev.parley.view.MessageView;
import dev.parley.view.Views;
import java.util.List;

/// What tasks and agents must know of a context's past.
public interface History {

  /// The latest messages that count, oldest first.
  List<MessageView> latestMessages(ContextId context, int limit);

  /// True if the context has, or had, this task.
  boolean knows(ContextId context, TaskId task);

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
    };
  }
}
