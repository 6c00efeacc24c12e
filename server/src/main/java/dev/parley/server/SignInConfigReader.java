package dev.parley.server;

import static dev.parley.server.ConfigFile.or;
import static dev.parley.server.ConfigProblem.invalid;
import static dev.parley.server.ConfigProblem.quoted;

import dev.parley.identity.Caller;
import dev.parley.identity.Role;
import dev.parley.identity.oidc.OidcSettings;
import dev.parley.protocol.Rejection;
import dev.parley.server.ConfigFile.SignInSection;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Reads the section `signIn`.
final class SignInConfigReader {

  private static final List<String> SCOPES = List.of("openid", "profile", "email");
  private static final String ISSUER =
      "https://[^\\s?#@]+|http://(?:127\\.0\\.0\\.1|localhost|\\[::1])(?::\\d{1,5})?(?:/[^\\s?#@]*)?";
  private static final String DOMAIN = "[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)+";
  private static final String TENANT = "[a-z0-9][a-z0-9_@-]{0,62}";

  private final ConfigProblems problems;

  /// @param problems collects problems of this section
  SignInConfigReader(ConfigProblems problems) {
    this.problems = problems;
  }

  Optional<OidcSettings> read(@Nullable SignInSection section) {
    if (section == null) {
      return Optional.empty();
    }
    var issuer = issuer(section.issuer());
    var clientId = or(section.clientId(), "");
    if (clientId.isBlank()) {
      problems.add(
          invalid("clientId", "is needed: the provider shows it where Parley is registered"));
    }
    var scopes = or(section.scopes(), SCOPES);
    if (!scopes.contains("openid")) {
      problems.add(invalid("scopes", "must contain openid"));
    }
    var tenant = or(section.tenant(), Caller.DEFAULT_TENANT);
    if (!tenant.matches(TENANT)) {
      problems.add(
          invalid(
              "tenant",
              "must be 1 to 63 characters of a-z 0-9 _ @ - and begin with a letter or digit"));
    }
    return Optional.of(
        new OidcSettings(
            issuer,
            clientId,
            section.clientSecret(),
            scopes,
            or(section.name(), host(issuer)),
            section.groupsClaim(),
            roles(section),
            tenant,
            domains(or(section.emailDomains(), List.of()))));
  }

  private String issuer(@Nullable String text) {
    var issuer = or(text, "");
    if (!issuer.matches(ISSUER)) {
      problems.add(
          invalid(
              "issuer",
              "must be the https URL of an OpenID provider, such as https://login.example.org; found "
                  + quoted(issuer)));
    }
    return issuer;
  }

  private static String host(String issuer) {
    try {
      var host = URI.create(issuer).getHost();
      return host == null ? issuer : host;
    } catch (IllegalArgumentException malformed) {
      return issuer;
    }
  }

  private Map<String, Set<Role>> roles(SignInSection section) {
    var given = section.roles();
    if (given == null) {
      return Map.of(OidcSettings.EVERYONE, Set.of(Role.MEMBER));
    }
    var roles = new HashMap<String, Set<Role>>();
    for (var group : given.entrySet()) {
      var key = ConfigTree.join("roles", group.getKey());
      if (section.groupsClaim() == null && !group.getKey().equals(OidcSettings.EVERYONE)) {
        problems.add(
            invalid(key, "needs groupsClaim: the claim in which the provider sends groups"));
      }
      try {
        roles.put(group.getKey(), Role.parse(or(group.getValue(), List.of())));
      } catch (Rejection.Invalid unknown) {
        problems.add(invalid(key, String.valueOf(unknown.getMessage())));
      }
    }
    return roles;
  }

  private Set<String> domains(List<String> texts) {
    for (var i = 0; i < texts.size(); i++) {
      if (!texts.get(i).matches(DOMAIN)) {
        problems.add(
            invalid(
                "emailDomains[" + i + "]",
                "must be a domain, such as example.org; found " + quoted(texts.get(i))));
      }
    }
    return texts.stream()
        .map(text -> text.toLowerCase(Locale.ROOT))
        .collect(Collectors.toUnmodifiableSet());
  }
}
