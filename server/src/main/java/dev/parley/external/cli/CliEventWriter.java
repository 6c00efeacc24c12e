package dev.parley.external.cli;

import dev.parley.agent.TaskOutput;
import dev.parley.agent.ThoughtCounter;
import dev.parley.protocol.InvocationId;
import dev.parley.protocol.Json;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.ErrorScope;
import dev.parley.protocol.ReportEvent.InternalRaw;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskId;
import dev.parley.protocol.ThoughtEvent.InternalCheckpoint;
import dev.parley.protocol.ThoughtEvent.InternalLlmCall;
import dev.parley.protocol.ToolCallFacts;
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.HostedSubtask;
import dev.parley.task.SubtaskSpawner;
import dev.parley.task.TaskRun;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Converts the events of a program to events of its task, and the events of its sub-agents to
/// events of subtasks.
///
/// [#write] collects events, [#flush] returns when all are durable. For one thread.
public final class CliEventWriter {

  private static final int RAW_LINES_MAX = 100_000;
  private static final long RAW_MAX = 64L << 20;
  private static final int RAW_LINE_MAX = 1 << 20;
  private static final int TURNS_MAX = 100_000;

  /// The program itself, or a sub-agent inside it, whose task is `hosted`.
  private record Speaker(
      TaskOutput output, @Nullable HostedSubtask hosted, Map<String, ProgramCall> calls) {}

  /// A call that has not returned; `programId` is its id in the program.
  private record ProgramCall(
      ToolCallId id, String programId, String tool, @Nullable Speaker subagent) {}

  private final TaskRun taskRun;
  private final String provider;
  private final boolean keepAll;
  private final boolean resumable;
  private final Speaker main;
  private final int turnsBefore;
  private final Map<String, Speaker> subagents = new HashMap<>();
  private @Nullable String session;
  private @Nullable String mark;
  private @Nullable ObjectNode totals;
  private boolean checkpointDue;
  private ProgramEvent.@Nullable TurnEnded turnEnded;
  private boolean acted;
  private long charactersRead;
  private int rawLines;
  private long raw;
  private int turns;

  /// `provider` is the name of the program; `lasting` is true if later tasks may resume its
  /// session.
  public CliEventWriter(TaskRun taskRun, String provider, boolean lasting) {
    this(taskRun, provider, lasting, EarlierProgress.NONE);
  }

  /// The counts of a task before this run.
  record EarlierProgress(int thoughts, int turns) {
    static final EarlierProgress NONE = new EarlierProgress(0, 0);
  }

  /// For a task with earlier runs.
  CliEventWriter(TaskRun taskRun, String provider, boolean lasting, EarlierProgress before) {
    this.taskRun = taskRun;
    this.provider = provider;
    this.resumable = lasting;
    this.keepAll = taskRun.created().facts().keepsAllLines();
    this.main = speaker(null, before.thoughts());
    this.turnsBefore = before.turns();
  }

  /// `thoughts` is the number of earlier thoughts of the task.
  private Speaker speaker(@Nullable HostedSubtask hosted, int thoughts) {
    var thoughtCounter = new ThoughtCounter();
    thoughtCounter.atLeast(thoughts);
    var output = new TaskOutput(taskRun.sources(), thoughtCounter::next, keepAll);
    return new Speaker(output, hosted, new LinkedHashMap<>());
  }

  /// Sets the earlier usage of the session that the program resumes.
  void setTotals(@Nullable JsonNode spent) {
    totals = spent instanceof ObjectNode counts ? counts : null;
  }

