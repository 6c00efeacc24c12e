package dev.parley.app;

import dev.parley.client.NewContext;
import dev.parley.client.NewMessage;
import dev.parley.client.ParleyClient;
import dev.parley.client.StreamFilter;
import dev.parley.client.TaskStream;
import dev.parley.client.Unreachable;
import dev.parley.protocol.AcceptedMessage;
import dev.parley.protocol.AgentTypeId;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.ContextId;
import dev.parley.protocol.Entry;
import dev.parley.protocol.EventJson;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputEvent.InputReceived;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.TaskState;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A conversation from a terminal: one message at a time, each followed until its task ends.
///
/// For one thread; [#interrupt] may be called by any thread.
final class TerminalChat {

  private static final Duration CANCEL_MAX = Duration.ofSeconds(5);

  /// Options of a chat; the server chooses those that are null. `server` has the command-line
  /// options that select the server.
  record Settings(
      @Nullable ContextId context,
      @Nullable AgentTypeId agent,
      @Nullable String whenBusy,
      boolean thoughts,
      boolean json,
      boolean verbose,
      String server) {}

  /// A question that the parent agent may answer first, with its entry.
  private record DeferredQuestion(Entry entry, InputRequired asked) {}

  private final Terminal terminal;
  private final ParleyClient client;
  private final Settings settings;
  private final Map<String, DeferredQuestion> deferredQuestions = new HashMap<>();
  private final TerminalInput terminalInput;
  private final TerminalQuestions terminalQuestions;
  private final StatusLine status;
  private @Nullable ContextId context;
  private @Nullable AgentTypeId agent;
  private boolean verbose;

  private final Object lock = new Object();
  // Both guarded by lock: the task that Ctrl-C cancels, and whether it was pressed.
  private @Nullable AcceptedMessage running;
  private boolean canceling;

  /// A conversation on `status.terminal()`.
  TerminalChat(
      StatusLine status, ParleyClient client, TerminalInput terminalInput, Settings settings) {
    this.terminal = status.terminal();
    this.status = status;
    this.client = client;
    this.settings = settings;
    this.terminalInput = terminalInput;
    this.terminalQuestions =
        new TerminalQuestions(terminal, client, terminalInput, settings.server());
    this.context = settings.context();
    this.agent = settings.agent();
    this.verbose = settings.verbose();
  }

  /// Continues this context; if it is null, the next message starts a new one.
  void moveTo(@Nullable ContextId next) {
    context = next;
  }

  /// Sends the next messages to this agent; if it is null, the server chooses.
  void askAgent(@Nullable AgentTypeId next) {
    agent = next;
  }

  @Nullable AgentTypeId agent() {
    return agent;
  }

  /// Turns all details on or off; true if they are now on.
  boolean toggleVerbose() {
    verbose = !verbose;
    return verbose;
  }

  @Nullable ContextId context() {
    return context;
  }

  /// Sends `text`, shows the task until it ends, and returns the exit code.
  int sendMessage(String text) throws InterruptedException {
    return sendMessage(text, agent);
  }

  /// The same for one message to the agent `asked`.
  int sendMessage(String text, @Nullable AgentTypeId asked) throws InterruptedException {
    var handled = terminalInput.onInterrupt(this::interrupt);
    var fresh = context == null;
    var to = context == null ? client.createContext(NewContext.UNTITLED).contextId() : context;
    context = to;
    try (var answer = send(to, NewMessage.text(text).to(asked), fresh)) {
      setRunning(handled ? answer.accepted() : null);
      var view = new ChatView(terminal, answer.accepted().taskId(), settings.thoughts(), verbose);
      var taskActivity = new TaskActivity(answer.accepted().taskId());
      var end = new Entry[1];
      var outcome =
          answer
              .forEach(
                  entry -> {
                    end[0] = entry;
                    show(view, entry);
                    taskActivity.add(entry);
                    ask(entry);
                    status.show(settings.json() ? null : taskActivity.text());
                  })
              .orElse(TaskState.CANCELED);
      status.show(null);
      if (!settings.json()) {
        view.end(outcome, end[0] == null ? Instant.EPOCH : end[0].timestamp());
      }
      return code(outcome);
    } finally {
      status.show(null);
      setRunning(null);
      if (terminal.errIsTerminal() && (fresh || verbose)) {
        terminal.err().println(terminal.errStyle().dim("context " + to));
      }
    }
  }

