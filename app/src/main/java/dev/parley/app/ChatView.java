package dev.parley.app;

import dev.parley.protocol.ArtifactEvent;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.MessageEvent.Message;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.SubtaskEvent.SubtaskComplete;
import dev.parley.protocol.SubtaskEvent.SubtaskCreated;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ThoughtId;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolProgress;
import dev.parley.protocol.ToolEvent.ToolStart;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Shows a task as it runs: the answer on standard output, what leads to it on standard error.
///
/// Where standard error is no terminal, only the answer is shown. For one thread.
final class ChatView {

  private static final int ARGUMENTS_MAX = 80;
  private static final int ERROR_MAX = 300;

  private final Terminal terminal;
  private final Style style;
  private final TaskId root;
  private final boolean thoughts;
  private final Speakers speakers;
  private final Bill bill = new Bill();

  private final Map<String, Instant> started = new HashMap<>();
  private final Map<String, String> artifacts = new LinkedHashMap<>();
  private Cursor cursor = Cursor.LINE_START;
  private @Nullable ThoughtId thinking;
  private boolean spoke;
  private boolean oneVoice;
  private @Nullable String reply;
  private @Nullable String failure;
  private @Nullable Instant begin;

  /// What the last thing on the screen was.
  private enum Cursor {
    LINE_START,
    IN_ANSWER,
    IN_THOUGHT
  }

  /// A view of the task `root` and all below it, with what they think if `thoughts` are wanted.
  ChatView(Terminal terminal, TaskId root, boolean thoughts) {
    this.terminal = terminal;
    this.style = terminal.errStyle();
    this.root = root;
    this.thoughts = thoughts;
    this.speakers = new Speakers(root);
  }

  void show(Entry entry) {
    var own = root.equals(entry.taskId());
    switch (entry.event()) {
      case TaskCreated _ -> begin(entry);
      case ContentDelta delta when answers(entry) -> say(delta.delta());
      case ContentComplete complete when answers(entry) -> endBlock(complete);
      case ContentDelta delta -> speakers.say(entry, delta).forEach(line -> murmur(entry, line));
      case ContentComplete complete ->
          speakers.finish(entry, complete).forEach(line -> murmur(entry, line));
      case ThoughtStream thought when thoughts -> think(entry, thought);
      case ToolStart start -> {
        started.put(start.toolCallId().value(), entry.timestamp());
        var arguments = Clean.line(start.arguments().toString(), ARGUMENTS_MAX);
        note(entry, "* " + Clean.line(start.toolName(), ARGUMENTS_MAX) + " " + arguments);
      }
      case ToolProgress progress ->
          note(
              entry,
              "  %s %s"
                  .formatted(EventLine.percent(progress.progress()), line(progress.message())));
      case ToolComplete complete -> note(entry, toolEnd(complete, entry.timestamp()));
      case SubtaskCreated created -> {
        var subtask = created.subtaskId();
        started.put(subtask.value(), entry.timestamp());
        var name = speakers.introduce(subtask, created.agentId(), entry.taskId());
        note(entry, "> " + name + ": " + line(created.prompt()));
      }
      case SubtaskComplete complete ->
          note(
              entry,
              "< %s %s %s"
                  .formatted(
                      speakers.introduce(complete.subtaskId(), null, entry.taskId()),
                      complete.status().wire(),
                      since(complete.subtaskId().value(), entry.timestamp())));
      case Usage usage -> bill.add(usage);
      case TaskStatus status -> status(entry, own, status);
      case Message message when own -> reply = message.content();
      case ArtifactEvent artifact -> artifact(artifact);
      // Whoever asks the person shows what is asked.
      case InputRequired _, AuthRequired _ -> {
        if (own) {
          breakLine();
        } else {
          note(entry, "asks");
        }
      }
      case ErrorReported error ->
          failure = error.code().wire() + ": " + Clean.line(error.message(), ERROR_MAX);
      case TaskComplete complete when own && reply == null -> reply = complete.content();
      // The rest is bookkeeping, or of a kind that nobody at a prompt waits for.
      default -> {}
    }
  }

  /// Ends the answer with a line break, and says how the task ended.
  void end(TaskState outcome, Instant now) {
    if (!spoke && reply != null && outcome == TaskState.COMPLETED) {
      say(reply);
    }
    if (cursor == Cursor.IN_ANSWER) {
      terminal.out().println();
      terminal.out().flush();
      cursor = Cursor.LINE_START;
    }
    breakLine();
    artifacts.values().forEach(label -> note("+ " + label));
    var took = begin == null ? "" : " after " + Durations.between(begin, now);
    switch (outcome) {
      case COMPLETED -> note("done" + took + bill.text());
      case FAILED -> fail("The task failed" + (failure == null ? "" : ": " + failure));
      case CANCELED -> fail("The task was cancelled" + took);
      case SUBMITTED, WORKING, WAITING_INPUT, WAITING_AUTH, WAITING_SUBTASK ->
          throw new IllegalArgumentException("a task does not end as " + outcome);
    }
  }

