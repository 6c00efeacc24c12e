package dev.parley.external.cli;

import java.nio.file.Path;
import java.util.ArrayList;

/// Any program that prints JSON lines. The prompt is sent to its standard input, or passed as an
/// argument where [#PROMPT] is configured.
record JsonlAdapter(CliSettings settings) implements ProgramAdapter {

  /// The placeholder for the prompt; must be a word of its own.
  static final String PROMPT = "{prompt}";

  /// The placeholder for the session, in the words of `resume`.
  static final String SESSION = "{session}";

  @Override
  public LineParser parser(ProgramRequest programRequest) {
    return new MappedParser(settings.mapping());
  }

  @Override
  public ProgramLaunch launch(ProgramRequest programRequest, Path folder) {
    var words = new ArrayList<>(settings.command());
    words.addAll(settings.args());
    var resumedSession = programRequest.resume();
    if (resumedSession != null) {
      settings.resume().forEach(word -> words.add(word.replace(SESSION, resumedSession.session())));
    }
    var prompt = settings.prompt(programRequest);
    var asWord = words.contains(PROMPT);
    words.replaceAll(word -> word.equals(PROMPT) ? prompt : word);
    return new ProgramLaunch(words, asWord ? "" : prompt, false);
  }

  @Override
  public boolean resumes() {
    return !settings.resume().isEmpty();
  }
}
