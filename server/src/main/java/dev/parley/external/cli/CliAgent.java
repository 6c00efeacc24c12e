package dev.parley.external.cli;

import dev.parley.agent.ConversationMemory;
import dev.parley.agent.TaskQuestion;
import dev.parley.agent.TaskQuestion.ApprovalDecision;
import dev.parley.log.ContextState;
import dev.parley.log.EventLog;
import dev.parley.protocol.Event;
import dev.parley.protocol.InputEvent.InputLapsed;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Json;
import dev.parley.protocol.QuestionFacts;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.StatusFacts;
import dev.parley.protocol.TaskState;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.task.Agent;
import dev.parley.task.TaskOutcome;
import dev.parley.task.TaskRun;
import dev.parley.tool.process.ManagedProcesses;
import dev.parley.tool.process.ProcessIsolation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// An agent that runs a separate program, started anew for each task.
///
/// The log contains what the program wrote and did. The program keeps its own conversation in a
/// session, which the next task resumes. After a crash the program is gone: the agent resumes its
/// session and describes what happened. The same prompt is never sent twice.
public final class CliAgent implements Agent {

  private static final int STARTS_MAX = 4;

  /// The shared dependencies of command-line agents; `patience` is how long an agent waits for the
  /// answer of a person,
  /// and `isolation` is what their program may use.
  public record CliAgentDependencies(
      ManagedProcesses children,
      EventLog log,
      ConversationMemory memory,
      Duration patience,
      ProcessIsolation isolation) {

    /// The dependencies of agents without settings for isolation.
    public CliAgentDependencies(
        ManagedProcesses children, EventLog log, ConversationMemory memory, Duration patience) {
      this(children, log, memory, patience, ProcessIsolation.AGENTS);
    }

    /// The dependencies of an agent whose program may use this.
    public CliAgentDependencies with(ProcessIsolation other) {
      return new CliAgentDependencies(children, log, memory, patience, other);
    }
  }

  private final CliSettings settings;
  private final CliAgentDependencies cliAgentDependencies;
  private final ExternalSessions externalSessions;

  public CliAgent(CliSettings settings, CliAgentDependencies cliAgentDependencies) {
    this.settings = settings;
    this.cliAgentDependencies = cliAgentDependencies;
    this.externalSessions =
        new ExternalSessions(cliAgentDependencies.log(), cliAgentDependencies.memory());
  }

  @Override
  public boolean resumes() {
    return true;
  }

  @Override
  public Optional<String> model() {
    return Optional.ofNullable(settings.model());
  }

  @Override
  public TaskOutcome work(TaskRun taskRun) throws InterruptedException {
    var wishes = taskRun.created().facts().overrides();
    var problem = problem(wishes);
    if (problem != null) {
      return new TaskOutcome.Failed(ErrorCode.INVALID_INPUT, problem, false);
    }
    var mine = withOverrides(wishes, taskRun.workingDirectory());
    return new CliTask(taskRun, mine, adapter(mine)).execute();
  }

  private static ProgramAdapter adapter(CliSettings settings) {
    return switch (settings.program()) {
      case CLAUDE -> new ClaudeAdapter(settings);
      case CODEX -> new CodexAdapter(settings);
      case GEMINI -> new GeminiAdapter(settings);
      case JSONL -> new JsonlAdapter(settings);
    };
  }