  private void begin(Entry entry) {
    if (begin == null) {
      begin = entry.timestamp();
    }
  }

  /// True if what is said belongs to the answer: by the task itself, or by the one that it left the
  /// word to.
  private boolean answers(Entry entry) {
    var origin = entry.origin();
    return root.equals(entry.taskId())
        || (oneVoice && origin != null && root.equals(origin.parentTaskId()));
  }

  /// A line that a sub-agent says.
  private void murmur(Entry entry, String line) {
    note(entry, Clean.text(line));
  }

  private void note(Entry entry, String line) {
    note(speakers.prefix(entry) + line);
  }

  private void say(String text) {
    if (cursor == Cursor.IN_THOUGHT) {
      breakLine();
    }
    terminal.out().print(terminal.outIsTerminal() ? Clean.text(text) : text);
    terminal.out().flush();
    spoke = true;
    cursor = text.endsWith("\n") ? Cursor.LINE_START : Cursor.IN_ANSWER;
  }

  private void endBlock(ContentComplete complete) {
    if (cursor == Cursor.IN_ANSWER) {
      terminal.out().println();
      terminal.out().flush();
      cursor = Cursor.LINE_START;
    }
    if (complete.finishReason() == FinishReason.INTERRUPTED) {
      note("  (interrupted; asking again)");
    }
  }

  private void think(Entry entry, ThoughtStream thought) {
    if (terminal.errIsTerminal()) {
      if (cursor == Cursor.IN_ANSWER || !thought.thoughtId().equals(thinking)) {
        breakLine();
        terminal.err().print(style.dim(speakers.prefix(entry)));
      }
      thinking = thought.thoughtId();
      terminal.err().print(style.dim(Clean.text(thought.content())));
      terminal.err().flush();
      cursor = thought.content().endsWith("\n") ? Cursor.LINE_START : Cursor.IN_THOUGHT;
    }
  }

  private void note(String line) {
    if (terminal.errIsTerminal()) {
      breakLine();
      terminal.err().println(style.dim(line.stripTrailing()));
      cursor = Cursor.LINE_START;
    }
  }

  private void fail(String line) {
    breakLine();
    terminal.err().println(style.red(line));
  }

  /// Goes to a new line of the screen. The answer itself gets no line break where it is piped.
  private void breakLine() {
    if (cursor == Cursor.IN_THOUGHT || (cursor == Cursor.IN_ANSWER && terminal.outIsTerminal())) {
      terminal.err().println();
      cursor = Cursor.LINE_START;
    }
  }

  private void status(Entry entry, boolean own, TaskStatus status) {
    if (own && status.metadata() != null && status.metadata().has("routing")) {
      var routing = status.metadata().path("routing");
      var strategy = routing.path("strategy").asString("");
      oneVoice = strategy.equals("single") || strategy.equals("delegate");
      note("> " + strategy + " " + line(routing.path("reasoning").asString("")));
    } else if (own && status.status() == TaskState.FAILED && failure == null) {
      failure = status.message() == null ? null : Clean.line(status.message(), ERROR_MAX);
    } else if (status.message() != null && !status.status().terminal()) {
      note(entry, "  " + status.status().wire() + ": " + line(status.message()));
    } else if (own && status.status() == TaskState.SUBMITTED) {
      note("  waiting for its turn");
    }
  }

  private void artifact(ArtifactEvent event) {
    var id = event.artifactId().value();
    var label =
        switch (event) {
          case ArtifactEvent.FileWrite file -> label("file", file.name(), id);
          case ArtifactEvent.DataWrite data -> label("data", data.name(), id);
          case ArtifactEvent.DatasetWrite dataset -> label("dataset", dataset.name(), id);
        };
    artifacts.putIfAbsent(id, label);
  }

  private static String label(String type, @Nullable String name, String id) {
    return type
        + " "
        + (name == null ? "" : Clean.line(name, ARGUMENTS_MAX) + " ")
        + "("
        + id
        + ")";
  }

  private String toolEnd(ToolComplete complete, Instant now) {
    var took = since(complete.toolCallId().value(), now);
    return complete.success()
        ? "  ok " + took
        : "  failed " + took + (complete.error() == null ? "" : ": " + line(complete.error()));
  }

  private String since(String id, Instant now) {
    var start = started.remove(id);
    return start == null ? "" : Durations.between(start, now);
  }

  private static String line(@Nullable String text) {
    return text == null ? "" : Clean.line(text, ARGUMENTS_MAX);
  }
}
