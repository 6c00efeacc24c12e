package dev.parley.vault;

import dev.parley.vault.Credential.Renewal;
import dev.parley.vault.Pending.Flow;
import dev.parley.vault.TokenClient.Answer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.LinkedHashMap;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The second half of signing in with OAuth: from the browser's return to the token.
public final class OAuthFlow {

  /// What a browser brings back from an authorization server.
  public record Returned(String state, String code, String error, @Nullable String issuer) {

    /// Never shows a secret.
    @Override
    public String toString() {
      return "returned";
    }
  }

  private final Vault vault;
  private final TokenClient client;

  OAuthFlow(Vault vault, TokenClient client) {
    this.vault = vault;
    this.client = client;
  }

  /// What the registration at an authorization server is kept under: it holds for one address of ours.
  static String clientName(String issuer, String redirectUri) {
    return Contents.name(issuer, redirectUri);
  }

  /// The sign-in that this is the end of, unless the person said no or something does not fit.
  Optional<Pending> find(Returned returned) {
    if (returned.state().isEmpty() || returned.code().isEmpty() || !returned.error().isEmpty()) {
      return Optional.empty();
    }
    var now = vault.sources().clock().instant();
    return vault.contents().pending().values().stream()
        .filter(pending -> pending.expiresAt().isAfter(now) && fits(pending.flow(), returned))
        .findFirst();
  }

  private static boolean fits(@Nullable Flow flow, Returned returned) {
    return flow != null
        && same(flow.state(), returned.state())
        // RFC 9207: this may be the answer of another server than the one that was asked.
        && (returned.issuer() == null || returned.issuer().equals(flow.issuer()));
  }

  private static boolean same(String one, String other) {
    return MessageDigest.isEqual(
        one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }

  /// Exchanges the code for a token. Empty if the authorization server does not want to.
  Optional<Credential> exchange(Pending pending, String code) throws InterruptedException {
    var flow = pending.flow();
    if (flow == null) {
      return Optional.empty();
    }
    var parameters = new LinkedHashMap<String, String>();
    parameters.put("grant_type", "authorization_code");
    parameters.put("code", code);
    parameters.put("redirect_uri", flow.redirectUri());
    parameters.put("code_verifier", flow.verifier());
    if (flow.resource() != null) {
      parameters.put("resource", flow.resource());
    }
    return switch (client.token(flow.tokenEndpoint(), flow.client(), parameters)) {
      case Answer.Done(var json) -> {
        var later =
            new Renewal("", flow.tokenEndpoint(), flow.client(), flow.resource(), flow.scopes());
        yield Tokens.read(json, later, vault.sources().clock().instant());
      }
      case Answer.Refused(var error) -> {
        if (error.equals("invalid_client")) {
          forget(flow);
        }
        yield Optional.empty();
      }
      case Answer.Unreachable _ -> Optional.empty();
    };
  }

  /// The server no longer knows us: the next one who wants to sign in registers us anew.
  private void forget(Flow flow) {
    vault.change(
        now -> now.withClients(all -> all.remove(clientName(flow.issuer(), flow.redirectUri()))));
  }
}
