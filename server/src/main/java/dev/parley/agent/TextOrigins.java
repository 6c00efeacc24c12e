package dev.parley.agent;

import dev.parley.protocol.TextOrigin;
import dev.parley.protocol.TextOrigin.TextSource;
import dev.parley.protocol.ToolCallFacts;
import dev.parley.tool.Tool;
import dev.parley.tool.Tool.Effect;
import dev.parley.tool.Tool.Permission;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Which tools return text that nobody vouches for, and which have an effect.
final class TextOrigins {

  private static final String MCP = "mcp";
  private static final String LOCAL = "local";

  /// Tools whose results are computed here or given by a person.
  private static final Set<String> TRUSTED =
      Set.of("ask_user", "calculator", "clock", "report", "sign_in", "think");

  /// Tools that only read, compute, ask, or write artifacts of the conversation.
  private static final Set<String> HARMLESS =
      Set.of(
          "ask_user",
          "calculator",
          "clock",
          "data",
          "dataset",
          "list_files",
          "read_file",
          "report",
          "search_files",
          "sign_in",
          "think");

  private TextOrigins() {}

  /// The origin of the result of a call, unless it can be trusted. What agents of this server return
  /// has the origins of what they have read themselves.
  static Optional<TextOrigin> of(Tool tool, ObjectNode arguments) {
    if (tool instanceof SpawnTool || (isLocal(tool) && TRUSTED.contains(tool.name()))) {
      return Optional.empty();
    }
    if (tool.provider().equals(MCP)) {
      return Optional.of(new TextOrigin(TextSource.MCP, tool.name()));
    }
    if (tool.provider().equals(ToolCallFacts.CLIENT)) {
      return Optional.of(new TextOrigin(TextSource.APPLICATION, tool.name()));
    }
    return Optional.of(
        switch (tool.name()) {
          case "read_file", "write_file", "edit_file" ->
              TextOrigin.of(TextSource.FILE, text(arguments, "path"), tool.name());
          case "dataset" ->
              new TextOrigin(
                  TextSource.FILE,
                  arguments
                      .path("files")
                      .valueStream()
                      .map(file -> file.asString(""))
                      .collect(Collectors.joining(", ")));
          case "list_files", "search_files" ->
              TextOrigin.of(TextSource.FOLDER, text(arguments, "path"), ".");
          case "shell" -> TextOrigin.of(TextSource.COMMAND, text(arguments, "command"), "");
          case "fetch", "http" ->
              TextOrigin.of(TextSource.WEB, text(arguments, "url"), tool.name());
          default -> new TextOrigin(TextSource.TOOL, tool.name());
        });
  }

  /// The origin of the result of a tool that ended successfully and whose event has none: an earlier
  /// version wrote it.
  static Optional<TextOrigin> ofUnmarked(String tool) {
    return TRUSTED.contains(tool)
        ? Optional.empty()
        : Optional.of(new TextOrigin(TextSource.TOOL, tool));
  }

  /// The origin of the descriptions of tools, if another program wrote them.
  static Optional<TextOrigin> ofDescription(Tool tool) {
    return tool.provider().equals(MCP) && tool.offered()
        ? Optional.of(new TextOrigin(TextSource.MCP, tool.name() + " (its description)"))
        : Optional.empty();
  }

  /// True if a call changes something outside the conversation, or sends something to others.
  static boolean hasEffect(Tool tool) {
    if (tool instanceof SpawnTool || (isLocal(tool) && HARMLESS.contains(tool.name()))) {
      return false;
    }
    return tool.effect() != Effect.PURE
        || tool.permission() == Permission.ASK
        || tool.provider().equals(ToolCallFacts.CLIENT);
  }

  private static boolean isLocal(Tool tool) {
    return tool.provider().equals(LOCAL);
  }

  private static @Nullable String text(ObjectNode arguments, String name) {
    return arguments.path(name).asString(null);
  }
}
