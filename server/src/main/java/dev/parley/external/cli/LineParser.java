package dev.parley.external.cli;

import dev.parley.external.cli.ProgramEvent.RawReason;
import dev.parley.protocol.Json;
import dev.parley.protocol.ReportEvent.ErrorCode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Parses the output of one run of a program, whose lines are JSON objects.
///
/// A parser has no side effects and never throws, whatever a line contains. It is for one run and
/// one thread. The methods that add events are for events of the program itself, not of its
/// sub-agents; those that accept null do nothing in that case.
public abstract class LineParser {

  private List<ProgramEvent> events = new ArrayList<>();

  /// The events of a line, in order. Empty if the line contains nothing of interest.
  public final List<ProgramEvent> read(String line) {
    if (line.isBlank()) {
      return List.of();
    }
    events = new ArrayList<>();
    JsonLine.parse(line).ifPresentOrElse(this::parse, () -> keep(RawReason.NOISE));
    return events;
  }

  /// Adds the events of a line.
  abstract void parse(ObjectNode json);

  /// The events of a call that was denied; empty if the program reports it itself.
  public List<ProgramEvent> denied(ProgramEvent.PermissionAsked permissionAsked, String reason) {
    return List.of();
  }

  /// The remaining events after the last line.
  public List<ProgramEvent> end() {
    return List.of();
  }

  final void add(ProgramEvent event) {
    events.add(event);
  }

  final void addAll(List<ProgramEvent> more) {
    events.addAll(more);
  }

  final void keep(RawReason why) {
    add(new ProgramEvent.KeptLine(why));
  }

  final void addSession(@Nullable String id) {
    if (id != null) {
      add(new ProgramEvent.SessionKnown(id));
    }
  }

  final void addText(@Nullable String piece) {
    if (piece != null) {
      add(new ProgramEvent.TextDelta(null, piece));
    }
  }

  final void addThinking(@Nullable String piece) {
    if (piece != null) {
      add(new ProgramEvent.ThinkingDelta(null, piece));
    }
  }

  final void addCall(String id, String tool, ObjectNode arguments) {
    add(new ProgramEvent.ToolCalled(null, id, tool, arguments, null));
  }

  final void addError(String message) {
    add(new ProgramEvent.ErrorMessage(message));
  }

  /// The turn has succeeded.
  final void turnCompleted(@Nullable String text) {
    add(new ProgramEvent.TurnEnded(true, text, null));
    keep(RawReason.PARTLY_MAPPED);
  }

  final void turnFailed(ErrorCode code, String message, boolean retryable) {
    var failure = new ProgramEvent.TurnFailure(code, message, retryable);
    add(new ProgramEvent.TurnEnded(false, null, failure));
    keep(RawReason.PARTLY_MAPPED);
  }

  /// A call by the program itself that has returned.
  static ProgramEvent.ToolEnded returned(String id, JsonNode result) {
    return new ProgramEvent.ToolEnded(null, id, result, null);
  }

  static ProgramEvent.ToolEnded failed(String id, String error) {
    return new ProgramEvent.ToolEnded(null, id, null, error);
  }

  static JsonNode textNode(String text) {
    return Json.mapper().getNodeFactory().stringNode(text);
  }
}
