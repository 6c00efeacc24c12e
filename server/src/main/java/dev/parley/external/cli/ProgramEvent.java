package dev.parley.external.cli;

import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// An event in the output of a program, in the same form for all programs.
///
/// `within` is the program's id of the tool call whose sub-agent sent the event; null for the
/// program itself.
public sealed interface ProgramEvent {

  /// A piece of the answer. Pieces belong together until [TextEnd] or any other event of the same
  /// sender.
  record TextDelta(@Nullable String within, String piece) implements ProgramEvent {}

  /// A block of text is complete. `undecided` means that the program sends the reason why the model
  /// stopped later, with [ModelStopped].
  record TextEnd(@Nullable String within, boolean undecided) implements ProgramEvent {

    /// A block after which the model simply stopped.
    public TextEnd(@Nullable String within) {
      this(within, false);
    }
  }

  /// Why the model stopped.
  record ModelStopped(@Nullable String within, FinishReason reason) implements ProgramEvent {}

  /// A piece of reasoning.
  record ThinkingDelta(@Nullable String within, String piece) implements ProgramEvent {}

  /// A tool is called; `subagent` is set if the call starts a sub-agent.
  record ToolCalled(
      @Nullable String within,
      String id,
      String name,
      ObjectNode arguments,
      @Nullable SubagentStart subagent)
      implements ProgramEvent {}

  /// The name and the prompt of a sub-agent.
  record SubagentStart(@Nullable String name, String prompt) {}

  /// A call has returned.
  record ToolEnded(
      @Nullable String within, String id, @Nullable JsonNode result, @Nullable String error)
      implements ProgramEvent {}

  /// The current session of this run, by which it can be resumed.
  record SessionKnown(String id) implements ProgramEvent {}

  /// A place in the session at which it can be resumed.
  record SessionMark(String place) implements ProgramEvent {}

  /// The program calls its model; the name may be empty.
  record ModelCalled(String model) implements ProgramEvent {}

  /// The number of model calls in this run as counted by the program; 0 if it does not count.
  record TurnCount(long count) implements ProgramEvent {}

  /// Tokens and costs that were not reported before.
  record UsageReported(Usage usage) implements ProgramEvent {}

  /// The total usage of the session, in the form of the program, to be stored with it.
  record SessionTotals(ObjectNode counts) implements ProgramEvent {}

  /// The program asks for permission to make a call, and waits for `reply`.
  record PermissionAsked(
      String request,
      String tool,
      ObjectNode arguments,
      @Nullable String call,
      boolean person,
      ApprovalReply reply)
      implements ProgramEvent {}

  /// The program sent a request that is not supported; `refusal` is the line to send back.
  record UnsupportedRequest(String what, String refusal) implements ProgramEvent {}

  /// The line to send to the program next.
  record LineToSend(String line) implements ProgramEvent {}

  /// The program reported an error and continues.
  record ErrorMessage(String message) implements ProgramEvent {}

  /// The turn is over. Only this event decides whether it succeeded.
  record TurnEnded(boolean success, @Nullable String text, @Nullable TurnFailure failure)
      implements ProgramEvent {}

  /// Why a turn failed.
  record TurnFailure(ErrorCode code, String message, boolean retryable) {}

  /// The line itself is kept.
  record KeptLine(RawReason why) implements ProgramEvent {}

  /// Why a line is kept.
  enum RawReason {
    /// It is not a JSON object.
    NOISE,
    /// Its type is unknown.
    UNKNOWN,
    /// It contains more than its events do.
    PARTLY_MAPPED
  }
}
