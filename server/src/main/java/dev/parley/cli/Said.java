package dev.parley.cli;

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
public sealed interface Said {

  /// A piece of the answer. Pieces belong together until [TextEnd] or any other event of the same
  /// sender.
  record Text(@Nullable String within, String piece) implements Said {}

  /// A block of text is complete. `undecided` means that the program sends the reason why the model
  /// stopped later, with [Stopped].
  record TextEnd(@Nullable String within, boolean undecided) implements Said {

    /// A block after which the model simply stopped.
    public TextEnd(@Nullable String within) {
      this(within, false);
    }
  }

  /// Why the model stopped.
  record Stopped(@Nullable String within, FinishReason reason) implements Said {}

  /// A piece of reasoning.
  record Thinking(@Nullable String within, String piece) implements Said {}

  /// A tool is called; `subagent` is set if the call starts a sub-agent.
  record ToolCalled(
      @Nullable String within,
      String id,
      String name,
      ObjectNode arguments,
      @Nullable Subagent subagent)
      implements Said {}

  /// The name and the prompt of a sub-agent.
  record Subagent(@Nullable String name, String prompt) {}

  /// A call has returned.
  record ToolEnded(
      @Nullable String within, String id, @Nullable JsonNode result, @Nullable String error)
      implements Said {}

  /// The current session of this run, by which it can be resumed.
  record Session(String id) implements Said {}

  /// A place in the session at which it can be resumed.
  record Mark(String place) implements Said {}

  /// The program calls its model; the name may be empty.
  record ModelCalled(String model) implements Said {}

  /// The number of model calls in this run as counted by the program; 0 if it does not count.
  record Turns(long count) implements Said {}

  /// Tokens and costs that were not reported before.
  record Spent(Usage usage) implements Said {}

  /// The total usage of the session, in the form of the program, to be stored with it.
  record Totals(ObjectNode counts) implements Said {}

  /// The program asks for permission to make a call, and waits for `reply`.
  record Asked(
      String request,
      String tool,
      ObjectNode arguments,
      @Nullable String call,
      boolean person,
      Reply reply)
      implements Said {}

  /// The program sent a request that is not supported; `refusal` is the line to send back.
  record Demanded(String what, String refusal) implements Said {}

  /// The line to send to the program next.
  record Ready(String line) implements Said {}

  /// The program reported an error and continues.
  record Trouble(String message) implements Said {}

  /// The turn is over. Only this event decides whether it succeeded.
  record Ended(boolean success, @Nullable String text, @Nullable Failure failure) implements Said {}

  /// Why a turn failed.
  record Failure(ErrorCode code, String message, boolean retryable) {}

  /// The line itself is kept.
  record Raw(Why why) implements Said {}

  /// Why a line is kept.
  enum Why {
    /// It is not a JSON object.
    NOISE,
    /// Its type is unknown.
    UNKNOWN,
    /// It contains more than its events do.
    MORE
  }
}
