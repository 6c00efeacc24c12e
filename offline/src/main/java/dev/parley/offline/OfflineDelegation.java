package dev.parley.offline;

import com.google.re2j.Pattern;
import dev.parley.model.Prompt;
import dev.parley.model.Prompt.PromptPart;
import dev.parley.protocol.Json;
import dev.parley.protocol.ThoughtEvent.ThoughtType;
import dev.parley.protocol.ThoughtEvent.Verbosity;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/// The offline model's delegation to other agents: to one agent with its own tool, to several with
/// `subagents`. It answers with their results.
final class OfflineDelegation {

  private static final String BATCH = "subagents";
  private static final String SINGLE = "agent_";
  private static final String PREFIX = "agent-";
  private static final Pattern BETWEEN = Pattern.compile("\\s*,\\s*(?:and\\s+)?|\\s+and\\s+");

  private OfflineDelegation() {}

  static void run(OfflineTurn offlineTurn, String work, String names) throws InterruptedException {
    var results =
        offlineTurn.results().stream()
            .filter(result -> result.tool().equals(BATCH) || result.tool().startsWith(SINGLE))
            .toList();
    if (!results.isEmpty()) {
      offlineTurn.writeText(
          results.stream().map(OfflineDelegation::describe).collect(Collectors.joining("\n\n")));
      return;
    }
    var wanted = Stream.of(BETWEEN.split(names)).map(OfflineDelegation::bare).toList();
    if (wanted.size() == 1) {
      var tool =
          singles(offlineTurn).stream().filter(id -> matches(wanted.getFirst(), id)).findFirst();
      if (tool.isPresent()) {
        offlineTurn.think(
            ThoughtType.DECISION, Verbosity.BRIEF, "I give this to " + tool.get() + ".");
        offlineTurn.call(SINGLE + tool.get(), "prompt", work);
        return;
      }
    }
    if (offlineTurn.has(BATCH)) {
      batch(offlineTurn, work, wanted);
    } else if (singles(offlineTurn).isEmpty()) {
      offlineTurn.writeText("I need the tool `" + BATCH + "` for that, and do not have it.");
    } else {
      unknown(offlineTurn, names, singles(offlineTurn));
    }
  }

  private static void batch(OfflineTurn offlineTurn, String work, List<String> wanted)
      throws InterruptedException {
    var known = known(offlineTurn);
    var tasks = new ArrayList<String>();
    for (var name : wanted) {
      var id = known.stream().filter(one -> matches(name, one)).findFirst();
      if (id.isEmpty()) {
        unknown(offlineTurn, name, known);
        return;
      }
      tasks.add(id.get());
    }
    offlineTurn.think(
        ThoughtType.DECISION, Verbosity.BRIEF, "I give this to " + String.join(", ", tasks) + ".");
    var arguments = Json.object().put("mode", "parallel");
    var list = arguments.putArray("tasks");
    tasks.forEach(id -> list.addObject().put("agentId", id).put("prompt", work));
    offlineTurn.call(BATCH, arguments);
  }

  private static void unknown(OfflineTurn offlineTurn, String name, List<String> known)
      throws InterruptedException {
    offlineTurn.writeText(
        "I know no agent called "
            + name
            + (known.isEmpty() ? "." : "; there are: " + String.join(", ", known) + "."));
  }

  /// Returns the agents that the schema of `subagents` lists.
  private static List<String> known(OfflineTurn offlineTurn) {
    return offlineTurn.tools().stream()
        .filter(tool -> tool.name().equals(BATCH))
        .flatMap(
            tool ->
                tool.schema()
                    .at("/properties/tasks/items/properties/agentId/enum")
                    .valueStream()
                    .map(JsonNode::asString))
        .toList();
  }

  /// Returns the agents that have their own tool.
  private static List<String> singles(OfflineTurn offlineTurn) {
    return offlineTurn.tools().stream()
        .map(Prompt.ToolDescription::name)
        .filter(name -> name.startsWith(SINGLE))
        .map(name -> name.substring(SINGLE.length()))
        .toList();
  }

  private static boolean matches(String name, String id) {
    return name.equalsIgnoreCase(id) || (PREFIX + name).equalsIgnoreCase(id);
  }

  private static String bare(String name) {
    return name.strip().replaceFirst("(?i)^the\\s+", "").replaceFirst("(?i)\\s+agent$", "");
  }

  private static String describe(PromptPart.PromptToolResult result) {
    if (!result.success()) {
      return "That did not work: " + OfflineActions.text(result.result()) + ".";
    }
    var several = result.result().isArray() ? result.result() : result.result().path("results");
    return several.isArray()
        ? several.valueStream().map(OfflineDelegation::line).collect(Collectors.joining("\n\n"))
        : content(result.result());
  }

  private static String line(JsonNode one) {
    return one.path("agentId").asString("An agent") + ": " + content(one);
  }

  /// Returns the text of a result, which agents return in different fields.
  private static String content(JsonNode result) {
    return Stream.of("content", "result", "error")
        .map(result::path)
        .filter(part -> !part.isMissingNode() && !part.isNull())
        .findFirst()
        .map(OfflineActions::text)
        .orElseGet(() -> OfflineActions.text(result));
  }
}
