package dev.parley.model;

import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Id;
import dev.parley.protocol.ToolCallId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.function.Supplier;

/// A tool call while it is being received. For one thread.
final class ToolCallDraft {

  private static final String UNNAMED = "unnamed";

  private String id = "";
  private String name = "";
  private final StringBuilder arguments = new StringBuilder();

  String id() {
    return id;
  }

  String name() {
    return name;
  }

  String arguments() {
    return arguments.toString();
  }

  /// Sets the id and name, if they are not set yet. Some servers repeat them with every piece,
  /// others send empty ones.
  void setIdAndName(String givenId, String givenName) {
    id = id.isEmpty() ? givenId : id;
    name = name.isEmpty() ? givenName : name;
  }

  void add(String piece) {
    arguments.append(piece);
  }

  /// Replaces the arguments that were received so far.
  void replace(String all) {
    arguments.setLength(0);
    arguments.append(all);
  }

  /// Returns the tool calls, with tool names mapped back. An id that is missing, duplicate or
  /// invalid is replaced by a new one.
  static List<ToolCall> calls(List<ToolCallDraft> drafts, WireNames names, Supplier<String> ids) {
    var used = new HashSet<String>();
    var calls = new ArrayList<ToolCall>();
    for (var draft : drafts) {
      var known = Id.valid(draft.id) && used.add(draft.id);
      calls.add(
          new ToolCall(
              new ToolCallId(known ? draft.id : ids.get()),
              draft.name.isBlank() ? UNNAMED : SurrogateRepair.text(names.ours(draft.name)),
              ToolArguments.read(draft.arguments())));
    }
    return calls;
  }
}