  /// The reason why a task may not override these settings, or null. A task may restrict its agent.
  /// It may add arguments to the command only if the agent may do everything anyway.
  private @Nullable String problem(JsonNode wishes) {
    var honours = settings.supportedOverrides();
    if (!texts(wishes.path("customArgs")).isEmpty() && !honours.contains("customArgs")) {
      return "customArgs need an agent with `permission: allow` and no `ask` or `deny` rules:"
          + " they could bypass such rules";
    }
    if (wishes.path("model").isString() && !honours.contains("model")) {
      return "cli.model is not supported for cli jsonl: remove it";
    }
    if (!texts(wishes.path("disallowedTools")).isEmpty() && !honours.contains("disallowedTools")) {
      return "cli.disallowedTools is supported for cli claude only: remove it";
    }
    if (!texts(wishes.path("allowedTools")).isEmpty() && !honours.contains("allowedTools")) {
      return "cli.allowedTools is supported for cli claude and gemini only: remove it";
    }
    var model = wishes.path("model").asString("x");
    if (!model.matches("[A-Za-z0-9][A-Za-z0-9._:/@\\[\\]-]{0,127}")) {
      return "cli.model must be 1 to 128 of A-Z a-z 0-9 . _ : / @ [ ] -, and begin with a letter or"
          + " digit";
    }
    for (var list : List.of("allowedTools", "disallowedTools")) {
      if (texts(wishes.path(list)).stream().anyMatch(tool -> tool.startsWith("-"))) {
        return "cli." + list + " must contain names of tools; no name may begin with -";
      }
    }
    return TaskMcpServers.of(wishes).problem(settings);
  }

  private CliSettings withOverrides(JsonNode wishes, Path folder) {
    if (!wishes.isObject()) {
      return settings;
    }
    var allowed = texts(wishes.path("allowedTools"));
    var more = JsonLine.text(wishes.path("instructions"));
    var instructions = settings.instructions();
    var mine =
        settings.withTaskOverrides(
            JsonLine.text(wishes.path("model")) == null
                ? settings.model()
                : wishes.path("model").asString(),
            more == null || instructions == null
                ? (more == null ? instructions : more)
                : instructions + "\n\n" + more,
            allowed.isEmpty() ? settings.allowedTools() : narrowed(allowed),
            Stream.concat(
                    settings.disallowedTools().stream(),
                    texts(wishes.path("disallowedTools")).stream())
                .distinct()
                .toList(),
            TaskMcpServers.of(wishes).select(settings.mcp(), folder),
            Stream.concat(settings.args().stream(), texts(wishes.path("customArgs")).stream())
                .toList());
    return allowed.isEmpty() ? mine : mine.with(settings.policy().narrowedTo(allowed));
  }

  /// The tools for which the program of a task need not ask. If the agent may do everything, these
  /// are the tools of the task, else those that the configuration also has.
  private List<String> narrowed(List<String> allowed) {
    return settings.policy().allowsEverything()
        ? allowed
        : settings.allowedTools().stream().filter(allowed::contains).toList();
  }

  private static List<String> texts(JsonNode list) {
    return list.valueStream().filter(JsonNode::isString).map(JsonNode::asString).toList();
  }

  /// The work on one task.
  private final class CliTask {

    private final TaskRun taskRun;
    private final CliSettings mine;
    private final ProgramAdapter programAdapter;
    private final Approvals approvals;
    private final CliTaskState story = new CliTaskState();

    CliTask(TaskRun taskRun, CliSettings mine, ProgramAdapter programAdapter) {
      this.taskRun = taskRun;
      this.mine = mine;
      this.programAdapter = programAdapter;
      this.approvals =
          new Approvals(taskRun, mine, programAdapter, cliAgentDependencies.patience());
    }

    TaskOutcome execute() throws InterruptedException {
      story.read(taskRun.readNewEntries());
      if (story.begun > 0 && !story.done) {
        return recover();
      }
      if (story.done && story.messageText().isEmpty()) {
        return new TaskOutcome.Completed(story.lastText);
      }
      return story.begun == 0
          ? runProgram(
              withTaskInstructions(
                  externalSessions.firstRequest(taskRun, sessionSupport(), mine.program().wire())),
              0,
              () -> externalSessions.freshRequest(taskRun))
          : continueWithMessages();
    }

    /// Adds the instructions of the task to its prompt, for programs that read instructions only
    /// with the first prompt of a session.
    private ProgramRequest withTaskInstructions(ProgramRequest programRequest) {
      var own = JsonLine.text(taskRun.created().facts().overrides().path("instructions"));
      return own == null || programRequest.resume() == null || mine.program() == CliProgram.CLAUDE
          ? programRequest
          : new ProgramRequest(own + "\n\n" + programRequest.prompt(), programRequest.resume());
    }

    private ExternalSessions.SessionSupport sessionSupport() {
      return new ExternalSessions.SessionSupport(
          programAdapter.resumes(), programAdapter.forks(), false);
    }

