package dev.parley.api.openai;

import dev.parley.protocol.Id;
import dev.parley.protocol.InputId;
import dev.parley.protocol.Rejection;
import dev.parley.protocol.TaskId;
import java.util.Optional;
import java.util.regex.Pattern;

/// The id of a response: its root task, and which run of the task it is.
///
/// A root task has one run, or several if it waits for a person or for the client in between. The
/// number of a run follows from the log, so an id never has to be stored.
record ResponseId(TaskId root, int run) {

  static final String RESPONSE = "resp_";
  static final String COMPLETION = "chatcmpl-";
  static final String CALL = "call_";
  static final String APPROVAL = "mcpr_";

  private static final Pattern FORM =
      Pattern.compile("(?:resp_|chatcmpl-)([A-Za-z0-9._:-]+?)(?:_([1-9][0-9]{0,5}))?");

  /// Parses the id of a response or of a chat completion.
  ///
  /// @throws Rejection.NotFound if no response can have this id
  static ResponseId parse(String text) {
    var matcher = FORM.matcher(text);
    if (text.length() > 2 * Id.LENGTH_MAX || !matcher.matches() || !Id.valid(matcher.group(1))) {
      throw unknown(text);
    }
    var run = matcher.group(2) == null ? 1 : Integer.parseInt(matcher.group(2));
    return new ResponseId(new TaskId(matcher.group(1)), run);
  }

  static Rejection unknown(String text) {
    return new Rejection.NotFound("Response with id '" + text + "' not found.");
  }

  /// The id as text, after one of the prefixes.
  String text(String prefix) {
    return prefix + root + (run == 1 ? "" : "_" + run);
  }

  @Override
  public String toString() {
    return text(RESPONSE);
  }

  /// A question of a root task, as clients see its id: a function call or an approval request.
  record QuestionId(TaskId root, InputId input) {

    static Optional<QuestionId> parse(String prefix, String text) {
      var split = text.lastIndexOf('_');
      if (!text.startsWith(prefix) || split <= prefix.length()) {
        return Optional.empty();
      }
      var root = text.substring(prefix.length(), split);
      var input = text.substring(split + 1);
      return Id.valid(root) && Id.valid(input)
          ? Optional.of(new QuestionId(new TaskId(root), new InputId(input)))
          : Optional.empty();
    }

    String text(String prefix) {
      return prefix + root + "_" + input;
    }
  }
}
