package dev.parley.protocol;

import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Where a text comes from that nobody vouches for: it may contain instructions of an attacker.
///
/// @param name the address, path or name of the source, for people
public record TextOrigin(TextSource source, String name) {

  private static final int NAME_MAX = 200;
  private static final String KIND = "kind";
  private static final String NAME = "name";

  /// The kinds of sources.
  public enum TextSource implements WireName {
    FILE("the file "),
    FOLDER("the folder "),
    WEB(""),
    COMMAND("the command "),
    MCP("the MCP tool "),
    AGENT("the agent "),
    CALLER("a message of the agent "),
    APPLICATION("the application: "),
    TOOL("the tool ");

    private final String words;

    TextSource(String words) {
      this.words = words;
    }

    @Override
    public String wire() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public TextOrigin {
    name = name.length() <= NAME_MAX ? name : name.substring(0, NAME_MAX) + "…";
  }

  /// The source in words, such as "the file notes.txt".
  public String description() {
    return source.words + VisibleText.of(name);
  }

  /// The origin in these metadata fields, if a newer version has not written an unknown kind.
  static Optional<TextOrigin> of(ObjectNode json) {
    return WireName.find(TextSource.class, json.path(KIND).asString(""))
        .map(source -> new TextOrigin(source, json.path(NAME).asString("")));
  }

  ObjectNode json() {
    return Json.object().put(KIND, source.wire()).put(NAME, name);
  }

  /// An origin for a tool result, from an argument that may be missing.
  public static TextOrigin of(TextSource source, @Nullable String name, String otherwise) {
    return new TextOrigin(source, name == null || name.isBlank() ? otherwise : name);
  }
}
