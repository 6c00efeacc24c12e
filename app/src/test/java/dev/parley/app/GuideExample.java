package dev.parley.app;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A command in a guide, and its expected output, if any.
///
/// Commands are in blocks marked `sh`, or in unmarked blocks that begin with `curl` or `./parley`.
/// A block right below has the output of the last command: spaces, ids and times are ignored, and
/// `…` matches anything.
record GuideExample(String command, @Nullable String output, int line) {

  private static final Pattern MASKED =
      Pattern.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z");
  private static final Pattern STARTS_A_SERVER = Pattern.compile("\\./parley(?: serve.*| -.*)?");
  private static final Pattern ENDLESS =
      Pattern.compile("curl -s?N (?!.*-X POST).*|\\./parley tail (?!.*--no-follow).*");

  static List<GuideExample> in(Guide guide) {
    var examples = new ArrayList<GuideExample>();
    var blocks = guide.blocks();
    for (var i = 0; i < blocks.size(); i++) {
      var block = blocks.get(i);
      if (!runs(block)) {
        continue;
      }
      var commands = commands(block);
      var next = i + 1 < blocks.size() ? blocks.get(i + 1) : null;
      var output = next != null && next.attached() && !runs(next) ? next.text() : null;
      for (var command : commands) {
        var last = command.equals(commands.getLast());
        if (!STARTS_A_SERVER.matcher(command).matches()) {
          examples.add(new GuideExample(command, last ? output : null, block.line()));
        }
      }
    }
    return examples;
  }

  /// True if the command never ends by itself.
  boolean endless() {
    return ENDLESS.matcher(command).lookingAt();
  }

  /// True if the guide expects the server to reject the request.
  boolean refused() {
    return output != null
        && (output.contains("\"status\":4") || output.contains("\"success\":false"));
  }

  /// True if `printed` has the expected output; for a stream without one, any event.
  boolean fulfilledBy(String printed) {
    if (output == null) {
      return !endless() || printed.contains("\"seq\":");
    }
    var masked = MASKED.matcher(bare(output)).replaceAll("…");
    var pattern =
        Stream.of(masked.split("…", -1)).map(Pattern::quote).collect(Collectors.joining(".*?"));
    return Pattern.compile(pattern, Pattern.DOTALL).matcher(bare(printed)).find();
  }

  private static boolean runs(Guide.Block block) {
    return block.language().equals("sh")
        || (block.language().isEmpty()
            && !block.attached()
            && block.lines().stream().allMatch(line -> line.matches("(?:curl|\\./parley)\\b.*")));
  }

  private static List<String> commands(Guide.Block block) {
    return Stream.of(block.text().replaceAll("\\\\\n *", "").split("\n", -1))
        .map(command -> command.replaceFirst("\\s+# .*$", "").strip())
        .filter(command -> !command.isEmpty())
        .toList();
  }

  private static String bare(String text) {
    return text.replaceAll("\\s+", "");
  }

  @Override
  public String toString() {
    return "line " + line + ": " + command;
  }
}
