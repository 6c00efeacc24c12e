package dev.parley.api.agents;

import dev.parley.api.agents.AgentInfo.AgentStatus;
import dev.parley.api.agents.AgentMessage.TaskStatistics;
import dev.parley.api.agents.AgentMessage.TokenUsage;
import dev.parley.api.agents.ClaudeLine.ClaudeContent;
import dev.parley.api.agents.ClaudeLine.ClaudeLineBody;
import dev.parley.api.agents.ClaudeLine.ClaudeMessage;
import dev.parley.api.agents.ClaudeLine.InitLine;
import dev.parley.api.agents.ClaudeLine.MessageLine;
import dev.parley.api.agents.ClaudeLine.NoticeLine;
import dev.parley.api.agents.ClaudeLine.ResultLine;
import dev.parley.api.agents.ClaudeLine.StreamLine;
import dev.parley.api.agents.ClaudeLine.StreamLineDelta;
import dev.parley.api.agents.ClaudeLine.StreamLineEvent;
import dev.parley.log.EventLog;
import dev.parley.projection.AnswerSource;
import dev.parley.projection.PrecedingEntries;
import dev.parley.projection.TaskTree;
import dev.parley.projection.Views;
import dev.parley.protocol.AuthEvent.AuthRequired;
import dev.parley.protocol.ContentEvent.ContentComplete;
import dev.parley.protocol.ContentEvent.ContentDelta;
import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.Entry;
import dev.parley.protocol.InputEvent.InputRequired;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorReported;
import dev.parley.protocol.ReportEvent.Usage;
import dev.parley.protocol.TaskEndFacts;
import dev.parley.protocol.TaskEvent.TaskComplete;
import dev.parley.protocol.TaskEvent.TaskCreated;
import dev.parley.protocol.TaskEvent.TaskStatus;
import dev.parley.protocol.ThoughtEvent.ThoughtStream;
import dev.parley.protocol.ToolEvent.ToolComplete;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Encodes events as the lines that Claude Code would print, for agents that print none.
///
/// A block of text becomes a message with the block's id.
final class ClaudeCodeFormat extends ProxyFormat {

  private final AnswerSource answers;
  private final PrecedingEntries preceding;

  ClaudeCodeFormat(EventLog log, Views views) {
    super(log, views);
    this.answers = new AnswerSource(log, views);
    this.preceding = new PrecedingEntries(log);
  }

  @Override
  List<String> lines(Entry entry) {
    var origin = entry.origin();
    if (entry.event().internal() || origin == null) {
      return List.of();
    }
    var bodies = bodies(entry);
    if (bodies.isEmpty()) {
      return List.of();
    }
    var spawning = answers.isAnswer(entry) ? null : origin.spawnedByCallId();
    return bodies.stream()
        .map(body -> new ClaudeLine(body, spawning, entry.contextId(), entry.eventId()))
        .map(Json.mapper()::writeValueAsString)
        .toList();
  }

  private List<? extends ClaudeLineBody> bodies(Entry entry) {
    return switch (entry.event()) {
      case TaskCreated created when isRoot(entry) ->
          List.of(
              new InitLine(
                  created.workingDirectory() == null ? "" : created.workingDirectory(),
                  entry.origin() == null ? null : entry.origin().agentId(),
                  entry.taskId()));
      case ContentDelta delta -> delta(delta);
      case ContentComplete end -> complete(end);
      case Usage usage -> usage(entry, usage);
      case ThoughtStream thought ->
          List.of(
              new StreamLine(
                  StreamLineEvent.blockDelta(
                      new StreamLineDelta("thinking_delta", null, thought.content(), null))));
      case ToolComplete end -> List.of(toolResult(end));
      case TaskComplete end when isRoot(entry) ->
          List.of(result("success", end.content(), null, end.facts()));
      case TaskStatus end when isRoot(entry) && TaskTree.endIn(end).isPresent() ->
          List.of(
              result(
                  "error_during_execution",
                  end.facts().reason().orElse(null),
                  AgentStatus.of(end.status()),
                  TaskEndFacts.of(end.metadata())));
      case ErrorReported error -> List.of(new NoticeLine("error", error.message(), null, null));
      case InputRequired asked ->
          List.of(new NoticeLine("input_required", asked.prompt(), asked.inputId(), null));
      case AuthRequired asked ->
          List.of(new NoticeLine("auth_required", asked.prompt(), null, asked.authId()));
      default -> List.of(); // Claude Code has no such line.
    };
  }

  private static List<StreamLine> delta(ContentDelta delta) {
    var lines = new ArrayList<StreamLine>();
    if (delta.index() == 0) {
      lines.add(new StreamLine(StreamLineEvent.messageStart(delta.blockId())));
      lines.add(new StreamLine(StreamLineEvent.blockStart()));
    }
    var piece = new StreamLineDelta("text_delta", delta.delta(), null, null);
    lines.add(new StreamLine(StreamLineEvent.blockDelta(piece)));
    return lines;
  }

  private static List<ClaudeLineBody> complete(ContentComplete end) {
    var lines = new ArrayList<ClaudeLineBody>();
    if (!end.content().isEmpty()) {
      lines.add(assistant(end, ClaudeContent.text(end.content())));
      lines.add(new StreamLine(StreamLineEvent.blockStop()));
    }
    if (end.toolCalls() != null) {
      for (var call : end.toolCalls()) {
        lines.add(assistant(end, ClaudeContent.call(call.id(), call.name(), call.arguments())));
      }
    }
    lines.add(new StreamLine(StreamLineEvent.messageDelta(reason(end.finishReason()), null)));
    return lines;
  }

  private static MessageLine assistant(ContentComplete end, ClaudeContent content) {
    return new MessageLine("assistant", ClaudeMessage.assistant(end.blockId(), content));
  }

  /// Ends the message that has not ended yet. Usage without such a message, such as the sums at the
  /// end of a turn, has no line; the result contains it.
  private List<StreamLine> usage(Entry entry, Usage usage) {
    var open =
        preceding.find(
            entry,
            earlier -> earlier.event() instanceof ContentComplete,
            earlier -> earlier.event() instanceof Usage || earlier.event() instanceof TaskCreated,
            1);
    return open.isEmpty()
        ? List.of()
        : List.of(
            new StreamLine(StreamLineEvent.messageDelta(null, TokenUsage.of(usage))),
            new StreamLine(StreamLineEvent.messageStop()));
  }

  private static MessageLine toolResult(ToolComplete end) {
    var content = AgentMessageEncoder.toolContent(end);
    var text = content.isString() ? content.asString() : content.toString();
    var result = ClaudeContent.result(end.toolCallId(), text, !end.success());
    return new MessageLine("user", ClaudeMessage.user(result));
  }

  /// The last line. `failure` is the status of an agent that did not complete.
  private static ResultLine result(
      String subtype, @Nullable String text, @Nullable AgentStatus failure, TaskEndFacts end) {
    var statistics = TaskStatistics.of(end);
    return new ResultLine(
        "result",
        subtype,
        failure != null,
        text == null ? "" : text,
        failure,
        end.duration().asLong(0),
        statistics.num_turns(),
        statistics.total_cost_usd(),
        statistics.usage());
  }

  private static String reason(@Nullable FinishReason reason) {
    return switch (reason) {
      case null -> "end_turn";
      case STOP -> "end_turn";
      case LENGTH -> "max_tokens";
      case TOOL_CALLS -> "tool_use";
      case CONTENT_FILTER, REFUSAL -> "refusal";
      case INTERRUPTED, CANCELED -> "pause_turn";
    };
  }
}
