package dev.parley.external.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/// Recorded output of the real programs, and the parser for each.
final class CliFixtures {

  static final Map<String, Supplier<LineParser>> ALL =
      Map.of(
          "claude-stream.jsonl",
          ClaudeParser::new,
          "claude-tool.jsonl",
          ClaudeParser::new,
          "codex-tool.jsonl",
          () -> new CodexParser("gpt", null),
          "codex-server.jsonl",
          () -> new CodexServerParser("gpt", null, "hello"),
          "gemini-stream.jsonl",
          GeminiParser::new,
          "gemini-acp.jsonl",
          () -> new AcpParser("hello", null));

  private CliFixtures() {}

  static List<String> lines(String name) {
    try (var in = CliFixtures.class.getResourceAsStream("/cli/" + name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<ProgramEvent> events(String name) {
    return read(ALL.get(name).get(), lines(name));
  }

  static List<ProgramEvent> read(LineParser parser, List<String> lines) {
    var said = new ArrayList<ProgramEvent>();
    lines.forEach(line -> said.addAll(parser.read(line)));
    said.addAll(parser.end());
    return said;
  }

  static String text(List<ProgramEvent> said) {
    var text = new StringBuilder();
    all(said, ProgramEvent.TextDelta.class).forEach(one -> text.append(one.piece()));
    return text.toString();
  }

  static <S extends ProgramEvent> List<S> all(List<ProgramEvent> said, Class<S> type) {
    return said.stream().filter(type::isInstance).map(type::cast).toList();
  }
}