  /// Collects the events of a line.
  ///
  /// @throws Rejection.TooLarge if the program prints more than a task may contain
  public void write(String line, List<ProgramEvent> said) {
    charactersRead += line.length();
    if (charactersRead > TaskOutput.CHARACTERS_MAX && !line.isEmpty()) {
      throw new Rejection.TooLarge(
          "limit", provider + " printed more than " + TaskOutput.CHARACTERS_MAX + " characters");
    }
    // The line that ends a turn belongs to the task's end, which follows all other events.
    var ends = said.stream().anyMatch(ProgramEvent.TurnEnded.class::isInstance);
    if (!ends) {
      keepRawLine(line, said);
    }
    said.stream().filter(one -> !isUnknownSubagent(one)).forEach(this::write);
    if (ends) {
      keepRawLine(line, said);
    }
  }

  /// Keeps the raw line.
  private void keepRawLine(String line, List<ProgramEvent> said) {
    if (rawLines < RAW_LINES_MAX && raw < RAW_MAX && !line.isBlank()) {
      rawLines++;
      raw += line.length();
      var kept = line.length() > RAW_LINE_MAX ? line.substring(0, RAW_LINE_MAX) : line;
      speakerOf(said).output().addInternal(new InternalRaw(provider, kept));
    }
  }

  /// The program or the sub-agent that a line belongs to.
  private Speaker speakerOf(List<ProgramEvent> said) {
    return said.stream()
        .filter(one -> !isUnknownSubagent(one))
        .map(CliEventWriter::within)
        .filter(Objects::nonNull)
        .findFirst()
        .map(this::speaker)
        .orElse(main);
  }

  /// True if the event belongs to a sub-agent without a task here: it must not be attributed to the
  /// program.
  private boolean isUnknownSubagent(ProgramEvent programEvent) {
    var within = programEvent instanceof ProgramEvent.ToolEnded ? null : within(programEvent);
    return within != null && !subagents.containsKey(within);
  }

  private static @Nullable String within(ProgramEvent programEvent) {
    return switch (programEvent) {
      case ProgramEvent.TextDelta textDelta -> textDelta.within();
      case ProgramEvent.TextEnd end -> end.within();
      case ProgramEvent.ModelStopped modelStopped -> modelStopped.within();
      case ProgramEvent.ThinkingDelta thinkingDelta -> thinkingDelta.within();
      case ProgramEvent.ToolCalled called -> called.within();
      case ProgramEvent.ToolEnded end -> end.within();
      default -> null; // All others concern the program.
    };
  }

  private void write(ProgramEvent programEvent) {
    switch (programEvent) {
      case ProgramEvent.TextDelta(var within, var piece) -> {
        acted = true;
        speaker(within).output().appendText(piece);
      }
      case ProgramEvent.TextEnd(var within, var undecided) ->
          speaker(within).output().endBlock(undecided);
      case ProgramEvent.ModelStopped(var within, var reason) ->
          speaker(within).output().stop(reason);
      case ProgramEvent.ThinkingDelta(var within, var piece) -> {
        var output = speaker(within).output();
        output.endBlock();
        output.appendThought(piece, Json.object().put("source", "model"));
      }
      case ProgramEvent.ToolCalled called -> {
        acted = true;
        start(called);
      }
      case ProgramEvent.ToolEnded end -> end(end);
      case ProgramEvent.SessionKnown(var id) -> {
        session = id;
        checkpointDue = true;
      }
      case ProgramEvent.SessionMark(var place) -> {
        mark = place;
        checkpointDue = true;
      }
      case ProgramEvent.ModelCalled(var model) -> countModelCalls(model, turns + 1);
      case ProgramEvent.TurnCount(var count) ->
          countModelCalls("", (int) Math.min(count, TURNS_MAX));
      case ProgramEvent.UsageReported(var usage) -> main.output().add(withModelName(usage));
      case ProgramEvent.SessionTotals(var counts) -> {
        totals = counts;
        checkpointDue = true;
      }
      case ProgramEvent.ErrorMessage(var message) ->
          main.output()
              .add(
                  new ErrorReported(ErrorCode.MODEL_ERROR, message, true, ErrorScope.STREAM, null));
      case ProgramEvent.TurnEnded end -> {
        main.output().endBlock();
        countModelCalls("", 1); // A program that ends a turn has called its model.
        turnEnded = end;
      }
      case ProgramEvent.PermissionAsked _,
          ProgramEvent.UnsupportedRequest _,
          ProgramEvent.LineToSend _,
          ProgramEvent.KeptLine _ -> {}
    }
  }

