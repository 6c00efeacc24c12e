package dev.parley.cli;

import dev.parley.cli.Voice.Call;
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
import dev.parley.protocol.ToolCallId;
import dev.parley.protocol.ToolEvent;
import dev.parley.protocol.ToolEvent.Mode;
import dev.parley.protocol.ToolEvent.SubagentMetadata;
import dev.parley.protocol.ToolEvent.ToolComplete;
import dev.parley.protocol.ToolEvent.ToolStart;
import dev.parley.task.Run;
import dev.parley.task.Spawner;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;
import tools.jackson.databind.node.StringNode;

/// Converts the events of a program to events of its task, and the events of its sub-agents to
/// events of subtasks.
///
/// [#tell] collects events, [#flush] returns when all are durable. For one thread.
public final class Narrator {

  /// Key in the state of a checkpoint: the session and the program of the task.
  static final String STATE = Sessions.STATE;

  private static final long TOLD_MAX = 20_000_000;
  private static final int RAW_LINES_MAX = 100_000;
  private static final long RAW_MAX = 64L << 20;
  private static final int RAW_LINE_MAX = 1 << 20;
  private static final int TURNS_MAX = 100_000;
  private static final int RESULT_MAX = 64 * 1024;
  private static final int RESULT_SHOWN = 16 * 1024;

  private final Run run;
  private final String provider;
  private final boolean keepAll;
  private final boolean lasting;
  private final Voice main;
  private final int turnsBefore;
  private final Map<String, Voice> voices = new HashMap<>();
  private @Nullable String session;
  private @Nullable String mark;
  private @Nullable ObjectNode totals;
  private boolean moved;
  private Said.@Nullable Ended ended;
  private boolean acted;
  private long told;
  private int rawLines;
  private long raw;
  private int noise;
  private int turns;

  /// `provider` is the name of the program; `lasting` is true if later tasks may resume its
  /// session.
  public Narrator(Run run, String provider, boolean lasting) {
    this(run, provider, lasting, Progress.NONE);
  }

  /// The counts of a task before this run.
  record Progress(int thoughts, int turns) {
    static final Progress NONE = new Progress(0, 0);
  }

  /// For a task with earlier runs.
  Narrator(Run run, String provider, boolean lasting, Progress before) {
    this.run = run;
    this.provider = provider;
    this.lasting = lasting;
    var metadata = run.created().metadata();
    this.keepAll = metadata != null && metadata.path("raw").asString("").equals("all");
    this.main = new Voice(null, run.sources(), before.thoughts(), keepAll);
    this.turnsBefore = before.turns();
  }

  /// Sets the earlier usage of the session that the program resumes.
  void remember(@Nullable JsonNode spent) {
    totals = spent instanceof ObjectNode counts ? counts : null;
  }

  /// Collects the events of a line.
  ///
  /// @throws Rejection.TooLarge if the program prints more than a task may contain
  public void tell(String line, List<Said> said) {
    told += line.length();
    if (told > TOLD_MAX && !line.isEmpty()) {
      throw new Rejection.TooLarge(
          "limit", provider + " printed more than " + TOLD_MAX + " characters");
    }
    noise += said.contains(new Said.Raw(Said.Why.NOISE)) ? 1 : 0;
    // The line that ends a turn belongs to the task's end, which follows all other events.
    var ends = said.stream().anyMatch(Said.Ended.class::isInstance);
    if (!ends) {
      keep(line, said);
    }
    said.stream().filter(one -> !isStranger(one)).forEach(this::tell);
    if (ends) {
      keep(line, said);
    }
  }

  /// Keeps the raw line.
  private void keep(String line, List<Said> said) {
    if (rawLines < RAW_LINES_MAX && raw < RAW_MAX && !line.isBlank()) {
      rawLines++;
      raw += line.length();
      var kept = line.length() > RAW_LINE_MAX ? line.substring(0, RAW_LINE_MAX) : line;
      speaker(said).note(new InternalRaw(provider, kept));
    }
  }

  /// The program or the sub-agent that a line belongs to.
  private Voice speaker(List<Said> said) {
    return said.stream()
        .filter(one -> !isStranger(one))
        .map(Narrator::within)
        .filter(Objects::nonNull)
        .findFirst()
        .map(this::voice)
        .orElse(main);
  }

  /// True if the event belongs to a sub-agent without a task here: it must not be attributed to the
  /// program.
  private boolean isStranger(Said said) {
    var within = said instanceof Said.ToolEnded ? null : within(said);
    return within != null && !voices.containsKey(within);
  }

