package dev.parley.cli;

import dev.parley.protocol.ContentEvent.FinishReason;
import dev.parley.protocol.ReportEvent.ErrorCode;
import dev.parley.protocol.ReportEvent.Usage;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Something that a program said, in the same words for all programs.
///
/// `within` is the program's id of the tool call whose sub-agent says it; missing for the program itself.
public sealed interface Said {

  /// A piece of the answer. Pieces belong together until [TextEnd] or anything else by the same speaker.
  record Text(@Nullable String within, String piece) implements Said {}

  /// A block of text is whole. `undecided` says that the program tells later, with [Stopped], why the model stopped.
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

  /// A tool is called; `subagent` says so if that starts a sub-agent.
  record ToolCalled(
      @Nullable String within,
      String id,
      String name,
      ObjectNode arguments,
      @Nullable Subagent subagent)
      implements Said {}

  /// What a call gives to a sub-agent.
  record Subagent(@Nullable String name, String prompt) {}

  /// A call has come back.
  record ToolEnded(
      @Nullable String within, String id, @Nullable JsonNode result, @Nullable String error)
      implements Said {}

  /// The session that this run is, or now is, by which it can be taken up again.
  record Session(String id) implements Said {}

  /// A place in the session to which it can be taken back.
  record Mark(String place) implements Said {}

  /// The program calls its model; the name may be empty.
  record ModelCalled(String model) implements Said {}

  /// How often the program has called its model in this run, in its own count; 0 if it does not count.
  record Turns(long count) implements Said {}

  /// Tokens and money that were spent, not yet told.
  record Spent(Usage usage) implements Said {}

  /// All that the session has spent, in the program's words, to be remembered with it.
  record Totals(ObjectNode counts) implements Said {}

  /// The program wants to know whether it may make a call, and waits for `reply`.
  record Asked(
      String request,
      String tool,
      ObjectNode arguments,
      @Nullable String call,
      boolean person,
      Reply reply)
      implements Said {}

  /// The program waits for something that it cannot be given, and is to be told so.
  record Demanded(String what, String refusal) implements Said {}

  /// The program is ready for this, and is to be told it.
  record Ready(String line) implements Said {}

  /// Something went wrong, and the program goes on.
  record Trouble(String message) implements Said {}

  /// The turn is over. Nothing else tells whether it went well.
  record Ended(boolean success, @Nullable String text, @Nullable Failure failure) implements Said {}

  /// Why a turn failed.
  record Failure(ErrorCode code, String message, boolean retryable) {}

  /// The line itself is to be kept.
  record Raw(Why why) implements Said {}

  /// Why a line is to be kept.
  enum Why {
    /// It is not a JSON object.
    NOISE,
    /// Nobody here knows its type.
    UNKNOWN,
    /// It tells more than is told of it here.
    MORE
  }
}
