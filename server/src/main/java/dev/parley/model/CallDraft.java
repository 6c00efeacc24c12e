package dev.parley.model;

import dev.parley.protocol.ContentEvent.ToolCall;
import dev.parley.protocol.Id;
import dev.parley.protocol.ToolCallId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.function.Supplier;

/// A tool call while it is being written. For one thread.
final class CallDraft {

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

  /// Some servers repeat id and name with every piece, others send them empty: what comes first counts.
  void is(String givenId, String givenName) {
    id = id.isEmpty() ? givenId : id;
    name = name.isEmpty() ? givenName : name;
  }

  void add(String piece) {
    arguments.append(piece);
  }

  /// Puts all of the arguments in place of what has come of them.
  void replace(String all) {
    arguments.setLength(0);
    arguments.append(all);
  }

  /// The calls, with our names for tools; ids that are missing, double or of no form we know are new.
  static List<ToolCall> calls(List<CallDraft> drafts, WireNames names, Supplier<String> ids) {
    var used = new HashSet<String>();
    var calls = new ArrayList<ToolCall>();
    for (var draft : drafts) {
      var known = Id.valid(draft.id) && used.add(draft.id);
      calls.add(
          new ToolCall(
              new ToolCallId(known ? draft.id : ids.get()),
              draft.name.isBlank() ? UNNAMED : Whole.text(names.ours(draft.name)),
              ToolArguments.read(draft.arguments())));
    }
    return calls;
  }
}
