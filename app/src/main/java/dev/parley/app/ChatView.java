package dev.parley.app;

import dev.parley.app.Terminal.TextStyle;
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
import dev.parley.protocol.RoutingStrategy;
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
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Shows a task as it runs: the answer on standard output, everything else on standard error.
///
/// If standard error is not a terminal, only the answer is shown. For one thread.
final class ChatView {

  private static final int NAME_MAX = 80;
  private static final int LINE_MAX = 80;
  private static final int ERROR_MAX = 300;

  private final Terminal terminal;
  private final TextStyle textStyle;
  private final TaskId root;
  private final boolean thoughts;
  private final boolean verbose;
  private final EventText details;
  private final @Nullable MarkdownPrinter markdownPrinter;
  private final ToolCallLines tools = new ToolCallLines();
  private final List<String> newSubagents = new ArrayList<>();
  private final SubagentNames subagents;
  private final TaskTreeCost cost = new TaskTreeCost();

  private final Map<String, Instant> started = new HashMap<>();
  private final Map<String, String> artifacts = new LinkedHashMap<>();
  private Cursor cursor = Cursor.LINE_START;
  private @Nullable ThoughtId lastThought;
  private boolean answerPrinted;
  private boolean singleAgent;
  private boolean delegated;
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
    this.textStyle = terminal.errStyle();
    this.root = root;
    this.thoughts = thoughts || verbose;
    this.verbose = verbose;
    this.details = new EventText(new TextStyle(false), ZoneId.systemDefault());
    this.markdownPrinter =
        terminal.outStyle().coloured()
            ? new MarkdownPrinter(
                text -> {
                  terminal.out().print(text);
                  terminal.out().flush();
                })
            : null;
    this.subagents = new SubagentNames(root);
  }

  void show(Entry entry) {
    var own = root.equals(entry.taskId());
    switch (entry.event()) {
      case TaskCreated _ -> begin(entry);
      case SubtaskCreated created -> subtaskStarted(entry, created);
      default -> {
        printDelegations(entry);
        show(entry, own);
      }
    }
  }

  private void show(Entry entry, boolean own) {
    switch (entry.event()) {
      case ContentDelta delta when belongsToAnswer(entry) -> printAnswer(delta.delta());
      case ContentComplete complete when belongsToAnswer(entry) -> endBlock(complete);
      case ContentDelta delta when verbose ->
          subagents.addText(entry, delta).forEach(line -> printSubagentLine(entry, line));
      case ContentComplete complete when verbose ->
          subagents.endBlock(entry, complete).forEach(line -> printSubagentLine(entry, line));
      case ThoughtStream thought when thoughts && !thought.internal() ->
          printThought(entry, thought);
      case ToolStart start -> {
        tools.start(start, entry.timestamp());
        if (verbose) {
          var arguments = TextSanitizer.line(start.arguments().toString(), Integer.MAX_VALUE);
          note(entry, "* " + TextSanitizer.line(start.toolName(), NAME_MAX) + " " + arguments);
        }
      }
      case ToolProgress progress when verbose ->
          note(
              entry,
              "  %s %s"
                  .formatted(EventText.percent(progress.progress()), line(progress.message())));
      case ToolComplete complete ->
          (verbose
                  ? tools.verboseEnd(complete, entry.timestamp())
                  : tools.end(complete, entry.timestamp()))
              .forEach(line -> note(entry, line));
      case SubtaskComplete complete -> subtaskEnded(entry, complete);
      case Usage usage -> {
        cost.add(usage);
        detail(entry);
      }
      case TaskStatus status -> status(entry, own, status);
      case Message message when own -> {
        reply = message.content();
        finishReason = message.facts().finishReason().orElse(finishReason);
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
        failure = error.code().wire() + ": " + TextSanitizer.line(error.message(), ERROR_MAX);
        detail(entry);
      }
      case TaskComplete complete when own -> {
        reply = reply == null ? complete.content() : reply;
        finishReason = complete.facts().finishReason().orElse(finishReason);
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

  private void subtaskStarted(Entry entry, SubtaskCreated created) {
    var subtask = created.subtaskId();
    started.put(subtask.value(), entry.timestamp());
    var name = subagents.assignName(subtask, created.agentId(), entry.taskId());
    if (verbose) {
      note(entry, "> " + name + ": " + line(created.prompt()));
    } else {
      newSubagents.add(name);
    }
  }

  /// Prints the subtasks that were created together as one line.
  private void printDelegations(Entry entry) {
    if (!newSubagents.isEmpty()) {
      var first =
          begin == null || delegated ? "" : ", " + HumanUnits.between(begin, entry.timestamp());
      delegated = true;
      note("→ " + String.join(", ", newSubagents) + first);
      newSubagents.clear();
    }
  }

  private void subtaskEnded(Entry entry, SubtaskComplete complete) {
    var name = subagents.assignName(complete.subtaskId(), null, entry.taskId());
    var took = since(complete.subtaskId().value(), entry.timestamp());
    if (verbose) {
      note(entry, "< %s %s %s".formatted(name, complete.status().wire(), took));
    } else if (complete.status() == TaskState.FAILED) {
      var error = complete.error() == null ? "" : ": " + line(complete.error());
      note("✗ " + name + ", " + took + error);
    } else if (complete.status() == TaskState.COMPLETED && !singleAgent) {
      note("✓ " + name + ", " + took);
    }
  }

  /// Ends the answer with a line break, and prints how the task ended.
  void end(TaskState outcome, Instant now) {
    if (!answerPrinted && reply != null && outcome == TaskState.COMPLETED) {
      printAnswer(reply);
    }
    endAnswer();
    breakLine();
    artifacts.values().forEach(label -> note("+ " + label));
    var took = begin == null ? "" : " after " + HumanUnits.between(begin, now);
    switch (outcome) {
      case COMPLETED -> {
        printEarlyEnd();
        note("done" + took + cost.text());
      }
      case FAILED -> fail("The task failed" + (failure == null ? "" : ": " + failure));
      case CANCELED -> fail("The task was canceled" + took);
      case SUBMITTED, WORKING, WAITING_INPUT, WAITING_AUTH, WAITING_SUBTASK ->
          throw new IllegalArgumentException("a task does not end as " + outcome);
    }
  }

  /// Reports an incomplete answer, even if standard error is not a terminal.
  private void printEarlyEnd() {
    if (finishReason == null) {
      return;
    }
    var why =
        switch (finishReason) {
          case "length" -> "the model reached its output limit";
          case "content-filter" -> "the content filter of the model's provider stopped it";
          case "refusal" -> "the model refused to continue";
          default -> TextSanitizer.line(finishReason, NAME_MAX);
        };
    terminal.err().println(textStyle.yellow("The answer ended early: " + why + "."));
  }

  private void begin(Entry entry) {
    if (begin == null) {
      begin = entry.timestamp();
    }
  }

  /// True if the text of this entry belongs to the answer: it is from the task itself, or from the
  /// only agent that it delegated to.
  private boolean belongsToAnswer(Entry entry) {
    var origin = entry.origin();
    return root.equals(entry.taskId())
        || (singleAgent && origin != null && root.equals(origin.parentTaskId()));
  }

  /// Prints a line of a sub-agent's text.
  private void printSubagentLine(Entry entry, String line) {
    note(entry, TextSanitizer.text(line));
  }

  private void note(Entry entry, String line) {
    var prefix = !verbose && belongsToAnswer(entry) ? "" : subagents.prefix(entry);
    note(prefix + line);
  }

  private void printAnswer(String text) {
    if (cursor == Cursor.IN_THOUGHT) {
      breakLine();
    }
    answerPrinted = true;
    if (markdownPrinter != null) {
      markdownPrinter.add(text);
      cursor = markdownPrinter.midLine() ? Cursor.IN_ANSWER : Cursor.LINE_START;
      return;
    }
    terminal.out().print(terminal.outIsTerminal() ? TextSanitizer.text(text) : text);
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
    if (markdownPrinter != null && markdownPrinter.pending()) {
      markdownPrinter.end();
      cursor = markdownPrinter.midLine() ? Cursor.IN_ANSWER : Cursor.LINE_START;
    }
  }

  private void printThought(Entry entry, ThoughtStream thought) {
    if (terminal.errIsTerminal()) {
      if (cursor == Cursor.IN_ANSWER || !thought.thoughtId().equals(lastThought)) {
        breakLine();
        terminal.err().print(textStyle.dim(subagents.prefix(entry)));
      }
      lastThought = thought.thoughtId();
      terminal.err().print(textStyle.dim(TextSanitizer.text(thought.content())));
      terminal.err().flush();
      cursor = thought.content().endsWith("\n") ? Cursor.LINE_START : Cursor.IN_THOUGHT;
    }
  }

  private void note(String line) {
    if (terminal.errIsTerminal()) {
      breakLine();
      terminal.err().println(textStyle.dim(line.stripTrailing()));
      cursor = Cursor.LINE_START;
    }
  }

  private void fail(String line) {
    breakLine();
    terminal.err().println(textStyle.red(line));
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
    var routing = status.facts().routing().orElse(null);
    if (own && routing != null) {
      singleAgent = routing.delegatesToOneAgent();
      if (verbose) {
        var strategy = routing.strategy().map(RoutingStrategy::wire).orElse("");
        note("> " + strategy + " " + line(routing.reasoning()));
      }
    } else if (own && status.status() == TaskState.FAILED && failure == null) {
      failure = status.message() == null ? null : TextSanitizer.line(status.message(), ERROR_MAX);
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
    return type
        + " "
        + (name == null ? "" : TextSanitizer.line(name, NAME_MAX) + " ")
        + "("
        + id
        + ")";
  }

  private String since(String id, Instant now) {
    var start = started.remove(id);
    return start == null ? "" : HumanUnits.between(start, now);
  }

  private static String line(@Nullable String text) {
    return text == null ? "" : TextSanitizer.line(text, LINE_MAX);
  }

  /// The cost of a task and all its subtasks. For one thread.
  static final class TaskTreeCost {

    private static final int DECIMALS = 4;

    private long tokens;
    private @Nullable BigDecimal cost;

    void add(Usage usage) {
      tokens += usage.totalTokens();
      if (usage.costUsd() != null) {
        cost = cost == null ? usage.costUsd() : cost.add(usage.costUsd());
      }
    }

    /// For example `, 8 tokens, $0.0012`; empty if no model was called.
    String text() {
      if (tokens == 0) {
        return "";
      }
      return ", "
          + tokens
          + " tokens"
          + (cost == null
              ? ""
              : ", $" + cost.setScale(DECIMALS, RoundingMode.HALF_UP).toPlainString());
    }
  }
}
