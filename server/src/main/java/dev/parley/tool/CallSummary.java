package dev.parley.tool;

import dev.parley.tool.Tool.Effect;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/// Describes in one line what a tool call does if a person approves it.
public final class CallSummary {

  static final String COMMAND = "Runs a command on this machine";

  private static final String UNKNOWN = "May change something";
  private static final int NAME_MAX = 300;

  private CallSummary() {}

  /// The summary of a call if only its effect is known.
  static String of(Effect effect) {
    return switch (effect) {
      case PURE -> "Reads only, changes nothing";
      case IDEMPOTENT, AT_MOST_ONCE, ASK -> UNKNOWN;
    };
  }

  /// The summary of a call that writes a whole file.
  static String write(String path, boolean exists) {
    return (exists ? "Overwrites " : "Creates ") + shortened(path);
  }

  /// The summary of a call that changes a part of a file.
  static String edit(String path) {
    return "Changes " + shortened(path);
  }

  /// The summary of a call that makes an HTTP request.
  static String request(String method, String url) {
    var request = method.equals("GET") ? "a request" : "a " + shortened(method) + " request";
    return "Sends " + request + host(url).map(host -> " to " + host).orElse("");
  }

  /// The summary of a call that a program or another agent wants to make with its own tool. It is
  /// derived from the name of the tool and its arguments, as far as they are known.
  public static String ofExternal(String tool, JsonNode arguments, Path folder) {
    var file = first(arguments, "file_path", "notebook_path", "path");
    var url = first(arguments, "url");
    if (!first(arguments, "command").isEmpty() || arguments.path("command").isArray()) {
      return COMMAND;
    }
    if (!url.isEmpty()) {
      return request("GET", url);
    }
    var name = tool.toLowerCase(Locale.ROOT);
    return switch (name) {
      case "write" -> file.isEmpty() ? UNKNOWN : write(file, exists(folder, file));
      case "edit", "multiedit", "notebookedit" -> file.isEmpty() ? UNKNOWN : edit(file);
      case "read", "glob", "grep", "ls" -> of(Effect.PURE);
      default -> UNKNOWN;
    };
  }

  private static String first(JsonNode arguments, String... names) {
    for (var name : names) {
      if (!arguments.path(name).asString("").isBlank()) {
        return arguments.path(name).asString();
      }
    }
    return "";
  }

  private static boolean exists(Path folder, String file) {
    try {
      return Files.exists(folder.resolve(file));
    } catch (InvalidPathException noPath) {
      return false;
    }
  }

  private static Optional<String> host(String url) {
    try {
      return Optional.ofNullable(new URI(url.strip()).getHost()).map(CallSummary::shortened);
    } catch (URISyntaxException noAddress) {
      return Optional.empty();
    }
  }

  private static String shortened(String name) {
    return name.length() <= NAME_MAX ? name : name.substring(0, NAME_MAX) + "…";
  }
}