  /// Sends `message`. If the server rejects it, a context that was created for it is deleted.
  private TaskStream send(ContextId to, NewMessage message, boolean fresh) {
    try {
      var filter = StreamFilter.ALL.withInternal(verbose);
      return client.sendAndStream(to, message.whenBusy(settings.whenBusy()), filter);
    } catch (Rejection refused) {
      if (fresh) {
        context = null;
        client.deleteContext(to);
      }
      throw refused;
    }
  }

  private void show(ChatView view, Entry entry) {
    if (settings.json()) {
      terminal.out().println(EventJson.text(entry));
      terminal.out().flush();
    } else {
      view.show(entry);
    }
  }

  /// Asks the user, unless the parent agent answers first. The parent agent passes on questions
  /// that it cannot answer.
  private void ask(Entry entry) {
    var origin = entry.origin();
    var core = origin == null || origin.parentTaskId() == null;
    switch (entry.event()) {
      case InputRequired asked when core || Boolean.TRUE.equals(asked.requireUser()) ->
          withoutStatusLine(() -> terminalQuestions.ask(entry, asked));
      case InputRequired asked ->
          deferredQuestions.put(asked.inputId().value(), new DeferredQuestion(entry, asked));
      case InputReceived received -> deferredQuestions.remove(received.inputId().value());
      case InputLapsed lapsed -> deferredQuestions.remove(lapsed.inputId().value());
      case TaskStatus status when status.status() == TaskState.WAITING_INPUT -> askDeferred(status);
      case AuthRequired asked -> withoutStatusLine(() -> terminalQuestions.signIn(entry, asked));
      default -> {} // No other event asks the user.
    }
  }

  /// Asks the user the questions that no parent agent could answer.
  private void askDeferred(TaskStatus status) {
    if (!status.facts().blockedByUser()) {
      return;
    }
    for (var id : status.facts().inputIds()) {
      var asked = deferredQuestions.remove(id.value());
      if (asked != null) {
        withoutStatusLine(() -> terminalQuestions.ask(asked.entry(), asked.asked()));
      }
    }
  }

  private void withoutStatusLine(Runnable question) {
    status.show(null);
    question.run();
  }

  private void setRunning(@Nullable AcceptedMessage accepted) {
    synchronized (lock) {
      running = accepted;
      canceling = false;
    }
  }

  /// Handles Ctrl-C: cancels the running task. At a question it also ends the program, because the
  /// next typed line is not an answer. If no task runs, or Ctrl-C was pressed before, the program
  /// ends at once.
  void interrupt() {
    AcceptedMessage task;
    synchronized (lock) {
      task = canceling ? null : running;
      canceling = true;
    }
    terminal.err().println();
    if (task == null) {
      leave();
    } else if (terminalInput.reading()) {
      terminal.err().println("Canceling ...");
      cancelBriefly(task);
      leave();
    } else {
      terminal.err().println("Canceling (press Ctrl-C again to exit at once) ...");
      cancel(task);
    }
  }

  /// Exits with shutdown hooks, which make the terminal show typed text again.
  private static void leave() {
    Runtime.getRuntime().exit(CommandExit.CANCELED);
  }

  /// Cancels, but waits at most [#CANCEL_MAX] for the server.
  private void cancelBriefly(AcceptedMessage task) {
    var thread = Thread.ofPlatform().daemon().name("parley-cancel").start(() -> cancel(task));
    try {
      if (!thread.join(CANCEL_MAX)) {
        terminal.err().println("The server does not answer; the task may still be waiting.");
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void cancel(AcceptedMessage task) {
    try {
      client.cancel(task.contextId(), task.taskId());
    } catch (Rejection | Unreachable failure) {
      terminal.err().println(TextSanitizer.text("Cannot cancel: " + failure.getMessage()));
    }
  }

  private static int code(TaskState outcome) {
    return switch (outcome) {
      case COMPLETED -> 0;
      case CANCELED -> CommandExit.CANCELED;
      case FAILED, SUBMITTED, WORKING, WAITING_INPUT, WAITING_AUTH, WAITING_SUBTASK ->
          CommandExit.FAILED;
    };
  }
}
