package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigProblem.suggestion;
import static dev.parley.server.ConfigReader.or;

import dev.parley.http.ApiTokens;
import dev.parley.http.ApprovalSettings;
import dev.parley.server.ConfigFile.ApprovalSection;
import dev.parley.server.ConfigFile.TokenSection;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads the section `approvals`: which callers may approve tool calls.
final class ApprovalConfigReader {

  private static final String STANDARD = "standard";
  private static final String STRICT = "strict";

  /// The section that defines the names of callers.
  private static final String TOKENS = "auth.tokens";

  private ApprovalConfigReader() {}

  static ApprovalSettings read(ConfigFile file, ConfigProblems problems) {
    var auth = file.auth();
    var tokens = auth == null || auth.tokens() == null ? List.<TokenSection>of() : auth.tokens();
    var section = file.approvals();
    var strict = section != null && problems.collectOr(false, () -> strict(section.mode()));
    var none = new HashSet<String>();
    for (var token : tokens) {
      var name = token.name();
      if (name != null && Boolean.FALSE.equals(token.approve())) {
        none.add(name);
      }
    }
    if (strict && tokens.isEmpty()) {
      problems.addReference(
          invalid(
              "approvals.mode",
              "strict needs auth.tokens, because only callers with a token can approve"),
          TOKENS);
    } else if (strict && none.size() == tokens.size()) {
      problems.addReference(
          invalid("approvals.mode", "strict needs a token without approve: false"), TOKENS);
    }
    var callers = section == null ? Set.<String>of() : callers(section, tokens, problems);
    return new ApprovalSettings(strict, callers, none, ApprovalSettings.DEFAULTS.ownProcess());
  }

  private static boolean strict(@Nullable String mode) {
    if (mode == null || mode.equals(STANDARD)) {
      return false;
    }
    if (mode.equals(STRICT)) {
      return true;
    }
    throw ConfigProblem.notOneOf("approvals.mode", mode, List.of(STANDARD, STRICT));
  }

  private static Set<String> callers(
      ApprovalSection section, List<TokenSection> tokens, ConfigProblems problems) {
    var callers = or(section.a2aCallers(), List.<String>of());
    var names =
        tokens.isEmpty()
            ? List.of(ApiTokens.LOCAL)
            : tokens.stream().map(TokenSection::name).filter(Objects::nonNull).toList();
    for (var i = 0; i < callers.size(); i++) {
      var caller = callers.get(i);
      if (!names.contains(caller)) {
        problems.addReference(
            invalid(
                "approvals.a2aCallers[" + i + "]",
                tokens.isEmpty()
                    ? "unknown caller; without auth.tokens the only caller is " + ApiTokens.LOCAL
                    : "there is no token with the name " + caller + suggestion(caller, names)),
            TOKENS);
      }
    }
    return Set.copyOf(callers);
  }
}
