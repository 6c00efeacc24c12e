package dev.parley.task;

import dev.parley.projection.TurnPosition;
import dev.parley.projection.Views;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Id;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.TaskId;
import java.util.List;
import java.util.Optional;

/// Queries about the past of a context, for tasks and agents.
public interface ContextHistory {

  /// The latest messages that were not rewound, oldest first.
  List<MessageView> latestMessages(ContextId context, int limit);

  /// True if the context has this task, ended or not.
  boolean hasTask(ContextId context, TaskId task);

  /// The task that asked for an input or a sign-in, whether or not it was answered.
  Optional<TaskId> askingTask(ContextId context, Id asked);

  /// The working directories of the context's root tasks, latest first.
  default List<String> folders(ContextId context) {
    return List.of();
  }

  /// The number of the message that started the turn of a root task, if it is known.
  default Optional<Long> turnStart(ContextId context, TaskId task) {
    return Optional.empty();
  }

  /// The event that rewinds the context to right after `toSeq`, which is before `task`.
  default ContextRewound rewindEvent(ContextId context, long toSeq, TaskId task) {
    return new ContextRewound(toSeq, task, null, null, null);
  }

  /// The history as the projection has it.
  static ContextHistory of(Views views) {
    return new ContextHistory() {
      @Override
      public List<MessageView> latestMessages(ContextId context, int limit) {
        return views.latestMessages(context, limit);
      }

      @Override
      public boolean hasTask(ContextId context, TaskId task) {
        return views.task(context, task).isPresent();
      }

      @Override
      public Optional<TaskId> askingTask(ContextId context, Id asked) {
        return views.askingTask(context, asked);
      }

      @Override
      public List<String> folders(ContextId context) {
        return views.folders(context);
      }

      @Override
      public Optional<Long> turnStart(ContextId context, TaskId task) {
        return views.turnPosition(context, task).map(TurnPosition::seq);
      }

      @Override
      public ContextRewound rewindEvent(ContextId context, long toSeq, TaskId task) {
        var rewindEffect = views.rewindEffect(context, toSeq);
        return new ContextRewound(
            toSeq,
            task,
            null,
            rewindEffect.state().isEmpty() ? null : rewindEffect.state(),
            rewindEffect.artifacts().isEmpty() ? null : rewindEffect.artifacts());
      }
    };
  }
}
