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
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Shows a task as it runs: the answer on standard output, everything else on standard error.
///
/// If standard error is not a terminal, only the answer is shown. For one thread.
final class ChatView {

  private static final int NAME_MAX = 80;
  private static final int LINE_MAX = 80;
  private static final int ERROR_MAX = 300;

  private final Terminal terminal;
  private final Style style;
  private final TaskId root;
  private final boolean thoughts;
  private final boolean verbose;
  private final EventLine details;
  private final @Nullable Markdown markdown;
  private final ToolLines tools = new ToolLines();
  private final List<String> handed = new ArrayList<>();
  private final Speakers speakers;
  private final Bill bill = new Bill();

  private final Map<String, Instant> started = new HashMap<>();
  private final Map<String, String> artifacts = new LinkedHashMap<>();
  private Cursor cursor = Cursor.LINE_START;
  private @Nullable ThoughtId thinking;
  private boolean spoke;
  private boolean oneVoice;
  private boolean handedOver;
  private @Nullable String reply;
  private @Nullable String finishReason;
  private @Nullable String failure;
  private @Nullable Instant begin;

  /// Where the cursor is: at the start of a line, or after a part of an answer or a thought.
  private enum Cursor {
    LINE_START,
    IN_ANSWER,
    IN_THOUGHT
  }

  /// A view of the task `root` and its subtasks: with the agents' thoughts if `thoughts` is set,
  /// and with all events if `verbose` is set.
  ChatView(Terminal terminal, TaskId root, boolean thoughts, boolean verbose) {
    this.terminal = terminal;
    this.style = terminal.errStyle();
    this.root = root;
    this.thoughts = thoughts || verbose;
    this.verbose = verbose;
    this.details = new EventLine(new Style(false), ZoneId.systemDefault());
    this.markdown =
        terminal.outStyle().coloured()
            ? new Markdown(
                text -> {
                  terminal.out().print(text);
                  terminal.out().flush();
                })
            : null;
    this.speakers = new Speakers(root);
  }

  void show(Entry entry) {
    var own = root.equals(entry.taskId());
    switch (entry.event()) {
      case TaskCreated _ -> begin(entry);
      case SubtaskCreated created -> handOver(entry, created);
      default -> {
        tellHandedOver(entry);
        show(entry, own);
      }
    }
  }

  private void show(Entry entry, boolean own) {
    switch (entry.event()) {
      case ContentDelta delta when answers(entry) -> say(delta.delta());
      case ContentComplete complete when answers(entry) -> endBlock(complete);
      case ContentDelta delta when verbose ->
          speakers.say(entry, delta).forEach(line -> murmur(entry, line));
      case ContentComplete complete when verbose ->
          speakers.finish(entry, complete).forEach(line -> murmur(entry, line));
      case ThoughtStream thought when thoughts && !thought.internal() -> think(entry, thought);
      case ToolStart start -> {
        tools.start(start, entry.timestamp());
        if (verbose) {
          var arguments = Clean.line(start.arguments().toString(), Integer.MAX_VALUE);
          note(entry, "* " + Clean.line(start.toolName(), NAME_MAX) + " " + arguments);
        }
      }
      case ToolProgress progress when verbose ->
          note(
              entry,
              "  %s %s"
                  .formatted(EventLine.percent(progress.progress()), line(progress.message())));
      case ToolComplete complete ->
          (verbose
                  ? tools.verboseEnd(complete, entry.timestamp())
                  : tools.end(complete, entry.timestamp()))
              .forEach(line -> note(entry, line));
      case SubtaskComplete complete -> handBack(entry, complete);
      case Usage usage -> {
        bill.add(usage);
        detail(entry);
      }
      case TaskStatus status -> status(entry, own, status);
      case Message message when own -> {
        reply = message.content();
        finishReason(message.metadata());
      }
      case ArtifactEvent artifact -> artifact(artifact);
      // The class that asks the user also shows the question.
      case InputRequired _, AuthRequired _ -> {
        if (own) {
          breakLine();
        } else if (verbose) {
          note(entry, "asks");
        }
      }
      case ErrorReported error -> {
        failure = error.code().wire() + ": " + Clean.line(error.message(), ERROR_MAX);
        detail(entry);
      }
      case TaskComplete complete when own -> {
        reply = reply == null ? complete.content() : reply;
        finishReason(complete.metadata());
      }
      // Other events are only details.
      default -> detail(entry);
    }
  }

  private void detail(Entry entry) {
    if (verbose) {
      note(details.of(entry).strip());
    }
  }

  private void finishReason(@Nullable ObjectNode metadata) {
    if (metadata != null && metadata.path("finishReason").isString()) {
      finishReason = metadata.path("finishReason").asString();
    }
  }

  private void handOver(Entry entry, SubtaskCreated created) {
    var subtask = created.subtaskId();
    started.put(subtask.value(), entry.timestamp());
    var name = speakers.introduce(subtask, created.agentId(), entry.taskId());
    if (verbose) {
      note(entry, "> " + name + ": " + line(created.prompt()));
    } else {
      handed.add(name);
    }
  }

  /// Prints the subtasks that were created together as one line.
  private void tellHandedOver(Entry entry) {
    if (!handed.isEmpty()) {
      var first =
          begin == null || handedOver ? "" : ", " + Durations.between(begin, entry.timestamp());
      handedOver = true;
      note("→ " + String.join(", ", handed) + first);
      handed.clear();
    }
  }

