package dev.parley.door.a2a;

import dev.parley.a2a.Version;
import dev.parley.a2a.WireMessage;
import dev.parley.a2a.WirePart;
import dev.parley.a2a.WireTask;
import dev.parley.door.Voice;
import dev.parley.log.EventLog;
import dev.parley.protocol.MessageId;
import dev.parley.protocol.Position;
import dev.parley.view.TaskView;
import dev.parley.view.Views;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Shows root tasks of the log as A2A has tasks.
public final class TaskForm {

  private static final int READ = 512;

  private final EventLog log;
  private final Views views;
  private final Voice voice;

  public TaskForm(EventLog log, Views views) {
    this.log = log;
    this.views = views;
    this.voice = new Voice(log, views);
  }

  /// Right before the message that a root task answers, where its fold begins.
  public static Position before(TaskView task) {
    return Position.of(Math.max(0, task.seq() - 2));
  }

  /// The fold of a root task, with nothing taken in: entries after [#before] come first.
  public TaskFold begin(TaskView task, Version version) {
    var marks =
        new Marks(task.contextId(), task.taskId(), task.agentId(), log.owner(task.contextId()));
    return new TaskFold(voice, marks, version);
  }

  /// The fold of a root task that has taken in all that there is now of it.
  public TaskFold now(TaskView task, Version version) {
    var fold = begin(task, version);
    var position = before(task);
    for (var page = log.read(task.contextId(), position, READ);
        !page.isEmpty() && !fold.state().terminal();
        page = log.read(task.contextId(), position, READ)) {
      for (var entry : page) {
        fold.take(entry);
        position = entry.position();
        if (fold.state().terminal()) {
          break;
        }
      }
    }
    return fold;
  }

  /// A root task at one position: now.
  public WireTask snapshot(
      TaskView task, Version version, @Nullable Integer historyLength, boolean artifacts) {
    return edited(task, now(task, version).task(historyLength, artifacts));
  }

  /// The task without what was hidden since, and with what was edited.
  WireTask edited(TaskView task, WireTask shown) {
    var history = shown.history();
    var first = task.messageId();
    if (history == null || history.isEmpty() || first == null) {
      return shown;
    }
    var now = new ArrayList<>(history);
    var place = indexOf(now, first);
    if (place >= 0) {
      var message = views.message(task.contextId(), first);
      if (message.isEmpty()) {
        now.remove(place);
      } else if (message.get().editedAt() != null) {
        var said = now.get(place);
        now.set(
            place,
            new WireMessage(
                said.messageId(),
                said.contextId(),
                said.taskId(),
                said.role(),
                List.of(WirePart.text(message.get().content())),
                said.metadata()));
      }
    }
    return new WireTask(
        shown.id(), shown.contextId(), shown.status(), shown.artifacts(), now, shown.metadata());
  }

  private static int indexOf(List<WireMessage> history, MessageId id) {
    for (var i = 0; i < history.size(); i++) {
      if (history.get(i).messageId().equals(id.value())) {
        return i;
      }
    }
    return -1;
  }
}
