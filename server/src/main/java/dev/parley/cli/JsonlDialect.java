package dev.parley.cli;

import java.nio.file.Path;
import java.util.ArrayList;

/// Any program that prints JSON lines. The prompt is sent to its standard input, or passed as an
/// argument where [#PROMPT] is configured.
final class JsonlDialect implements Dialect {

  /// The placeholder for the prompt; must be a word of its own.
  static final String PROMPT = "{prompt}";

  /// The placeholder for the session, in the words of `resume`.
  static final String SESSION = "{session}";

  private final CliSettings settings;

  JsonlDialect(CliSettings settings) {
    this.settings = settings;
  }

  @Override
  public LineParser parser(Errand errand) {
    return new MappedParser(settings.mapping());
  }

  @Override
  public Launch launch(Errand errand, Path folder) {
    var words = new ArrayList<>(settings.command());
    words.addAll(settings.args());
    var resume = errand.resume();
    if (resume != null) {
      settings.resume().forEach(word -> words.add(word.replace(SESSION, resume.session())));
    }
    var instructions =
        settings.instructions() == null || resume != null ? "" : settings.instructions() + "\n\n";
    var prompt = instructions + errand.prompt();
    var asWord = words.contains(PROMPT);
    words.replaceAll(word -> word.equals(PROMPT) ? prompt : word);
    return new Launch(words, asWord ? "" : prompt, false);
  }

  @Override
  public boolean resumes() {
    return !settings.resume().isEmpty();
  }
}
