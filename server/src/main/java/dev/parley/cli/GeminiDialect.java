package dev.parley.cli;

import dev.parley.tool.Tool.Permission;
import java.util.ArrayList;
import java.util.List;

/// Gemini CLI without a terminal. It asks nobody: what would need a word it may not do, or may at once.
final class GeminiDialect implements Dialect {

  private final CliSettings settings;

  GeminiDialect(CliSettings settings) {
    this.settings = settings;
  }

  @Override
  public LineParser parser(Errand errand) {
    return new GeminiParser();
  }

  @Override
  public Launch launch(Errand errand) {
    var words = new ArrayList<>(settings.command());
    words.addAll(List.of("--output-format", "stream-json", "--skip-trust"));
    var free = settings.policy().standard() == Permission.ALLOW;
    words.addAll(List.of("--approval-mode", free ? "yolo" : "default"));
    if (settings.model() != null) {
      words.addAll(List.of("--model", settings.model()));
    }
    settings.allowedTools().forEach(tool -> words.addAll(List.of("--allowed-tools", tool)));
    var resume = errand.resume();
    if (resume != null) {
      words.addAll(List.of("--resume", resume.session()));
    }
    words.addAll(settings.args());
    var instructions =
        settings.instructions() == null || resume != null ? "" : settings.instructions() + "\n\n";
    return new Launch(words, instructions + errand.prompt(), false);
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
