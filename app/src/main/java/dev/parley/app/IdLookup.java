package dev.parley.app;

import dev.parley.client.ParleyClient;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.ContextView;
import dev.parley.protocol.PendingView;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ResultPage;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskView;
import java.util.List;
import java.util.function.Function;

/// Finds contexts, tasks and questions by their id, or by the first characters of it.
///
/// A complete id always means itself. Otherwise exactly one id must begin with the characters,
/// which are at least [#PREFIX_MIN].
final class IdLookup {

  static final int PREFIX_MIN = 4;

  private static final int PAGE = 200;
  private static final int CANDIDATES_MAX = 10;
  private static final int TITLE_MAX = 60;

  private final ParleyClient client;

  IdLookup(ParleyClient client) {
    this.client = client;
  }

  /// A task and the context it belongs to.
  record FoundContext(ContextId context, TaskId task) {}

  /// The context with this id.
  ///
  /// @throws Rejection.NotFound if there is none
  /// @throws Exit if several ids begin with `typed`
  ContextId context(String typed) {
    try {
      return client.context(new ContextId(typed)).contextId();
    } catch (Rejection.NotFound missing) {
      if (typed.length() < PREFIX_MIN) {
        throw missing;
      }
      var all = ResultPage.collect(cursor -> client.contexts(cursor, PAGE), Integer.MAX_VALUE);
      return findUnique(
              typed, "contexts", all, item -> item.contextId().value(), IdLookup::line, missing)
          .contextId();
    }
  }

  /// The context that changed last.
  ///
  /// @throws Exit if there is none
  ContextId last() {
    return client.contexts(null, 1).items().stream()
        .findFirst()
        .map(ContextView::contextId)
        .orElseThrow(
            () ->
                new CommandExit(
                    CommandExit.FAILED, "There are no contexts yet. Start one with: parley chat"));
  }

  /// The task of a context with this id.
  ///
  /// @throws Rejection.NotFound if there is none
  /// @throws Exit if several ids begin with `typed`
  TaskId task(ContextId context, String typed) {
    try {
      return client.task(context, new TaskId(typed)).taskId();
    } catch (Rejection.NotFound missing) {
      if (typed.length() < PREFIX_MIN) {
        throw missing;
      }
      return oneTask(typed, tasks(context), missing).taskId();
    }
  }

  /// The task with this id in any context. A prefix finds tasks that have not ended.
  ///
  /// @throws Rejection.NotFound if there is none
  /// @throws Exit if several ids begin with `typed`
  FoundContext openTask(String typed) {
    var id = new TaskId(typed);
    try {
      return new FoundContext(client.contextOf(id), id);
    } catch (Rejection.NotFound missing) {
      if (typed.length() < PREFIX_MIN) {
        throw missing;
      }
      var open =
          ResultPage.collect(cursor -> client.contexts(cursor, PAGE), Integer.MAX_VALUE).stream()
              .filter(context -> context.openTasks() > 0)
              .flatMap(context -> tasks(context.contextId()).stream())
              .filter(task -> !task.status().terminal())
              .toList();
      var task = oneTask(typed, open, missing);
      return new FoundContext(task.contextId(), task.taskId());
    }
  }

  /// The id of the open question; `typed` itself if no id begins with it.
  ///
  /// @throws Exit if several ids begin with `typed`
  static String question(String typed, List<PendingView> asked) {
    if (typed.length() < PREFIX_MIN || asked.stream().noneMatch(item -> begins(typed, item.id()))) {
      return typed;
    }
    var missing = new Rejection.NotFound("There is no question " + typed);
    return findUnique(typed, "questions", asked, PendingView::id, IdLookup::line, missing).id();
  }

  /// The item whose id is `typed`, or the only item whose id begins with it.
  ///
  /// @throws Exit if several ids begin with `typed`
  static <T> T findUnique(
      String typed,
      String what,
      List<T> items,
      Function<T, String> id,
      Function<T, String> line,
      Rejection.NotFound missing) {
    var found = items.stream().filter(item -> begins(typed, id.apply(item))).toList();
    var exact = found.stream().filter(item -> id.apply(item).equals(typed)).findFirst();
    if (exact.isPresent()) {
      return exact.get();
    }
    if (found.isEmpty()) {
      throw missing;
    }
    if (found.size() > 1) {
      throw new CommandExit(
          CommandExit.USAGE, ambiguous(typed, what, found.stream().map(line).toList()));
    }
    return found.getFirst();
  }

  private static String ambiguous(String typed, String what, List<String> lines) {
    var message = new StringBuilder("%d %s begin with %s:".formatted(lines.size(), what, typed));
    lines.stream().limit(CANDIDATES_MAX).forEach(line -> message.append("\n  ").append(line));
    if (lines.size() > CANDIDATES_MAX) {
      message.append("\n  and ").append(lines.size() - CANDIDATES_MAX).append(" more");
    }
    return message.toString();
  }

  private static boolean begins(String typed, String id) {
    return id.startsWith(typed);
  }

  private List<TaskView> tasks(ContextId context) {
    return ResultPage.collect(cursor -> client.tasks(context, cursor, PAGE), Integer.MAX_VALUE);
  }

  private static TaskView oneTask(String typed, List<TaskView> tasks, Rejection.NotFound missing) {
    return findUnique(
        typed, "tasks", tasks, task -> task.taskId().value(), IdLookup::line, missing);
  }

  private static String line(ContextView context) {
    var title = context.title();
    return context.contextId() + (title == null ? "" : "  " + TextSanitizer.line(title, TITLE_MAX));
  }

  private static String line(TaskView task) {
    var prompt = task.prompt();
    return "%s  %s%s"
        .formatted(
            task.taskId(),
            task.status().wire(),
            prompt == null ? "" : "  " + TextSanitizer.line(prompt, TITLE_MAX));
  }

  private static String line(PendingView item) {
    return item.id() + "  " + TextSanitizer.line(item.prompt(), TITLE_MAX);
  }
}