  private void handBack(Entry entry, SubtaskComplete complete) {
    var name = speakers.introduce(complete.subtaskId(), null, entry.taskId());
    var took = since(complete.subtaskId().value(), entry.timestamp());
    if (verbose) {
      note(entry, "< %s %s %s".formatted(name, complete.status().wire(), took));
    } else if (complete.status() == TaskState.FAILED) {
      var error = complete.error() == null ? "" : ": " + line(complete.error());
      note("✗ " + name + ", " + took + error);
    } else if (complete.status() == TaskState.COMPLETED && !oneVoice) {
      note("✓ " + name + ", " + took);
    }
  }

  /// Ends the answer with a line break, and prints how the task ended.
  void end(TaskState outcome, Instant now) {
    if (!spoke && reply != null && outcome == TaskState.COMPLETED) {
      say(reply);
    }
    endAnswer();
    breakLine();
    artifacts.values().forEach(label -> note("+ " + label));
    var took = begin == null ? "" : " after " + Durations.between(begin, now);
    switch (outcome) {
      case COMPLETED -> {
        endedEarly();
        note("done" + took + bill.text());
      }
      case FAILED -> fail("The task failed" + (failure == null ? "" : ": " + failure));
      case CANCELED -> fail("The task was canceled" + took);
      case SUBMITTED, WORKING, WAITING_INPUT, WAITING_AUTH, WAITING_SUBTASK ->
          throw new IllegalArgumentException("a task does not end as " + outcome);
    }
  }

  /// Reports an incomplete answer, even if standard error is not a terminal.
  private void endedEarly() {
    if (finishReason == null) {
      return;
    }
    var why =
        switch (finishReason) {
          case "length" -> "the model reached its output limit";
          case "content-filter" -> "the content filter of the model's provider stopped it";
          case "refusal" -> "the model refused to continue";
          default -> Clean.line(finishReason, NAME_MAX);
        };
    terminal.err().println(style.yellow("The answer ended early: " + why + "."));
  }

  private void begin(Entry entry) {
    if (begin == null) {
      begin = entry.timestamp();
    }
  }

  /// True if the text of this entry belongs to the answer: it is from the task itself, or from the
  /// only agent that it delegated to.
  private boolean answers(Entry entry) {
    var origin = entry.origin();
    return root.equals(entry.taskId())
        || (oneVoice && origin != null && root.equals(origin.parentTaskId()));
  }

  /// Prints a line of a sub-agent's text.
  private void murmur(Entry entry, String line) {
    note(entry, Clean.text(line));
  }

  private void note(Entry entry, String line) {
    var prefix = !verbose && answers(entry) ? "" : speakers.prefix(entry);
    note(prefix + line);
  }

  private void say(String text) {
    if (cursor == Cursor.IN_THOUGHT) {
      breakLine();
    }
    spoke = true;
    if (markdown != null) {
      markdown.add(text);
      cursor = markdown.midLine() ? Cursor.IN_ANSWER : Cursor.LINE_START;
      return;
    }
    terminal.out().print(terminal.outIsTerminal() ? Clean.text(text) : text);
    terminal.out().flush();
    cursor = text.endsWith("\n") ? Cursor.LINE_START : Cursor.IN_ANSWER;
  }

  private void endBlock(ContentComplete complete) {
    endAnswer();
    if (complete.finishReason() == FinishReason.INTERRUPTED) {
      note("  (interrupted; asking again)");
    }
  }

  /// Prints the rest of the answer, and ends its last line.
  private void endAnswer() {
    flushMarkdown();
    if (cursor == Cursor.IN_ANSWER) {
      terminal.out().println();
      terminal.out().flush();
      cursor = Cursor.LINE_START;
    }
  }

  private void flushMarkdown() {
    if (markdown != null && markdown.pending()) {
      markdown.end();
      cursor = markdown.midLine() ? Cursor.IN_ANSWER : Cursor.LINE_START;
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

  /// Moves to a new line of the screen. A piped answer gets no line break.
  private void breakLine() {
    flushMarkdown();
    if (cursor == Cursor.IN_THOUGHT || (cursor == Cursor.IN_ANSWER && terminal.outIsTerminal())) {
      terminal.err().println();
      cursor = Cursor.LINE_START;
    }
  }

  private void status(Entry entry, boolean own, TaskStatus status) {
    var metadata = status.metadata();
    if (own && metadata != null && metadata.has("routing")) {
      var routing = metadata.path("routing");
      var strategy = routing.path("strategy").asString("");
      oneVoice = strategy.equals("single") || strategy.equals("delegate");
      if (verbose) {
        note("> " + strategy + " " + line(routing.path("reasoning").asString("")));
      }
    } else if (own && status.status() == TaskState.FAILED && failure == null) {
      failure = status.message() == null ? null : Clean.line(status.message(), ERROR_MAX);
    } else if (status.message() != null && !status.status().terminal()) {
      // A status line, if there is one, shows this.
      if (verbose || !terminal.hasStatusLine()) {
        note(entry, "  " + status.status().wire() + ": " + line(status.message()));
      }
    } else if (own && status.status() == TaskState.SUBMITTED) {
      note("  waiting for its turn");
    } else {
      detail(entry);
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
    return type + " " + (name == null ? "" : Clean.line(name, NAME_MAX) + " ") + "(" + id + ")";
  }

  private String since(String id, Instant now) {
    var start = started.remove(id);
    return start == null ? "" : Durations.between(start, now);
  }

  private static String line(@Nullable String text) {
    return text == null ? "" : Clean.line(text, LINE_MAX);
  }
}
