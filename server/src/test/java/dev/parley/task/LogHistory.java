package dev.parley.task;

import dev.parley.log.EventLog;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.ContextEvent.ContextRewound;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.Id;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.MessageView;
import dev.parley.protocol.Position;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// A context's history, read directly from the log.
public record LogHistory(EventLog log) implements ContextHistory {

  @Override
  public List<MessageView> latestMessages(ContextId context, int limit) {
    var messages = new ArrayList<MessageView>();
    for (var entry : entries(context)) {
      if (entry.event() instanceof ContextRewound rewound) {
        messages.removeIf(message -> message.seq() > rewound.toSeq());
      } else if (entry.event() instanceof Message message) {
        messages.add(view(entry, message));
      }
    }
    return messages.subList(Math.max(0, messages.size() - limit), messages.size());
  }

  @Override
  public boolean hasTask(ContextId context, TaskId task) {
    return entries(context).stream()
        .anyMatch(e -> e.event() instanceof TaskCreated && task.equals(e.taskId()));
  }

  @Override
  public Optional<TaskId> askingTask(ContextId context, Id asked) {
    return entries(context).stream()
        .filter(
            e ->
                switch (e.event()) {
                  case InputRequired input -> input.inputId().equals(asked);
                  case AuthRequired auth -> auth.authId().equals(asked);
                  default -> false;
                })
        .findFirst()
        .map(Entry::taskId);
  }

  private List<Entry> entries(ContextId context) {
    return log.read(context, Position.START, Integer.MAX_VALUE);
  }

  private static MessageView view(Entry entry, Message message) {
    return new MessageView(
        message.messageId(),
        entry.position().seq(),
        message.role(),
        message.content(),
        message.parts(),
        entry.taskId(),
        entry.origin() == null ? null : entry.origin().agentId(),
        entry.timestamp(),
        null,
        message.metadata());
  }
}
