package dev.parley.cli;

import dev.parley.protocol.Json;
import dev.parley.tool.Tool.Permission;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Gemini CLI without a terminal: `--acp` if it is to ask for approval; otherwise it rejects or
/// allows all calls that need approval.
final class GeminiDialect implements Dialect {

  private final CliSettings settings;

  GeminiDialect(CliSettings settings) {
    this.settings = settings;
  }

  private boolean asks() {
    return switch (settings.policy().standard()) {
      case ASK -> true;
      case ALLOW, DENY -> false;
      case null -> true;
    };
  }

  @Override
  public LineParser parser(Errand errand) {
    return asks() ? new AcpParser(asText(prompt(errand)), session(errand)) : new GeminiParser();
  }

  @Override
  public Launch launch(Errand errand, Path folder) {
    var words = new ArrayList<>(settings.command());
    if (asks()) {
      words.add("--acp");
    } else {
      words.addAll(List.of("--output-format", "stream-json"));
    }
    words.add("--skip-trust");
    var free = settings.policy().standard() == Permission.ALLOW;
    words.addAll(List.of("--approval-mode", free ? "yolo" : "default"));
    if (settings.model() != null) {
      words.addAll(List.of("--model", settings.model()));
    }
    settings.allowedTools().forEach(tool -> words.addAll(List.of("--allowed-tools", tool)));
    var session = session(errand);
    if (session != null && !asks()) {
      words.addAll(List.of("--resume", session));
    }
    words.addAll(settings.args());
    return asks()
        ? new Launch(words, hello(session, folder), true)
        : new Launch(words, prompt(errand), false);
  }

  private static @Nullable String session(Errand errand) {
    var resume = errand.resume();
    return resume == null ? null : resume.session();
  }

  private String prompt(Errand errand) {
    return settings.instructions() == null || errand.resume() != null
        ? errand.prompt()
        : settings.instructions() + "\n\n" + errand.prompt();
  }

  /// A prompt that starts with these characters would be a command to the program itself.
  private static String asText(String prompt) {
    var first = prompt.strip();
    return first.startsWith("/") || first.startsWith("$") ? "The user says:\n\n" + prompt : prompt;
  }

  private static String hello(@Nullable String session, Path folder) {
    var hello = Json.object().put("protocolVersion", 1);
    hello
        .putObject("clientCapabilities")
        .putObject("fs")
        .put("readTextFile", false)
        .put("writeTextFile", false);
    var begin = Json.object().put("cwd", folder.toString());
    begin.putArray("mcpServers");
    if (session != null) {
      begin.put("sessionId", session);
    }
    return Rpc.request(AcpParser.HELLO, "initialize", hello)
        + Rpc.request(AcpParser.SESSION, session == null ? "session/new" : "session/load", begin);
  }

  @Override
  public boolean resumes() {
    return true;
  }

  @Override
  public boolean lost(String message) {
    return message.contains("Invalid session identifier")
        || message.contains("No previous sessions found");
  }
}
