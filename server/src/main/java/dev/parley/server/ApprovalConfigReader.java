package dev.parley.server;

import static dev.parley.server.ConfigProblem.invalid;

import dev.parley.http.ApiTokens;
import dev.parley.http.ApprovalSettings;
import dev.parley.server.ConfigFile.ApprovalSection;
import dev.parley.server.ConfigFile.TokenSection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Reads the section `approvals`: which callers may approve tool calls.
final class ApprovalConfigReader {

  private static final String STANDARD = "standard";
  private static final String STRICT = "strict";

  private ApprovalConfigReader() {}

  static ApprovalSettings read(ConfigFile file) {
    var auth = file.auth();
    var tokens = auth == null || auth.tokens() == null ? List.<TokenSection>of() : auth.tokens();
    var section = file.approvals();
    var strict = section != null && strict(section.mode());
    if (strict && tokens.isEmpty()) {
      throw invalid(
          "approvals.mode",
          "strict needs auth.tokens, because only callers with a token can" + " approve");
    }
    var none = new HashSet<String>();
    for (var token : tokens) {
      var name = token.name();
      if (name != null && Boolean.FALSE.equals(token.approve())) {
        none.add(name);
      }
    }
    if (strict && none.size() == tokens.size()) {
      throw invalid("approvals.mode", "strict needs a token without approve: false");
    }
    var callers = section == null ? Set.<String>of() : callers(section, tokens);
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

  private static Set<String> callers(ApprovalSection section, List<TokenSection> tokens) {
    var callers = section.a2aCallers();
    if (callers == null) {
      return Set.of();
    }
    for (var caller : callers) {
      var known =
          tokens.isEmpty()
              ? caller.equals(ApiTokens.LOCAL)
              : tokens.stream().anyMatch(token -> caller.equals(token.name()));
      if (!known) {
        throw invalid(
            "approvals.a2aCallers",
            (tokens.isEmpty()
                ? "unknown caller; without auth.tokens the only caller is " + ApiTokens.LOCAL
                : "there is no token with the name " + caller));
      }
    }
    return Set.copyOf(callers);
  }
}