  /// The usage with the requested model if the program does not name one.
  private Usage withModelName(Usage usage) {
    if (!usage.model().isEmpty()) {
      return usage;
    }
    var wished = taskRun.created().facts().overrides().path("model").asString("");
    return new Usage(
        wished.isEmpty() ? "unknown" : wished,
        usage.inputTokens(),
        usage.outputTokens(),
        usage.cacheCreationInputTokens(),
        usage.cacheReadInputTokens(),
        usage.costUsd());
  }

  /// Records that the program has called its model this many times in this run.
  private void countModelCalls(String model, int count) {
    if (count > turns) {
      turns = count;
      var name = model.isEmpty() ? provider : model;
      main.output().addInternal(new InternalLlmCall(turnsBefore + turns, name, 0, 0));
    }
  }

  private Speaker speaker(@Nullable String within) {
    return within == null ? main : subagents.getOrDefault(within, main);
  }

  private void start(ProgramEvent.ToolCalled called) {
    var speaker = speaker(called.within());
    speaker.output().endBlock();
    var id = taskRun.sources().toolCallId();
    var subagentStart = called.subagent();
    if (subagentStart != null
        && speaker.hosted() == null
        && spawnSubagent(called, id, subagentStart)) {
      return;
    }
    speaker.calls().put(called.id(), new ProgramCall(id, called.id(), called.name(), null));
    speaker.output().add(start(called, id, null, null));
  }

  private ToolStart start(
      ProgramEvent.ToolCalled called,
      ToolCallId id,
      @Nullable InvocationId invocation,
      @Nullable SubagentMetadata subagents) {
    var metadata = ToolCallFacts.ofExternalStart(provider, called.id());
    if (invocation != null) {
      ToolCallFacts.putInvocationId(metadata, invocation);
    }
    var key = TaskOutput.idempotencyKey(taskRun, id);
    return new ToolStart(id, called.name(), called.arguments(), metadata, 1, key, null, subagents);
  }

  /// Starts a subtask for the call. False if the limit of subtasks is reached.
  private boolean spawnSubagent(
      ProgramEvent.ToolCalled called, ToolCallId id, ProgramEvent.SubagentStart subagentStart) {
    flush(true);
    var task = taskRun.sources().taskId();
    var invocation = new InvocationId(taskRun.sources().ids().get());
    var about = Json.object().put("program", provider);
    Json.putPresent(about, "subagent", subagentStart.name());
    var start = start(called, id, invocation, subagents(task));
    try {
      var hostedSubtask =
          taskRun
              .spawner()
              .createHosted(
                  taskRun,
                  new SubtaskSpawner.SpawningCall(id, invocation, List.of(start)),
                  new SubtaskSpawner.SubtaskRequest(
                      task, taskRun.origin().agentId(), subagentStart.prompt(), about));
      var speaker = speaker(hostedSubtask, 0);
      subagents.put(called.id(), speaker);
      main.calls().put(called.id(), new ProgramCall(id, called.id(), called.name(), speaker));
      return true;
    } catch (Rejection.Invalid limit) {
      return false;
    }
  }

  private static SubagentMetadata subagents(TaskId task) {
    return new SubagentMetadata(List.of(task), 1, Mode.SERIAL);
  }

  private void end(ProgramEvent.ToolEnded end) {
    var speaker = speaker(end.within());
    var programCall = speaker.calls().remove(end.id());
    if (programCall == null) {
      speaker = main;
      programCall = main.calls().remove(end.id());
    }
    if (programCall == null) {
      return;
    }
    var result = end.result() == null ? null : TaskOutput.truncated(end.result());
    var error = end.error() == null ? null : TaskOutput.truncated(end.error());
    if (programCall.subagent() != null) {
      endSubagent(programCall.subagent(), result, error);
    }
    speaker.output().add(complete(programCall, result, error, null));
  }

