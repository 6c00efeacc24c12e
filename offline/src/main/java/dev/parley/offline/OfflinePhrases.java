package dev.parley.offline;

import dev.parley.model.ModelThought;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import dev.parley.runtime.Time;
import java.time.Duration;
import java.util.List;

/// Replies of the offline model that need no tools.
final class OfflinePhrases {

  static final String HELP =
      """
      I am the offline model: I follow simple rules, and these phrases show what Parley can do.

      - `say X`: I say X.
      - `count to N`: one piece of text for each number; `count slowly to N` takes its time.
      - `think about X`: I think aloud, then answer.
      - `list files`, `read FILE`, `search for X`: I use tools in the working directory.
      - `calculate 2+3*4`, `what time is it`: a calculator and a clock.
      - `summarise the CSV files here`: a dataset, a data record and a report from real files.
      - `write a report on X`: a Markdown file.
      - `run COMMAND`, `write X to FILE`, `fetch URL`: tools that act, and ask you first.
      - `use TOOL {"name": "value"}`: any tool that I have.
      - `ask me X`, `sign in to X`: I wait for you.
      - `delegate X to A and B`: other agents do the work, side by side.
      - `fail`, `loop`: what going wrong looks like.
      - `help`: this list.

      Anything else I answer as well as I can.\
      """;

  private static final int COUNT_MAX = 100_000;
  private static final int ECHO_MAX = 200;

  private OfflinePhrases() {}

  /// Returns the text without surrounding spaces and punctuation.
  static String bare(String text) {
    var end = text.length();
    while (end > 0 && around(text.charAt(end - 1), ".!?;,\"'`")) {
      end--;
    }
    var begin = 0;
    while (begin < end && around(text.charAt(begin), "\"'`")) {
      begin++;
    }
    return text.substring(begin, end);
  }

  private static boolean around(char character, String punctuation) {
    return Character.isWhitespace(character) || punctuation.indexOf(character) >= 0;
  }

  /// Returns the text after these words, with its punctuation.
  static String after(String words, String request) {
    return request.strip().replaceFirst("(?is)^.*?\\b" + words + "\\s+", "");
  }

  static void count(OfflineTurn offlineTurn, String limit, Duration pace, Time time)
      throws InterruptedException {
    var wanted = Long.parseLong(limit);
    if (wanted > COUNT_MAX) {
      offlineTurn.writeText("I can count to " + COUNT_MAX + " at most.");
      return;
    }
    for (var number = 1; number <= wanted; number++) {
      if (number > 1 && !pace.isZero()) {
        time.sleep(pace);
      }
      offlineTurn.writePiece(number == 1 ? "1" : " " + number);
    }
    if (wanted == 0) {
      offlineTurn.writeText("There is nothing to count.");
    }
  }

  static void think(OfflineTurn offlineTurn, String subject) throws InterruptedException {
    var what = clip(subject);
    offlineTurn.think(
        ThoughtType.PLANNING, Verbosity.BRIEF, "First I look at what is asked: " + what);
    offlineTurn.think(
        new ModelThought(
            ThoughtType.REASONING,
            Verbosity.NORMAL,
            "There are two sides to " + what + ": what is known, and what is only assumed.",
            0.8,
            List.of()));
    offlineTurn.think(
        new ModelThought(
            ThoughtType.REFLECTION,
            Verbosity.DETAILED,
            "A short answer is honest here, since I follow rules and know nothing of " + what + ".",
            0.6,
            List.of("give a long answer", "ask back what exactly is meant")));
    offlineTurn.think(
        new ModelThought(
            ThoughtType.DECISION, Verbosity.BRIEF, "I give the short answer.", 0.9, List.of()));
    offlineTurn.writeText(
        "I have thought about "
            + what
            + ". What is known should come first, what is assumed second.");
  }

  static void other(OfflineTurn offlineTurn, String request) throws InterruptedException {
    offlineTurn.writeText(
        request.isEmpty()
            ? "I am listening. Say `help` to see what I can do."
            : "You said: \""
                + clip(request)
                + "\". I am the offline model and follow simple rules;"
                + " say `help` to see what I can do.");
  }

  private static String clip(String text) {
    if (text.length() <= ECHO_MAX) {
      return text;
    }
    var end = Character.isHighSurrogate(text.charAt(ECHO_MAX - 1)) ? ECHO_MAX - 1 : ECHO_MAX;
    return text.substring(0, end) + "…";
  }
}