    /// Sends the messages that arrived while the program worked.
    private TaskOutcome continueWithMessages() throws InterruptedException {
      var said = story.messageText().orElse("");
      var told = story.messages().size();
      var again =
          new ProgramRequest(
              externalSessions.freshRequest(taskRun).prompt()
                  + "\n\nYou answered:\n\n"
                  + story.lastText
                  + "\n\nThen the user said:\n\n"
                  + said,
              null);
      return story.session == null || !programAdapter.resumes()
          ? runProgram(again, told, null)
          : runProgram(new ProgramRequest(said, resume(story.session)), told, () -> again);
    }

    private ProgramRequest.ResumedSession resume(String session) {
      return new ProgramRequest.ResumedSession(session, null, false, story.totals);
    }

    /// Runs the program with the first `told` undelivered messages. `again` makes the request for a
    /// new session if the old one is lost: it takes the history from the log.
    private TaskOutcome runProgram(
        ProgramRequest programRequest, int told, @Nullable Supplier<ProgramRequest> again)
        throws InterruptedException {
      var cliEventWriter = start(programRequest, told);
      var turnFailure = awaitProgram(cliEventWriter, programRequest);
      if (turnFailure != null
          && programRequest.resume() != null
          && !cliEventWriter.acted()
          && programAdapter.isSessionLost(turnFailure.message())) {
        // The program did nothing: its session is lost, and its history is in the log.
        if (again == null) {
          // It may be on another server of the cluster.
          return interrupted(", and its session is not on this machine");
        }
        var other = again.get();
        cliEventWriter = start(other, 0);
        turnFailure = awaitProgram(cliEventWriter, other);
      }
      if (turnFailure != null) {
        return new TaskOutcome.Failed(
            turnFailure.code(), turnFailure.message(), turnFailure.retryable());
      }
      var done =
          Json.object().put(CliTaskState.DONE, 1).put(CliTaskState.ANSWER, cliEventWriter.answer());
      checkpoint(done);
      story.read(taskRun.readNewEntries());
      return story.messageText().isPresent()
          ? continueWithMessages()
          : new TaskOutcome.Completed(cliEventWriter.answer());
    }

    private ProgramEvent.@Nullable TurnFailure awaitProgram(
        CliEventWriter cliEventWriter, ProgramRequest programRequest) throws InterruptedException {
      return new ProgramRun(
              taskRun, mine, programAdapter, cliEventWriter, approvals, programRequest)
          .work(cliAgentDependencies.children(), cliAgentDependencies.isolation());
    }

    private CliEventWriter start(ProgramRequest programRequest, int told) {
      var begun =
          Json.object()
              .put(CliTaskState.BEGUN, story.begun + 1)
              .put(CliTaskState.DELIVERED_COUNT, told);
      var resumedSession = programRequest.resume();
      if (resumedSession != null && !resumedSession.fork()) {
        begun.put(ExternalSessions.RESUMES, resumedSession.session());
      }
      checkpoint(begun);
      story.read(taskRun.readNewEntries());
      var cliEventWriter =
          new CliEventWriter(
              taskRun,
              mine.program().wire(),
              ExternalSessions.hasHistory(taskRun),
              new CliEventWriter.EarlierProgress(story.thoughts(), story.modelCalls()));
      cliEventWriter.setTotals(resumedSession == null ? null : resumedSession.totals());
      return cliEventWriter;
    }

    private void checkpoint(ObjectNode about) {
      var state = Json.object();
      state.set(ExternalSessions.STATE, about);
      taskRun.emit(List.of(new InternalCheckpoint(0, state)));
    }