  private void endSubagent(Speaker subagent, @Nullable JsonNode result, @Nullable String error) {
    subagent.output().endBlock();
    flush(true);
    if (subagent.hosted() != null) {
      var text = result == null ? null : result.isString() ? result.asString() : result.toString();
      if (error == null) {
        subagent.hosted().complete(text == null ? "" : text);
      } else {
        subagent.hosted().fail(ErrorCode.TOOL_FAILED, error);
      }
    }
  }

  private static ToolComplete complete(
      ProgramCall programCall,
      @Nullable JsonNode result,
      @Nullable String error,
      ToolEvent.@Nullable Outcome outcome) {
    var subagents =
        programCall.subagent() == null || programCall.subagent().hosted() == null
            ? null
            : subagents(programCall.subagent().hosted().origin().taskId());
    return new ToolComplete(
        programCall.id(),
        programCall.tool(),
        error == null,
        result,
        error,
        Json.object().put("callId", programCall.programId()),
        outcome,
        subagents);
  }

  /// Returns when all collected events are durable.
  public void flush() {
    flush(false);
  }

  /// The same; `all` also writes raw lines that may repeat an open text.
  private void flush(boolean all) {
    for (var speaker : List.copyOf(subagents.values())) {
      var events = speaker.output().take(all);
      if (!events.isEmpty() && speaker.hosted() != null) {
        speaker.hosted().emit(events);
      }
    }
    var events = new ArrayList<>(main.output().take(all));
    if (checkpointDue && session != null) {
      checkpointDue = false;
      events.add(new InternalCheckpoint(0, checkpoint()));
    }
    if (!events.isEmpty()) {
      TaskOutput.emit(taskRun, events);
    }
  }

  private ObjectNode checkpoint() {
    var state = Json.object();
    var about =
        ExternalSessions.sessionState(taskRun, provider, String.valueOf(session), resumable);
    state.set(ExternalSessions.STATE, about);
    Json.putPresent(about, "mark", mark);
    Json.putPresent(about, "totals", totals);
    return state;
  }

  /// Closes all that the program left open when it ended; the outcome of open calls is unknown.
  public void closeOpenItems() {
    main.output().interruptBlock();
    subagents.values().forEach(speaker -> speaker.output().interruptBlock());
    flush(true);
    for (var programCall : List.copyOf(main.calls().values())) {
      if (programCall.subagent() != null && programCall.subagent().hosted() != null) {
        programCall
            .subagent()
            .hosted()
            .fail(ErrorCode.INTERRUPTED, provider + " ended before its subagent");
      }
      var unknown = ToolEvent.Outcome.OUTCOME_UNKNOWN;
      main.output()
          .add(complete(programCall, null, provider + " ended before this call returned", unknown));
    }
    main.calls().clear();
    flush(true);
  }

  /// The end of the turn, if it was received.
  public Optional<ProgramEvent.TurnEnded> ended() {
    return Optional.ofNullable(turnEnded);
  }

  /// The answer: the text of the end of the turn, or else the last text.
  public String answer() {
    var text = turnEnded == null ? null : turnEnded.text();
    return text == null ? main.output().lastText() : text;
  }

  /// True if the program has written text or called a tool.
  boolean acted() {
    return acted;
  }

  /// The open call with this id of the program, if any.
  Optional<ToolCallId> call(@Nullable String id) {
    if (id == null) {
      return Optional.empty();
    }
    var found = Optional.ofNullable(main.calls().get(id));
    for (var speaker : subagents.values()) {
      found = found.or(() -> Optional.ofNullable(speaker.calls().get(id)));
    }
    return found.map(ProgramCall::id);
  }
}