  private static @Nullable String within(Said said) {
    return switch (said) {
      case Said.Text text -> text.within();
      case Said.TextEnd end -> end.within();
      case Said.Stopped stopped -> stopped.within();
      case Said.Thinking thinking -> thinking.within();
      case Said.ToolCalled called -> called.within();
      case Said.ToolEnded end -> end.within();
      default -> null; // All others concern the program.
    };
  }

  private void tell(Said said) {
    switch (said) {
      case Said.Text(var within, var piece) -> {
        acted = true;
        voice(within).say(piece);
      }
      case Said.TextEnd(var within, var undecided) -> voice(within).endBlock(undecided);
      case Said.Stopped(var within, var reason) -> voice(within).stop(reason);
      case Said.Thinking(var within, var piece) -> voice(within).think(piece);
      case Said.ToolCalled called -> {
        acted = true;
        start(called);
      }
      case Said.ToolEnded end -> end(end);
      case Said.Session(var id) -> {
        session = id;
        moved = true;
      }
      case Said.Mark(var place) -> {
        mark = place;
        moved = true;
      }
      case Said.ModelCalled(var model) -> called(model, turns + 1);
      case Said.Turns(var count) -> called("", (int) Math.min(count, TURNS_MAX));
      case Said.Spent(var usage) -> main.add(named(usage));
      case Said.Totals(var counts) -> {
        totals = counts;
        moved = true;
      }
      case Said.Trouble(var message) ->
          main.add(
              new ErrorReported(ErrorCode.MODEL_ERROR, message, true, ErrorScope.STREAM, null));
      case Said.Ended end -> {
        main.endBlock();
        called("", 1); // A program that ends a turn has called its model.
        ended = end;
      }
      case Said.Asked _, Said.Demanded _, Said.Ready _, Said.Raw _ -> {}
    }
  }

  /// The usage with the requested model if the program does not name one.
  private Usage named(Usage usage) {
    if (!usage.model().isEmpty()) {
      return usage;
    }
    var metadata = run.created().metadata();
    var wished = metadata == null ? "" : metadata.path(CliAgent.WISHES).path("model").asString("");
    return new Usage(
        wished.isEmpty() ? "unknown" : wished,
        usage.inputTokens(),
        usage.outputTokens(),
        usage.cacheCreationInputTokens(),
        usage.cacheReadInputTokens(),
        usage.costUsd());
  }

  /// Records that the program has called its model this many times in this run.
  private void called(String model, int count) {
    if (count > turns) {
      turns = count;
      var name = model.isEmpty() ? provider : model;
      main.note(new InternalLlmCall(turnsBefore + turns, name, 0, 0));
    }
  }

  private Voice voice(@Nullable String within) {
    return within == null ? main : voices.getOrDefault(within, main);
  }

  private void start(Said.ToolCalled called) {
    var voice = voice(called.within());
    voice.endBlock();
    var id = run.sources().toolCallId();
    var subagent = called.subagent();
    if (subagent != null && voice == main && host(called, id, subagent)) {
      return;
    }
    voice.calls.put(called.id(), new Call(id, called.id(), called.name(), null));
    voice.add(start(called, id, null, null));
  }

  private ToolStart start(
      Said.ToolCalled called,
      ToolCallId id,
      @Nullable InvocationId invocation,
      @Nullable SubagentMetadata subagents) {
    var metadata =
        Json.object()
            .put("provider", provider)
            .put("callId", called.id())
            .put("effect", "at-most-once")
            .put("concurrent", true);
    if (invocation != null) {
      metadata.put("invocationId", invocation.value());
    }
    var key = run.origin().taskId() + "/" + id;
    return new ToolStart(id, called.name(), called.arguments(), metadata, 1, key, null, subagents);
  }

  /// Starts a subtask for the call. False if the limit of subtasks is reached.
  private boolean host(Said.ToolCalled called, ToolCallId id, Said.Subagent subagent) {
    flush(true);
    var task = run.sources().taskId();
    var invocation = new InvocationId(run.sources().ids().get());
    var about = Json.object().put("program", provider);
    if (subagent.name() != null) {
      about.put("subagent", subagent.name());
    }
    var start = start(called, id, invocation, subagents(task));
    try {
      var hosted =
          run.spawner()
              .host(
                  run,
                  new Spawner.Call(id, invocation, List.of(start)),
                  new Spawner.Child(task, run.origin().agentId(), subagent.prompt(), about));
      var voice = new Voice(hosted, run.sources(), 0, keepAll);
      voices.put(called.id(), voice);
      main.calls.put(called.id(), new Call(id, called.id(), called.name(), voice));
      return true;
    } catch (Rejection.Invalid limit) {
      return false;
    }
  }