    /// Recovers after an interruption: closes what the program had open, and resumes its session,
    /// if there is one.
    private TaskOutcome recover() throws InterruptedException {
      var asked = story.openInputs();
      if (!asked.isEmpty() && canResume()) {
        // The server stopped after it wrote the question and before it wrote that the task waits.
        return new TaskOutcome.Parked(TaskState.WAITING_INPUT, StatusFacts.ofWaiting(asked));
      }
      taskRun.closeBlocks();
      while (!taskRun.emitUnlessNewEntries(this::closingEvents)) {
        story.read(taskRun.readNewEntries());
      }
      // The checkpoints written above record these answers as delivered, so none is sent again.
      for (var question : story.questions().values()) {
        if (!question.open()) {
          approvals.grant(question.facts().hash().orElse(""), question.decision(about(question)));
        }
      }
      var notes = notes();
      story.read(taskRun.readNewEntries());
      var session = story.session;
      if (session == null || !canResume()) {
        return interrupted("");
      }
      var told = story.messages().size();
      return runProgram(new ProgramRequest(recoveryPrompt(notes), resume(session)), told, null);
    }

    private boolean canResume() {
      return story.session != null && programAdapter.resumes() && story.begun < STARTS_MAX;
    }

    private TaskOutcome interrupted(String detail) {
      return new TaskOutcome.Failed(
          ErrorCode.INTERRUPTED,
          "the server stopped while " + mine.command().getFirst() + " worked" + detail,
          true);
    }

    /// The events that close all that the program had open and that is still open in the log.
    private List<Event> closingEvents(ContextState state) {
      var task = taskRun.origin().taskId();
      var open = state.openTask(task).map(found -> found.openCalls().keySet()).orElse(Set.of());
      var events = new ArrayList<Event>();
      for (var started : story.openCalls().values()) {
        var call = started.start();
        if (open.contains(call.toolCallId())) {
          events.add(
              new ToolComplete(
                  call.toolCallId(),
                  call.toolName(),
                  false,
                  null,
                  "the server stopped while this ran",
                  null,
                  story.questionFor(call.toolCallId()).isEmpty()
                      ? ToolEvent.Outcome.OUTCOME_UNKNOWN
                      : ToolEvent.Outcome.INTERRUPTED,
                  call.subagentMetadata()));
        }
      }
      story.questions().values().stream()
          .filter(question -> !question.open())
          .forEach(question -> events.add(Approvals.delivered(new InputId(question.id()))));
      state.openInputs().stream()
          .filter(input -> input.task().equals(task))
          .map(input -> input.required().inputId())
          .forEach(input -> events.add(new InputLapsed(input, Approvals.GONE)));
      return events;
    }

    private List<String> notes() {
      var notes = new ArrayList<String>();
      for (var started : story.openCalls().values()) {
        var call = started.start();
        notes.add(
            note(
                call.toolName(),
                call.arguments(),
                story.questionFor(call.toolCallId()).orElse(null)));
      }
      for (var question : story.questions().values()) {
        if (question.facts().toolCallId().filter(story.openCalls()::containsKey).isEmpty()) {
          var tool = question.facts().toolCall().map(QuestionFacts.AskedCall::toolName).orElse("");
          notes.add(note(tool, about(question), question));
        }
      }
      return notes;
    }

    private static ObjectNode about(TaskQuestion question) {
      return question
          .facts()
          .toolCall()
          .map(QuestionFacts.AskedCall::arguments)
          .orElseGet(Json::object);
    }

    private static String note(String tool, ObjectNode arguments, @Nullable TaskQuestion question) {
      var call = tool + " " + arguments;
      if (question == null) {
        return "It is not known whether this call happened; look before you repeat it: " + call;
      }
      if (question.open()) {
        return "This call was not made, because it was not approved: " + call;
      }
      return switch (question.decision(arguments)) {
        case ApprovalDecision.Allowed _ ->
            "This call was not made yet. A person has approved it now, so make it: " + call;
        case ApprovalDecision.Denied(var reason) ->
            "This call was not made, and is not to be (" + reason + "): " + call;
      };
    }

    private String recoveryPrompt(List<String> notes) {
      var text =
          new StringBuilder(
              "You were interrupted: the server on which you run was stopped and started again.");
      notes.forEach(note -> text.append("\n- ").append(note));
      text.append("\nGo on with what you were asked, from where you were.");
      story
          .messageText()
          .ifPresent(said -> text.append("\n\nMeanwhile the user said:\n\n").append(said));
      return text.toString();
    }
  }
}
