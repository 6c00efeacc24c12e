package dev.parley.external.cli;

import dev.parley.protocol.Json;
import dev.parley.tool.Tool.Permission;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Gemini CLI without a terminal: `--acp` if it is to ask for approval; otherwise it rejects or
/// allows all calls that need approval.
record GeminiAdapter(CliSettings settings) implements ProgramAdapter {

  @Override
  public LineParser parser(ProgramRequest programRequest) {
    return settings.asks()
        ? new AcpParser(asText(settings.prompt(programRequest)), session(programRequest))
        : new GeminiParser();
  }

  @Override
  public ProgramLaunch launch(ProgramRequest programRequest, Path folder) {
    var words = new ArrayList<>(settings.command());
    if (settings.asks()) {
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
    var session = session(programRequest);
    if (session != null && !settings.asks()) {
      words.addAll(List.of("--resume", session));
    }
    words.addAll(settings.args());
    return settings.asks()
        ? new ProgramLaunch(words, initializeLines(session, folder), true)
        : new ProgramLaunch(words, settings.prompt(programRequest), false);
  }

  private static @Nullable String session(ProgramRequest programRequest) {
    var resumedSession = programRequest.resume();
    return resumedSession == null ? null : resumedSession.session();
  }

  /// A prompt that starts with these characters would be a command to the program itself.
  private static String asText(String prompt) {
    var first = prompt.strip();
    return first.startsWith("/") || first.startsWith("$") ? "The user says:\n\n" + prompt : prompt;
  }

  private static String initializeLines(@Nullable String session, Path folder) {
    var hello = Json.object().put("protocolVersion", 1);
    hello
        .putObject("clientCapabilities")
        .putObject("fs")
        .put("readTextFile", false)
        .put("writeTextFile", false);
    var begin = Json.object().put("cwd", folder.toString());
    begin.putArray("mcpServers");
    Json.putPresent(begin, "sessionId", session);
    return JsonRpcLines.request(AcpParser.INITIALIZE, "initialize", hello)
        + JsonRpcLines.request(
            AcpParser.SESSION, session == null ? "session/new" : "session/load", begin);
  }

  @Override
  public boolean resumes() {
    return true;
  }

  @Override
  public boolean isSessionLost(String message) {
    return message.contains("Invalid session identifier")
        || message.contains("No previous sessions found");
  }
}