  private static SubagentMetadata subagents(TaskId task) {
    return new SubagentMetadata(List.of(task), 1, Mode.SERIAL);
  }

  private void end(Said.ToolEnded end) {
    var voice = voice(end.within());
    var call = voice.calls.remove(end.id());
    if (call == null) {
      voice = main;
      call = main.calls.remove(end.id());
    }
    if (call == null) {
      return;
    }
    var result = end.result() == null ? null : limited(end.result());
    var error = end.error() == null ? null : shortened(end.error());
    if (call.subagent() != null) {
      endSubagent(call.subagent(), result, error);
    }
    voice.add(complete(call, result, error, null));
  }

  private void endSubagent(Voice subagent, @Nullable JsonNode result, @Nullable String error) {
    subagent.endBlock();
    flush(true);
    if (subagent.hosted != null) {
      var text = result == null ? null : result.isString() ? result.asString() : result.toString();
      if (error == null) {
        subagent.hosted.complete(text == null ? "" : text);
      } else {
        subagent.hosted.fail(ErrorCode.TOOL_FAILED, error);
      }
    }
  }

  private static ToolComplete complete(
      Call call,
      @Nullable JsonNode result,
      @Nullable String error,
      ToolEvent.@Nullable Outcome outcome) {
    var subagents =
        call.subagent() == null || call.subagent().hosted == null
            ? null
            : subagents(call.subagent().hosted.origin().taskId());
    return new ToolComplete(
        call.id(),
        call.tool(),
        error == null,
        result,
        error,
        Json.object().put("callId", call.programId()),
        outcome,
        subagents);
  }

  /// Returns when all collected events are durable.
  public void flush() {
    flush(false);
  }

  /// The same; `all` also writes raw lines that may repeat an open text.
  private void flush(boolean all) {
    for (var voice : List.copyOf(voices.values())) {
      var events = voice.take(all);
      if (!events.isEmpty() && voice.hosted != null) {
        voice.hosted.emit(events);
      }
    }
    var events = new ArrayList<>(main.take(all));
    if (moved && session != null) {
      moved = false;
      events.add(new InternalCheckpoint(0, checkpoint()));
    }
    if (!events.isEmpty()) {
      OpenCalls.emit(run, events);
    }
  }

  private ObjectNode checkpoint() {
    var state = Json.object();
    var about = Sessions.note(run, provider, String.valueOf(session), lasting);
    state.set(STATE, about);
    if (mark != null) {
      about.put("mark", mark);
    }
    if (totals != null) {
      about.set("totals", totals);
    }
    return state;
  }

  /// Closes all that the program left open when it ended; the outcome of open calls is unknown.
  public void cutOff() {
    main.cutBlock();
    voices.values().forEach(Voice::cutBlock);
    flush(true);
    for (var call : List.copyOf(main.calls.values())) {
      if (call.subagent() != null && call.subagent().hosted != null) {
        call.subagent().hosted.fail(ErrorCode.INTERRUPTED, provider + " ended before its subagent");
      }
      var unknown = ToolEvent.Outcome.OUTCOME_UNKNOWN;
      main.add(complete(call, null, provider + " ended before this call returned", unknown));
    }
    main.calls.clear();
    flush(true);
  }

  /// The end of the turn, if it was received.
  public Optional<Said.Ended> ended() {
    return Optional.ofNullable(ended);
  }

  /// The answer: the text of the end of the turn, or else the last text.
  public String answer() {
    var text = ended == null ? null : ended.text();
    return text == null ? main.lastText() : text;
  }

  /// The session, if it is known.
  public Optional<String> session() {
    return Optional.ofNullable(session);
  }

  /// How many lines were not JSON.
  public int noise() {
    return noise;
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
    var found = Optional.ofNullable(main.calls.get(id));
    for (var voice : voices.values()) {
      found = found.or(() -> Optional.ofNullable(voice.calls.get(id)));
    }
    return found.map(Call::id);
  }

  private static JsonNode limited(JsonNode result) {
    var size = result.isString() ? result.asString().length() : result.toString().length();
    if (size <= RESULT_MAX) {
      return result;
    }
    return StringNode.valueOf(shortened(result.isString() ? result.asString() : result.toString()));
  }

  private static String shortened(String text) {
    return text.length() <= RESULT_MAX
        ? text
        : text.substring(0, RESULT_SHOWN)
            + "\n[truncated: this is the beginning of "
            + text.length()
            + " characters]";
  }
}
